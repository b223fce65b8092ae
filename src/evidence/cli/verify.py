"""`evidence verify`: the verdicts that were found against those that the book stands on."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evidence.library.project import Project


class Format(StrEnum):
    text = "text"
    json = "json"
    junit = "junit"
    markdown = "markdown"


class GateName(StrEnum):
    all = "all"
    exact = "exact"


def register(app: typer.Typer) -> None:
    app.command("verify")(verify)


def verify(
    against: Annotated[
        Path | None, typer.Option(metavar="LEDGER", help="A file of records/ledger instead of records/expected.yml.")
    ] = None,
    output: Annotated[Format, typer.Option("--format", help="What goes to stdout.")] = Format.text,
    gate: Annotated[
        GateName, typer.Option(help="exact: only exact and equivalence effects fail, timed ones are shown.")
    ] = GateName.all,
) -> None:
    """Compare the verdicts of the executed notebooks with the expected ones; measures nothing.

    Exit code 1 if a verdict differs, an effect is missing, or a control came out neither weaker nor contradicted.
    """
    from evidence.library.errors import InputError
    from evidence.library.expected import read_expected
    from evidence.library.harvest import harvest
    from evidence.library.ledger import latest, read_ledger
    from evidence.library.project import find_project
    from evidence.runs import report
    from evidence.runs.verify import against_expected, against_ledger, as_json

    project = find_project()
    records = harvest(project).records
    if against:
        before = latest(read_ledger(against, str(against)))
        if not before:
            raise InputError(f"no record in {against}", "--against", "give a file of records/ledger")
        rows = against_ledger(records, before, gate.value)
    else:
        rows = against_expected(records, read_expected(project)[0], gate.value)
    # Without an entry to compare with, and without a problem of its own, an effect is neither in order nor wrong.
    new = [row.id for row in rows if row.expected is None and not row.problem]
    compared = [row for row in rows if row.id not in new]
    match output:
        case Format.json:
            print(json.dumps(as_json(rows), indent=2, ensure_ascii=False))
        case Format.junit:
            print(report.as_junit(compared))
        case Format.markdown:
            print(report.as_markdown(compared))
        case Format.text:
            from evidence.cli.output import wide_console

            wide_console().print(report.as_table(compared))
    for row in rows:
        if row.problem and output is not Format.text:
            print(f"{row.id}: {row.problem}{'' if row.gates else ' (not gating)'}", file=sys.stderr)
    for name in new:
        print(f"{name}: new, not compared", file=sys.stderr)
    print(report.summary(compared) + (f", {len(new)} new, not compared" if new else ""), file=sys.stderr)
    _warn_of_stale(project)
    if any(row.fails for row in rows):
        raise typer.Exit(1)


def _warn_of_stale(project: Project) -> None:
    """A verdict of another version of the notebook or the package is still a verdict, but the reader should know."""
    from evidence.runs.plan import plan
    from evidence.runs.stale import freshness

    for name in project.notebook_names():
        if project.executed_notebook(name).exists() and freshness(plan(project, name)).state == "stale":
            print(f"{name}: its run is stale; evidence run --explain {name} says why", file=sys.stderr)
