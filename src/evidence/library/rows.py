"""The library as flat lists of objects, for tables, export and the command line; the row models are the JSON Schema.

Each row is the model of its kind with what a reader asks next: where it stands, its lever, its verdicts, its status
on the benchmark and in the round that were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter

from evidence.library.filters import SUITS, Filters, Kind, check_filters
from evidence.library.load import Library
from evidence.library.models import (
    Benchmark,
    Claim,
    Lever,
    Model,
    Record,
    Rule,
    Source,
    StatusHere,
    Technique,
    Verdict,
)

__all__ = ["ROWS", "SUITS", "Filters", "Kind", "rows", "schema"]


class ClaimRow(Claim):
    """A claim with its lever, its place and the verdict of each effect that answers it."""

    lever: Lever
    place: str
    verdicts: dict[str, Verdict]


class TechniqueRow(Technique):
    """A technique with its status in one round, and on one benchmark if one was asked for."""

    lever: Lever
    place: str
    round: str
    benchmark: str
    status: StatusHere
    rules: list[str]
    why: str
    condition: str
    claims: list[str]


class SourceRow(Source):
    """A source with the claims drawn from it."""

    place: str
    claims: list[str]
    levers: list[Lever]


class RuleRow(Rule):
    """A rule of one round with the techniques that it decides."""

    round: str
    place: str
    techniques: list[str]


class BenchmarkRow(Benchmark):
    """A benchmark of one round."""

    place: str


class EffectRow(Record):
    """An effect as measured last by a complete run."""

    place: str


ROWS: Mapping[Kind, type[Model]] = {
    "claims": ClaimRow,
    "techniques": TechniqueRow,
    "sources": SourceRow,
    "rules": RuleRow,
    "benchmarks": BenchmarkRow,
    "effects": EffectRow,
}


def rows(library: Library, kind: Kind, filters: Filters | None = None) -> list[Model]:
    """The rows of a kind that pass the filters, in the order of the files.

    Raises:
        InputError: a filter that does not suit the kind, or a word that is none of its values.
    """
    filters = filters or Filters()
    check_filters(library, kind, filters)
    return list(_MAKERS[kind](library, filters))


def schema(kind: Kind) -> dict[str, Any]:
    """The JSON Schema of what `rows` gives for a kind, as a list of objects."""
    row: Any = ROWS[kind]
    found = TypeAdapter(list[row]).json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"evidence show {kind}", **found}


def _status(library: Library, technique: str, filters: Filters) -> tuple[StatusHere, list[str], str, str]:
    round = filters.round or library.current_round
    if filters.benchmark:
        here = library.status(technique, filters.benchmark, round)
        return here.status, list(here.rules), here.why, here.condition
    general = library.techniques[technique].compliance.get(round)
    if general is None:
        return "unknown", [], f"nothing is recorded for round {round}", ""
    return general.status, list(general.rules), general.why, general.condition


def _applies(library: Library, technique: str, filters: Filters) -> bool:
    """Whether a technique has the status that was asked for; on a benchmark, whether it applies there at all."""
    status = _status(library, technique, filters)[0]
    return status == filters.status if filters.status else not (filters.benchmark and status == "n/a")


def _claims(library: Library, filters: Filters) -> Iterator[ClaimRow]:
    by_status = filters.status or filters.benchmark
    for claim in library.claims.values():
        lever = library.lever_of[claim.id]
        known = [each for each in claim.techniques if each in library.techniques]
        if (
            filters.lever in (None, lever)
            and filters.check in (None, claim.check)
            and filters.source in (None, claim.source)
            and (not by_status or any(_applies(library, each, filters) for each in known))
        ):
            found = {each: library.records.get(each) for each in claim.effects}
            verdicts: dict[str, Verdict] = {
                name: each.verdict if each else "not-measured" for name, each in found.items()
            }
            place = library.place("claim", claim.id)
            yield ClaimRow(**dict(claim), lever=lever, place=place, verdicts=verdicts)


def _techniques(library: Library, filters: Filters) -> Iterator[TechniqueRow]:
    claims_of: dict[str, list[Claim]] = {}
    for claim in library.claims.values():
        for name in claim.techniques:
            claims_of.setdefault(name, []).append(claim)
    for each in library.techniques.values():
        lever, claims = library.lever_of[each.id], claims_of.get(each.id, [])
        status, rules, why, condition = _status(library, each.id, filters)
        if (
            filters.lever in (None, lever)
            and (filters.source is None or any(claim.source == filters.source for claim in claims))
            and filters.status in (None, status)
        ):
            yield TechniqueRow(
                **dict(each),
                lever=lever,
                place=library.place("technique", each.id),
                round=filters.round or library.current_round,
                benchmark=filters.benchmark or "",
                status=status,
                rules=rules,
                why=why,
                condition=condition,
                claims=[claim.id for claim in claims],
            )


def _sources(library: Library, filters: Filters) -> Iterator[SourceRow]:
    for key, source in library.sources.items():
        claims = [claim for claim in library.claims.values() if claim.source == key]
        kept = [
            claim
            for claim in claims
            if filters.lever in (None, library.lever_of[claim.id]) and filters.check in (None, claim.check)
        ]
        if filters.source in (None, key) and (kept or not (filters.lever or filters.check)):
            levers = sorted({library.lever_of[claim.id] for claim in claims})
            yield SourceRow(
                **dict(source), place=library.place("source", key), claims=[claim.id for claim in kept], levers=levers
            )


def _rules(library: Library, filters: Filters) -> Iterator[RuleRow]:
    for round in [filters.round] if filters.round else library.rounds:
        decides: dict[str, list[str]] = {}
        for technique in library.techniques.values():
            compliance = technique.compliance.get(round)
            if compliance:
                cited = [*compliance.rules, *(name for here in compliance.benchmarks.values() for name in here.rules)]
                for name in dict.fromkeys(cited):
                    decides.setdefault(name, []).append(technique.id)
        for rule in library.rules[round].values():
            techniques = decides.get(rule.id, [])
            if (filters.benchmark is None or {"all", filters.benchmark} & set(rule.applies_to)) and (
                filters.lever is None or any(library.lever_of[each] == filters.lever for each in techniques)
            ):
                place = library.place("rule", f"{round}/{rule.id}")
                yield RuleRow(**dict(rule), round=round, place=place, techniques=techniques)


def _benchmarks(library: Library, filters: Filters) -> Iterator[BenchmarkRow]:
    for round in [filters.round] if filters.round else library.rounds:
        for each in library.benchmarks[round].values():
            if filters.benchmark in (None, each.id) and filters.status in (None, each.status):
                yield BenchmarkRow(**dict(each), place=library.place("benchmark", f"{round}/{each.id}"))


def _effects(library: Library, filters: Filters) -> Iterator[EffectRow]:
    for record in library.records.values():
        sources = {library.claims[each].source for each in record.claims if each in library.claims}
        if (
            filters.lever in (None, record.id.split("/")[0])
            and filters.status in (None, record.verdict)
            and (filters.source is None or filters.source in sources)
        ):
            yield EffectRow(**dict(record), place=library.place("effect", record.id))


_MAKERS: Mapping[Kind, Callable[[Library, Filters], Iterator[Model]]] = {
    "claims": _claims,
    "techniques": _techniques,
    "sources": _sources,
    "rules": _rules,
    "benchmarks": _benchmarks,
    "effects": _effects,
}
