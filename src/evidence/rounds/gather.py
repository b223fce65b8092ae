"""The run table: one row of facts for every log below the given paths, with what its system description says.

Memory holds one row a log, never a log: archives are read once, in the order they come.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from evidence.library.errors import InputError
from evidence.rounds.findings import LogFinding
from evidence.rounds.mllog import read
from evidence.rounds.results import Entry, round_for, walk
from evidence.rounds.runtable import Run, run_facts

ACCELERATORS = (
    (r"\b(GB[23]00)\b", "{0}"),
    (r"\b(B[23]00)\b", "{0}"),
    (r"\b(H[12]00)\b.*(NVL)", "{0}-{1}"),
    (r"\b(H[12]00)\b.*(PCIe)", "{0}-{1}"),
    (r"\b(H[12]00)\b", "{0}-SXM"),
    (r"\b(A100)\b.*(PCIe)", "{0}-{1}"),
    (r"\b(A100)\b", "{0}-SXM"),
    (r"\b(MI3\d\dX)\b", "{0}"),
    (r"\b(L40S|RTX A5000|RTX 4090|RX 7900 XTX)\b", "{0}"),
    (r"(Gaudi)\D*(\d)", "{0} {1}"),
    (r"TPU-(\w+)", "TPU {0}"),
)
"""Families under which systems are compared; variants with another power limit or memory stay apart."""


@dataclass(frozen=True)
class System:
    """What a system description says that a comparison needs; None where it says it in no readable way."""

    model: str | None = None
    nodes: int | None = None
    per_node: int | None = None
    division: str | None = None
    availability: str | None = None

    @property
    def accelerators(self) -> int | None:
        """All of them; None where a count is not told."""
        return None if self.nodes is None or self.per_node is None else self.nodes * self.per_node


@dataclass(frozen=True)
class Row:
    """A run with its place. `file` is the path inside the round's results repository."""

    round: str
    submitter: str
    system: str
    benchmark: str
    file: str
    accelerator: str | None
    accelerators: int | None
    nodes: int | None
    run: Run

    @property
    def set(self) -> tuple[str, str, str, str]:
        """What the runs of one result have in common."""
        return self.round, self.submitter, self.system, self.benchmark

    def as_dict(self) -> dict[str, Any]:
        """Flat, in the order of `COLUMNS`, rounded to what the logs can tell (milliseconds, six digits)."""
        flat = {name: getattr(self, name) for name in PLACE_COLUMNS}
        return flat | {name: _rounded(name, getattr(self.run, name)) for name in RUN_COLUMNS}


PLACE_COLUMNS = tuple(f.name for f in fields(Row) if f.name != "run")
RUN_COLUMNS = tuple(f.name for f in fields(Run) if f.name not in ("benchmark", "logged_benchmark"))
COLUMNS = PLACE_COLUMNS + RUN_COLUMNS


@dataclass
class Gathered:
    """Everything that was found below the given paths."""

    rows: list[Row] = field(default_factory=list)
    scaling: dict[tuple[str, str, str, str], float] = field(default_factory=dict)
    findings: list[LogFinding] = field(default_factory=list)


def gather(paths: Sequence[Path], round_: str | None = None, note: Callable[[str], None] = lambda _: None) -> Gathered:
    """Read every log below the paths.

    Args:
        paths: folders, results repositories, archives or single logs.
        round_: the round of all of them; by default each path's name tells.
        note: called with a line of progress now and then.

    Raises:
        InputError: a path that does not exist or cannot be read, one whose round is not told, or no log at all.
    """
    found = Gathered()
    rounds = [round_for(path, round_) for path in paths]
    for path, name in zip(paths, rounds, strict=True):
        _gather_one(found, walk(path), name, note)
    if not found.rows:
        raise no_log(*paths)
    return found


def no_log(*paths: Path) -> InputError:
    """What to say of paths below which there is nothing to read."""
    where = ", ".join(map(str, paths))
    return InputError("no log found", where, "logs are files named result_*.txt, or one given file")


def _gather_one(
    found: Gathered, entries: Iterable[Entry | LogFinding], round_: str, note: Callable[[str], None]
) -> None:
    systems: dict[tuple[str, str], System] = {}
    rows: list[Row] = []
    for entry in entries:
        if isinstance(entry, LogFinding):
            found.findings.append(entry)
            continue
        place = entry.place
        if place.kind == "log":
            run, findings = run_facts(read(entry.stream, place.file), place.benchmark, place.file)
            rows.append(row_of(round_, entry, run))
            found.findings += findings
            if len(rows) % 200 == 0:
                note(f"{len(rows)} logs of round {round_}")
        elif place.kind == "system":
            systems[place.submitter, place.system] = system_of(entry, found.findings)
        elif place.kind == "scaling":
            factor = scaling_of(entry, found.findings)
            if factor is not None:
                found.scaling[round_, *place.set] = factor
    for row in rows:
        system = systems.get((row.submitter, row.system), System())
        found.rows.append(
            replace(
                row,
                accelerator=accelerator_family(system.model),
                accelerators=system.accelerators,
                nodes=system.nodes,
                run=row.run if row.run.division else replace(row.run, division=system.division),
            )
        )


def row_of(round_: str, entry: Entry, run: Run) -> Row:
    """A run with its place; what the system description says comes later, when it has been read."""
    place = entry.place
    return Row(round_, place.submitter, place.system, run.benchmark, place.file, None, None, None, run)


def system_of(entry: Entry, findings: list[LogFinding]) -> System:
    """A system description; damage becomes a finding."""
    try:
        said = entry.json()
    except ValueError as error:
        findings.append(LogFinding("system-damaged", "error", entry.place.file, f"the description is no JSON: {error}"))
        return System()
    if not isinstance(said, dict):
        findings.append(LogFinding("system-damaged", "error", entry.place.file, "the description is no JSON object"))
        return System()
    return System(
        model=_word(said.get("accelerator_model_name")),
        nodes=_count(said.get("number_of_nodes")),
        per_node=_count(said.get("accelerators_per_node")),
        division=_word(said.get("division")),
        availability=_word(said.get("status")),
    )


def scaling_of(entry: Entry, findings: list[LogFinding]) -> float | None:
    """The factor of a `scaling.json`; damage becomes a finding."""
    try:
        said = entry.json()
        factor = float(said["scaling_factor"])
        if not 0 < factor < 1e6:
            raise ValueError(f"scaling_factor {factor} is no factor")
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        said_error = "no scaling_factor" if isinstance(error, KeyError) else str(error)
        findings.append(LogFinding("scaling-damaged", "error", entry.place.file, said_error, "", "score-scaling"))
        return None
    return factor


def _word(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _count(value: Any) -> int | None:
    """A count that may be written as text (most descriptions do)."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    match = re.fullmatch(r"\s*(\d{1,9})\s*", str(value)[:40])
    return int(match[1]) if match else None


def accelerator_family(model: str | None) -> str | None:
    """A short common name for the many spellings of one accelerator; the model itself where none is known."""
    for pattern, shape in ACCELERATORS:
        match = re.search(pattern, model or "", re.IGNORECASE)
        if match:
            return shape.format(*match.groups())
    return model


def _rounded(name: str, value: Any) -> Any:
    if not isinstance(value, float):
        return value
    if name.endswith("_s"):
        return round(value, 3)
    return int(value) if value.is_integer() and abs(value) < 1e15 else float(f"{value:.7g}")
