"""What is checked: the library, and beside it the pages and notebooks as people wrote them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evidence.checks.notebooks import Declared, SourceNotebook, read_sources
from evidence.checks.pages import Page, read_pages
from evidence.library.load import Library


@dataclass(frozen=True)
class Subject:
    """`effects` has every effect of the book by id.

    A notebook's source speaks first, since it is what is in git; the record of a run fills in what the source does
    not spell out (an id made in a loop, claims from a table).
    """

    library: Library
    pages: list[Page]
    notebooks: list[SourceNotebook]
    effects: Mapping[str, Declared]


def read_subject(library: Library) -> Subject:
    """Read the pages and notebooks beside a library.

    Raises:
        InputError: a page or notebook that cannot be read.
    """
    notebooks = read_sources(library.project)
    return Subject(library, read_pages(library.project), notebooks, effects_of(library, notebooks))


def effects_of(library: Library, notebooks: list[SourceNotebook]) -> dict[str, Declared]:
    """Every effect by id, from the notebooks' source and the records of complete runs."""
    found: dict[str, Declared] = {}
    for notebook in notebooks:
        for each in notebook.effects:
            found.setdefault(each.id, each)
    for record in library.records.values():
        source = found.get(record.id)
        claims, techniques = tuple(record.claims), tuple(record.techniques)
        if source is None:
            place, fault = library.place("effect", record.id), record.control.fault if record.control else None
            found[record.id] = Declared(record.id, record.notebook, place, claims, techniques, fault)
        elif source.claims is None or source.techniques is None:
            found[record.id] = Declared(
                record.id,
                source.notebook,
                source.place,
                claims if source.claims is None else source.claims,
                techniques if source.techniques is None else source.techniques,
                source.fault,
            )
    return found
