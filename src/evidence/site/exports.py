"""The library as files to download: JSON and CSV of every kind of row, each with its JSON Schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from evidence.library.formats import as_csv, as_json
from evidence.library.project import write_aside
from evidence.library.rows import Kind, rows, schema

if TYPE_CHECKING:
    from evidence.library.load import Library


def write_exports(library: Library) -> list[Path]:
    """Write what changed of `book/_generated/data/*.json`, `*.csv` and `*.schema.json`; returns it."""
    folder = library.project.generated / "data"
    written = []
    for name, text in exports(library).items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            with write_aside(path) as aside:
                aside.write_text(text, encoding="utf-8")
            written.append(path)
    return written


def exports(library: Library) -> dict[str, str]:
    """The files' texts by name."""
    made: dict[str, str] = {}
    for kind in get_args(Kind):
        found = rows(library, kind)
        made[f"{kind}.json"] = as_json(found)
        made[f"{kind}.schema.json"] = json.dumps(schema(kind), ensure_ascii=False, indent=1) + "\n"
        made[f"{kind}.csv"] = as_csv(kind, found)
    return made
