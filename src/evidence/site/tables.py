"""The tables of the book, as docutils nodes. Pure functions of the library: no Sphinx application here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from docutils import nodes

from evidence.lab.card import cited_text, estimate_text, expected_text, number
from evidence.library.models import Claim, Record, Source
from evidence.site import elsewhere as e
from evidence.site import nodes as n
from evidence.site import where as w
from evidence.site.words import LEVERS, date_of, effect_anchor, plural, value_text

if TYPE_CHECKING:
    from evidence.library.load import Library


def evidence_table(
    library: Library, claims: Sequence[Claim], caption: str, *, anchors: bool = False, levers: bool = False
) -> nodes.table:
    """One row a claim: what it says, how far it carries, what may be done with it, and what we measured.

    Args:
        anchors: give every row the label `claim-<id>`; once in the book for a claim.
        levers: add the lever, for tables that mix several.
    """
    columns: list[n.Head] = [n.Column("Claim", "Lever" if levers else ""), "Value", "System"]
    columns += [n.facet("Scope of the gain"), "Sources", n.facet("Checked"), n.facet("Compliance")]
    columns += [n.facet("Measured here")]
    rows = []
    for claim in claims:
        cell = claim_cell(claim)
        if levers:
            lever = library.lever_of[claim.id]
            shown = n.page(w.chapter(library, lever), n.span(LEVERS[lever], "ev-word"))
            cell.append(n.paragraph(shown, classes=["ev-small"]))
        cells: list[n.Cell] = [cell, value_cell(claim), system_cell(claim), n.span(claim.scope, "ev-word")]
        cells += [strength(library, claim), n.badge(claim.check), compliance_cell(library, claim)]
        cells += [measured_cell(library, claim)]
        rows.append(n.Row(cells, f"claim-{claim.id}" if anchors else ""))
    return n.table(caption, columns, rows, "ev-sortable", "ev-evidence")


def claim_cell(claim: Claim) -> list[nodes.Node]:
    """The sentence with its citation; what the check found opens on a click."""
    cell: list[nodes.Node] = [n.paragraph(claim.says, " ", n.cite(claim.source))]
    remarks = []
    if claim.review_says:
        remarks.append(n.paragraph("The review we started from says: ", claim.review_says))
    if claim.note:
        remarks.append(n.paragraph(claim.note))
    if claim.checked_against:
        remarks.append(n.paragraph("Checked against: ", claim.checked_against))
    if remarks:
        shown = {"confirmed": "how it was checked", "differs": "what differs", "not-found": "what was looked for"}
        cell.append(n.disclosure("", *remarks, summary=shown[claim.check]))
    return cell


def value_cell(claim: Claim) -> list[nodes.Node]:
    cell: list[nodes.Node] = [n.paragraph(n.span(value_text(claim), "ev-value"))]
    if claim.baseline:
        cell.append(n.paragraph("against ", claim.baseline, classes=["ev-small"]))
    return cell


def system_cell(claim: Claim) -> list[nodes.Node]:
    """System first, then scale, model, precision, and whatever else the claim depends on."""
    given = claim.conditions
    lines = [given.system, *dict.fromkeys([given.scale, given.model, given.precision, given.other])]
    shown = [line for line in lines if line]
    if not shown:
        return [n.paragraph("–")]
    return [n.paragraph(shown[0]), *[n.paragraph(line, classes=["ev-small"]) for line in shown[1:]]]


def strength(library: Library, claim: Claim) -> str:
    """How many sources speak about the same techniques with the same scope, and how many of them independently."""
    peers = {claim.source} | {
        other.source
        for other in library.claims.values()
        if other.scope == claim.scope and set(other.techniques) & set(claim.techniques)
    }
    found = [library.sources[key] for key in sorted(peers) if key in library.sources]
    groups = independent(found)
    return plural(len(peers), "source") + (f", {groups} independent" if len(found) > 1 else "")


def independent(sources: Sequence[Source]) -> int:
    """The number of groups of sources that share no author with one another."""
    groups: list[set[str]] = []
    for source in sources:
        authors = set(source.authors) or {source.key}
        touching = [group for group in groups if group & authors]
        groups = [group for group in groups if not group & authors] + [authors.union(*touching)]
    return len(groups)


def compliance_cell(library: Library, claim: Claim) -> list[nodes.Node]:
    known = [library.techniques[each] for each in claim.techniques if each in library.techniques]
    if not known:
        return [n.paragraph("–")]
    return [n.paragraph(w.technique_link(each), " ", w.status_badge(each, library.current_round)) for each in known]


def measured_cell(library: Library, claim: Claim) -> list[nodes.Node]:
    if not claim.effects:
        return [n.paragraph("–")]
    return [line for effect in claim.effects for line in measured_lines(library, effect)]


def measured_lines(library: Library, effect: str) -> list[nodes.Node]:
    """Badge, estimate, interval, each on a line of its own: the column is narrow."""
    record = library.records.get(effect)
    if record is None or record.estimate is None or record.verdict == "not-measured":
        shown = n.link(effect_anchor(effect), n.badge("not-measured")) if record else n.badge("not-measured")
        return [n.paragraph(shown), *e.lines(library, effect)]
    badge = n.paragraph(n.link(effect_anchor(effect), n.badge(record.verdict)))
    return [badge, *estimate_lines(record)]


def estimate_lines(record: Record) -> list[nodes.Node]:
    """The estimate, and below it the interval."""
    estimate, _, interval = estimate_text(record, record.unit).partition(" (")
    lines = [n.paragraph(n.span(estimate, "ev-value"))]
    if interval:
        lines.append(n.paragraph(interval.rstrip(")"), classes=["ev-small"]))
    return lines


def measured_inline(library: Library, effect: str) -> list[n.Inline]:
    """Badge and estimate, linked to the card; where this run could not tell, what another machine found."""
    record = library.records.get(effect)
    shown: list[n.Inline] = [n.badge("not-measured")]
    if record is not None:
        shown = [n.link(effect_anchor(effect), n.badge(record.verdict))]
        if record.estimate is not None and record.verdict != "not-measured":
            return [*shown, " ", n.span(estimate_text(record, record.unit), "ev-value")]
    others = e.elsewhere(library, effect)
    return [*shown, " here; ", *e.line(others[0])] if others else shown


def verdict_table(library: Library, records: Sequence[Record], caption: str) -> nodes.table:
    """One row an effect: promised, cited, measured, sabotaged, judged, and on which machine."""
    columns: list[n.Head] = ["Effect", "Expected", "Cited", "Measured", "Control"]
    columns += [n.facet("Verdict"), "Machine and date"]
    rows = [n.Row(verdict_cells(library, record)) for record in records]
    return n.table(caption, columns, rows, "ev-sortable", "ev-verdicts")


def verdict_cells(library: Library, record: Record) -> list[n.Cell]:
    control: n.Cell = "–"
    if record.control:
        broken = record.control
        found = f": {number(broken.estimate, record.unit)}" if broken.estimate is not None else ""
        control = [n.paragraph(broken.fault, found), n.paragraph(n.badge(broken.verdict))]
    verdict: list[nodes.Node] = [n.paragraph(n.badge(record.verdict))]
    if record.reason:
        verdict.append(n.paragraph(record.reason, classes=["ev-small"]))
    measured = estimate_lines(record) if record.estimate is not None else [n.paragraph("–")]
    measured.append(n.paragraph(record.how, classes=["ev-small"]))
    measured += e.lines(library, record.id)
    name = n.link(effect_anchor(record.id), record.title or record.id)
    return [
        [n.paragraph(name), n.paragraph(nodes.literal("", record.id), classes=["ev-small"])],
        expected_text(record),
        cited_text(record),
        measured,
        control,
        verdict,
        [n.paragraph(record.machine.get("name", "–")), n.paragraph(date_of(record), classes=["ev-small"])],
    ]
