"""What can be asked of each kind of row, and which words an answer has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from evidence.library.errors import InputError, nearest
from evidence.library.load import Library
from evidence.library.models import Benchmark, Check, Lever, StatusHere, Verdict

Kind = Literal["claims", "techniques", "sources", "rules", "benchmarks", "effects"]


@dataclass(frozen=True)
class Filters:
    """What to keep; None keeps all. Which filter suits which kind: `SUITS`."""

    lever: str | None = None
    status: str | None = None
    check: str | None = None
    benchmark: str | None = None
    round: str | None = None
    source: str | None = None


SUITS: Mapping[Kind, tuple[str, ...]] = {
    "claims": ("lever", "status", "check", "benchmark", "round", "source"),
    "techniques": ("lever", "status", "benchmark", "round", "source"),
    "sources": ("lever", "check", "source"),
    "rules": ("lever", "benchmark", "round"),
    "benchmarks": ("status", "benchmark", "round"),
    "effects": ("lever", "status", "source"),
}
"""The filters of each kind. A claim's status is that of its techniques, an effect's is its verdict, a benchmark's says
whether it can be entered; a rule's lever is that of the techniques which it decides."""


def check_filters(library: Library, kind: Kind, filters: Filters) -> None:
    """Whether the filters can be answered.

    Raises:
        InputError: a filter that does not suit the kind, or a word that is none of its values.
    """
    benchmarks = {name for round in library.rounds for name in library.benchmarks[round]}
    statuses: dict[Kind, Any] = {"effects": Verdict, "benchmarks": Benchmark.model_fields["status"].annotation}
    allowed: dict[str, Sequence[str]] = {
        "lever": get_args(Lever),
        "status": get_args(statuses.get(kind, StatusHere)),
        "check": get_args(Check),
        "benchmark": sorted(benchmarks),
        "round": library.rounds,
        "source": list(library.sources),
    }
    for each in fields(filters):
        value = getattr(filters, each.name)
        if value is None:
            continue
        if each.name not in SUITS[kind]:
            suits = ", ".join(f"--{name}" for name in SUITS[kind])
            raise InputError(f"{kind} have no {each.name}", where=f"--{each.name}", mend=f"filters of {kind}: {suits}")
        if value not in allowed[each.name]:
            hint = nearest(value, list(allowed[each.name]))
            raise InputError(f"unknown {each.name} {value!r}", where=f"--{each.name}", mend=hint)
