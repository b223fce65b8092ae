"""One value of the rules data by its path, for the `{fact}` role and the check of its targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from evidence.library.errors import nearest
from evidence.library.load import Library

NAMES = ("name", "id", "gbs")
"""What the entries of a list are called by."""


def fact(library: Library, path: str) -> str:
    """The text at `round/benchmark-or-rule/field.field…`, or at `round/field` of the round itself.

    Entries of a list are found by their name, id or batch size: `hyperparameters.global_batch_size.constraint`.

    Raises:
        LookupError: nothing there, or something that is not one value or a list of values; says so in one line.
    """
    round, *rest = path.split("/")
    found: Any = known(library.rulefiles, round, "round")
    if len(rest) == 2:
        things = {**library.benchmarks[round], **library.rules[round]}
        found = known(things, rest[0], f"benchmark or rule of {round}")
    elif len(rest) != 1:
        raise LookupError(f"fact {path!r}: write round/benchmark/field or round/field")
    for step in rest[-1].split("."):
        found = _below(found, step, path)
    if isinstance(found, list) and all(isinstance(each, str | int | float) for each in found):
        return ", ".join(map(str, found))
    if not isinstance(found, str | int | float) or found == "":
        raise LookupError(f"fact {path!r} is not a single value")
    if not isinstance(found, str) and abs(found) >= 10_000:
        return f"{found:,.12g}"
    return str(found)


def known(items: Mapping[str, Any], name: str, what: str) -> Any:
    """The item of that name.

    Raises:
        LookupError: there is none; says so with the nearest spelling.
    """
    if name not in items:
        raise LookupError(f"unknown {what} {name!r}; {nearest(name, list(items))}")
    return items[name]


def _below(found: Any, step: str, path: str) -> Any:
    """One step down: a field of a model, a key of a mapping, or the entry of a list by its name."""
    if isinstance(found, BaseModel):
        found = {key: getattr(found, key) for key in type(found).model_fields}
    elif isinstance(found, list):
        found = {_called(each): each for each in found}
    if not isinstance(found, Mapping):
        raise LookupError(f"fact {path!r}: nothing below a single value at {step!r}")
    return known(found, step, f"field of fact {path!r},")


def _called(item: Any) -> str:
    return str(next((getattr(item, name) for name in NAMES if hasattr(item, name)), item))
