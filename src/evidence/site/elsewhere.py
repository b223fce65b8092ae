"""What other machines found about an effect: the newest records of the ledger, beside the run that lies here."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from docutils import nodes

from evidence.lab.card import estimate_text
from evidence.library.ledger import everywhere, ledger_folder
from evidence.library.models import Record
from evidence.library.project import Project
from evidence.site import nodes as n
from evidence.site.words import date_of, effect_anchor, plural

if TYPE_CHECKING:
    from evidence.library.load import Library


def elsewhere(library: Library, effect: str) -> list[Record]:
    """The newest record of an effect from every machine class but the one that the book's run is of, newest first."""
    here = library.records.get(effect)
    own = here.machine.get("class", "") if here else ""
    ledger = _ledger(library.project, _state(library.project))
    found = [records[effect] for name, records in ledger.items() if name != own and effect in records]
    return sorted(found, key=lambda record: record.measured_at, reverse=True)


def line(record: Record) -> list[n.Inline]:
    """`holds 1.7× (1.6 to 1.8; n = 9) on NVIDIA H200, 2026-11-29`."""
    machine = record.machine.get("name", "another machine")
    return [n.badge(record.verdict), " ", estimate_text(record, record.unit), f" on {machine}, {date_of(record)}"]


def lines(library: Library, effect: str) -> list[nodes.Node]:
    """A small paragraph for every other machine class."""
    return [n.paragraph(*line(record), classes=["ev-small"]) for record in elsewhere(library, effect)]


def waiting(library: Library) -> list[nodes.Node]:
    """The effects that the book's runs could not judge, with the reason, and who could."""
    unjudged = [each for each in library.records.values() if each.verdict == "not-measured"]
    if not unjudged:
        return [n.paragraph("Nothing: every effect was judged on the machine that built this copy of the book.")]
    rows = [
        n.Row([
            [n.paragraph(n.link(effect_anchor(each.id), each.title)), n.paragraph(nodes.literal("", each.id))],
            each.reason, lines(library, each.id) or "–",
        ])
        for each in unjudged
    ]  # fmt: skip
    columns: list[n.Head] = ["Effect", "Why not here", "Elsewhere"]
    return [n.table(f"{plural(len(rows), 'effect')} that this machine could not show", columns, rows, "ev-sortable")]


@lru_cache(maxsize=2)
def _ledger(project: Project, state: tuple[tuple[str, int], ...]) -> dict[str, dict[str, Record]]:
    """The ledger, read again when a file of it has changed."""
    return everywhere(project)


def _state(project: Project) -> tuple[tuple[str, int], ...]:
    return tuple((path.name, path.stat().st_mtime_ns) for path in sorted(ledger_folder(project).glob("*.jsonl")))
