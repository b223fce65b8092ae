"""Do the effects still come out as the book says? Verdicts of the executed notebooks against the expected ones.

Nothing is measured here. An effect is in order if it was found, if its verdict is the expected one for its machine
class, and if its control came out `weaker` or `contradicted`; a control that did not proves nothing about the effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from evidence.library.expected import ExpectedVerdicts, expected_verdict
from evidence.library.models import EffectKind, Record, Verdict

Gate = Literal["all", "exact"]

UNTIMED: frozenset[EffectKind] = frozenset({"exact", "equivalence"})
"""Kinds whose verdict does not depend on who else uses the machine: counts and distances."""

WORKING_CONTROL: frozenset[Verdict] = frozenset({"weaker", "contradicted"})


@dataclass(frozen=True)
class Row:
    """One effect beside its expectation; `record` is None where no executed notebook has it.

    `problem` is empty if all is in order; `gates` says whether a problem fails the verification.
    """

    id: str
    record: Record | None
    expected: Verdict | None
    problem: str
    gates: bool

    @property
    def fails(self) -> bool:
        return bool(self.problem) and self.gates


def against_expected(records: Mapping[str, Record], expected: ExpectedVerdicts, gate: Gate = "all") -> list[Row]:
    """Every effect that was found or is expected, against `records/expected.yml`."""

    def wanted(record: Record) -> Verdict | None:
        entry = expected_verdict(expected, record.id, record.machine.get("class", ""))
        return entry.verdict if entry else None

    return _rows(records, expected, wanted, gate, "has no expected verdict: add it to records/expected.yml")


def against_ledger(records: Mapping[str, Record], before: Mapping[str, Record], gate: Gate = "all") -> list[Row]:
    """Every effect against its last record; a new one is in order if its control worked, a lost one is not."""

    def wanted(record: Record) -> Verdict | None:
        return before[record.id].verdict if record.id in before else None

    return _rows(records, before, wanted, gate, "")


def _rows(
    records: Mapping[str, Record],
    listed: Iterable[str],
    wanted: Callable[[Record], Verdict | None],
    gate: Gate,
    unlisted: str,
) -> list[Row]:
    missing = [Row(name, None, None, "no executed notebook has it", True) for name in {*listed} - {*records}]
    found = []
    for record in records.values():
        expected = wanted(record)
        problem = _problem(record, expected, unlisted)
        found.append(Row(record.id, record, expected, problem, gate == "all" or record.kind in UNTIMED))
    return sorted([*missing, *found], key=lambda row: row.id)


def _problem(record: Record, expected: Verdict | None, unlisted: str) -> str:
    problems = []
    if expected is None:
        problems += [unlisted] if unlisted else []
    elif record.verdict != expected:
        because = f" ({record.reason})" if record.reason else ""
        problems.append(f"{record.verdict}{because}, expected {expected}")
    if record.verdict != "not-measured":
        if record.control is None:
            problems.append("has no control")
        elif record.control.verdict not in WORKING_CONTROL:
            problems.append(f"its control came out {record.control.verdict}")
    return "; ".join(problems)


def as_json(rows: Iterable[Row]) -> dict[str, Any]:
    """What was measured, for machines: `{"effects": […]}`."""
    return {"effects": [_effect(row.record) for row in rows if row.record]}


def _effect(record: Record) -> dict[str, Any]:
    kept = {
        "id", "kind", "how", "claims", "expectation", "verdict", "estimate", "low", "high", "unit", "n", "control",
        "machine", "profile", "reason", "measured_at",
    }  # fmt: skip
    return record.model_dump(mode="json", include={**dict.fromkeys(kept, True), "control": _CONTROL})


_CONTROL = {"fault": True, "verdict": True, "estimate": True}
