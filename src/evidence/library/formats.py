"""Rows as text: JSON and CSV whole, tables and Markdown with the columns that fit a screen."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from evidence.library.models import Model
from evidence.library.rows import ROWS, Kind

COLUMNS: Mapping[Kind, tuple[str, ...]] = {
    "claims": ("id", "source", "says", "value", "unit", "scope", "check", "verdicts"),
    "techniques": ("id", "title", "lever", "status", "rules", "why", "condition"),
    "sources": ("key", "year", "title", "read", "claims"),
    "rules": ("round", "id", "section", "summary"),
    "benchmarks": ("round", "id", "status", "model", "convergence_unit", "optimizer"),
    "effects": ("id", "verdict", "estimate", "low", "high", "unit", "n", "profile", "measured_at"),
}
"""What a table shows of each kind; JSON and CSV have everything."""


def as_json(found: Sequence[Model]) -> str:
    """A list of objects, as `rows.schema` describes it."""
    return json.dumps([row.model_dump(mode="json") for row in found], ensure_ascii=False, indent=1) + "\n"


def as_csv(kind: Kind, found: Sequence[Model]) -> str:
    """Every field; what is not a single value is JSON in its cell. Without rows there is still the heading."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(ROWS[kind].model_fields), lineterminator="\n")
    writer.writeheader()
    for row in found:
        writer.writerow({key: _cell(value) for key, value in row.model_dump(mode="json").items()})
    return out.getvalue()


def as_markdown(kind: Kind, found: Sequence[Model]) -> str:
    """A pipe table of the chosen columns."""
    lines = [COLUMNS[kind], ("---",) * len(COLUMNS[kind]), *cells(kind, found)]
    return "".join(f"| {' | '.join(each.replace('|', chr(92) + '|') for each in line)} |\n" for line in lines)


def cells(kind: Kind, found: Sequence[Model]) -> list[tuple[str, ...]]:
    """The chosen columns of each row as words."""
    return [tuple(_word(getattr(row, name)) for name in COLUMNS[kind]) for row in found]


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def _word(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key}: {each}" for key, each in value.items())
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else " ".join(str(value).split())
