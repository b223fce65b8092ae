"""Records out of executed notebooks. The executed notebook is the record; nothing is written beside it.

Only a complete run counts: `runs.execute` sets `metadata.evidence.complete` when every code cell ran to the last.
papermill's own metadata does not tell (after a dead kernel it marks every cell completed).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evidence.library.errors import InputError
from evidence.library.models import EFFECT_MIME, Record
from evidence.library.project import Project
from evidence.library.validate import describe


@dataclass(frozen=True)
class Notebook:
    """A notebook file as JSON; `name` is its path from the root, as messages call it."""

    name: str
    data: Mapping[str, Any]

    @property
    def cells(self) -> list[dict[str, Any]]:
        return list(self.data["cells"])

    @property
    def run(self) -> Mapping[str, Any]:
        """What `runs.execute` wrote about the run: `complete`, `key`, `profile`, `parameters`, `seconds`."""
        return dict(self.data.get("metadata", {}).get("evidence") or {})

    @property
    def complete(self) -> bool:
        return self.run.get("complete") is True

    def place(self, cell: int) -> str:
        """A cell as a reader counts: from 1, Markdown cells included."""
        return f"{self.name}:cell {cell + 1}"


@dataclass(frozen=True)
class Harvest:
    """The records of all complete runs, where each stands, and what was passed over or met twice."""

    records: Mapping[str, Record] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    incomplete: tuple[str, ...] = ()
    duplicates: tuple[tuple[str, str, str], ...] = ()
    """(effect id, place of the one kept, place of the other)."""


def read_notebook(path: Path, name: str) -> Notebook:
    """The notebook's JSON.

    Raises:
        InputError: unreadable, not JSON, or without a list of cells.
    """
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=name) from error
    except ValueError as error:
        raise InputError(f"is not a notebook: {error}", where=name) from error
    if not isinstance(data, dict) or not isinstance(data.get("cells"), list):
        raise InputError("is not a notebook: no list of cells", where=name)
    return Notebook(name, data)


def source_of(cell: Mapping[str, Any]) -> str:
    """A cell's text; the format allows one string or a list of lines."""
    source = cell.get("source", "")
    return "".join(source) if isinstance(source, list) else str(source)


def harvest(project: Project) -> Harvest:
    """The records of every notebook of the book that has a complete run.

    Raises:
        InputError: a run's record does not fit the schema (it was written by another version).
    """
    records: dict[str, Record] = {}
    places: dict[str, str] = {}
    incomplete: list[str] = []
    duplicates: list[tuple[str, str, str]] = []
    for stem in project.notebook_names():
        path = project.executed_notebook(stem)
        if not path.exists():
            continue
        notebook = read_notebook(path, project.relative(path))
        if not notebook.complete:
            incomplete.append(stem)
            continue
        for cell, record in records_of(notebook, stem):
            place = notebook.place(cell)
            if record.id in records:
                duplicates.append((record.id, places[record.id], place))
            else:
                records[record.id], places[record.id] = record, place
    return Harvest(records, places, tuple(incomplete), tuple(duplicates))


def records_of(notebook: Notebook, stem: str) -> Iterator[tuple[int, Record]]:
    """The records in the outputs of one executed notebook, each with the index of its cell."""
    for index, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            data = output.get("data", {}).get(EFFECT_MIME)
            if data is None:
                continue
            try:
                yield index, Record.model_validate({**data, "notebook": stem} if isinstance(data, dict) else data)
            except ValidationError as error:
                first = error.errors()[0]
                field_name = ".".join(str(step) for step in first["loc"])
                what, _ = describe(first, Record)
                where = f"{notebook.place(index)}: {field_name}"
                raise InputError(what, where=where, mend=f"run it again: evidence run {stem} --force") from error
