"""A verification in words: a table for people, JUnit for a test runner, Markdown for a summary page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from evidence.runs.verify import Row

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = ("", "effect", "verdict", "expected", "estimate", "control", "what is wrong")


def cells(row: Row) -> tuple[str, ...]:
    """One line of the table, as COLUMNS names it. A problem that does not gate is marked `~`."""
    from evidence.lab.card import estimate_text, number

    mark = "ok" if not row.problem else "FAIL" if row.gates else "~"
    expected = row.expected or "–"
    if row.record is None:
        return (mark, row.id, "–", expected, "–", "–", row.problem)
    record = row.record
    estimate = "–" if record.estimate is None else estimate_text(record, record.unit)
    control = f"{record.control.verdict}, {number(record.control.estimate)}" if record.control else "–"
    return (mark, row.id, record.verdict, expected, estimate, control, row.problem)


def summary(rows: Sequence[Row]) -> str:
    """'9 effects: 8 in order, 1 not'."""
    bad, quiet = sum(row.fails for row in rows), sum(bool(row.problem) and not row.gates for row in rows)
    text = f"{len(rows)} effect{'s' * (len(rows) != 1)}: {len(rows) - bad - quiet} in order, {bad} not"
    return text + (f", {quiet} differ without gating" if quiet else "")


def as_table(rows: Sequence[Row]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, header_style="bold")
    for name in COLUMNS:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*cells(row))
    return table


def as_markdown(rows: Sequence[Row]) -> str:
    lines = [COLUMNS, ("---",) * len(COLUMNS), *(cells(row) for row in rows)]
    body = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
    return f"{body}\n\n{summary(rows)}"


def as_junit(rows: Sequence[Row]) -> str:
    """One test case an effect; not measured here, or different without gating, counts as skipped."""
    suite = ElementTree.Element("testsuite", name="evidence verify", tests=str(len(rows)))
    for row in rows:
        notebook, _, name = row.id.partition("/")
        case = ElementTree.SubElement(suite, "testcase", classname=notebook, name=name)
        if row.fails:
            ElementTree.SubElement(case, "failure", message=row.problem)
        elif row.problem or (row.record and row.record.verdict == "not-measured"):
            reason = row.problem or (row.record.reason if row.record else "")
            ElementTree.SubElement(case, "skipped", message=reason)
    failures, skipped = len(suite.findall("*/failure")), len(suite.findall("*/skipped"))
    suite.attrib |= {"failures": str(failures), "skipped": str(skipped)}
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)
