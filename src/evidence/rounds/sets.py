"""The set table: the runs of one result together, scored and judged as the round's official checker does."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from statistics import median
from typing import Any

from evidence.library.errors import InputError
from evidence.rounds.benchmarks import dropped_runs, required_runs
from evidence.rounds.gather import Row


@dataclass(frozen=True)
class ResultSet:
    """One result. Times in minutes or seconds as named; convergence in the benchmark's unit.

    `time_to_train_min` is the olympic mean, `score_min` that times `normalisation`. `rcp_pass` is None where there is
    nothing to judge, and `rcp` says why. `scaling_json` is the factor that was published with the set.
    """

    round: str
    submitter: str
    system: str
    benchmark: str
    division: str | None
    accelerator: str | None
    accelerators: int | None
    global_batch_size: int | None
    runs: int
    required: int | None
    converged: int
    time_to_train_min: float | None
    convergence: float | None
    unit: str
    rcp_mean: float | None
    rcp_min_mean: float | None
    rcp_pass: bool | None
    rcp: str
    normalisation: float | None
    scaling_json: float | None
    score_min: float | None
    eval_share: float | None
    eval_blocking_share: float | None
    init_s_median: float | None
    time_spread: float | None
    convergence_spread: float | None

    def as_dict(self) -> dict[str, Any]:
        return {key: float(f"{v:.7g}") if isinstance(v, float) else v for key, v in asdict(self).items()}


@dataclass(frozen=True)
class Verdict:
    """What the official checker says of a set, or why it says nothing (`passed` None)."""

    passed: bool | None
    message: str
    factor: float | None = None
    mean: float | None = None
    limit: float | None = None


def olympic_mean(values: Sequence[float], failed: int, dropped: int = 1) -> float | None:
    """The mean after dropping the `dropped` best and worst, where `failed` further runs count among the worst.

    None if more failed than may be dropped, or nothing is left (rules `scoring-olympic`, `non-converging-runs`).
    """
    if failed > dropped:
        return None
    kept = sorted(values)[dropped : len(values) - (dropped - failed)]
    return math.fsum(kept) / len(kept) if kept else None


def result_sets(rows: Iterable[Row], scaling: dict[tuple[str, str, str, str], float] | None = None) -> list[ResultSet]:
    """The sets of a run table, in its order."""
    groups: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault(row.set, []).append(row)
    return [result_set(group, (scaling or {}).get(key)) for key, group in groups.items()]


def result_set(rows: Sequence[Row], scaling: float | None = None) -> ResultSet:
    """The rows of one set, scored and judged."""
    first, runs = rows[0], [row.run for row in rows]
    dropped = dropped_runs(first.benchmark)
    good = [run for run in runs if run.converged]
    times = [run.run_s / 60 for run in good if run.run_s is not None]
    time = olympic_mean(times, len(runs) - len(good), dropped)
    verdict = judge(rows)
    return ResultSet(
        round=first.round,
        submitter=first.submitter,
        system=first.system,
        benchmark=first.benchmark,
        division=_one(run.division for run in runs),
        accelerator=first.accelerator,
        accelerators=first.accelerators,
        global_batch_size=_one(run.global_batch_size for run in runs),
        runs=len(runs),
        required=required_runs(first.benchmark),
        converged=len(good),
        time_to_train_min=time,
        convergence=_convergence_mean(runs, dropped),
        unit=runs[0].unit,
        rcp_mean=verdict.mean,
        rcp_min_mean=verdict.limit,
        rcp_pass=verdict.passed,
        rcp=verdict.message,
        normalisation=verdict.factor,
        scaling_json=scaling,
        score_min=None if time is None else time * (verdict.factor or 1.0),
        eval_share=_share(good, "eval_s"),
        eval_blocking_share=_share(good, "eval_blocking_s"),
        init_s_median=_median(run.init_s for run in runs),
        time_spread=_spread([run.run_s for run in good]),
        convergence_spread=_spread([run.convergence for run in good]),
    )


def judge(rows: Sequence[Row]) -> Verdict:
    """The official RCP verdict on a set, under the ruleset of its round."""
    runs = [row.run for row in rows]
    if any(run.division == "open" for run in runs):
        return Verdict(None, "open division: not judged")
    if len(runs) <= 2 * dropped_runs(rows[0].benchmark):
        return Verdict(None, f"{len(runs)} runs are too few to judge")
    sizes = {run.global_batch_size for run in runs}
    if sizes == {None}:
        return Verdict(False, "Could not detect global_batch_size", 1.0)
    if len(sizes) > 1:
        return Verdict(False, "runs of different batch sizes, or some without", 1.0)
    names = {run.logged_benchmark or run.benchmark for run in runs}
    if len(names) > 1:
        return Verdict(False, "runs of different benchmarks", 1.0)
    counts = [run.convergence if run.converged and run.convergence is not None else math.inf for run in runs]
    (size,) = sizes
    return _official(rows[0].round, names.pop(), size or 0, tuple(counts))


@cache
def _bar(round_: str, benchmark: str, size: int) -> Any:
    from evidence.rounds import rcp

    table = rcp.table(benchmark, round_)
    return table, table.bar(size)


def _official(round_: str, benchmark: str, size: int, counts: tuple[float, ...]) -> Verdict:
    try:
        table, bar = _bar(round_, benchmark, size)
        found = table.judge(size, counts)
    except InputError as error:
        return Verdict(None, error.what)
    return Verdict(found.passed, found.message, found.factor, bar.mean if bar else None, bar.limit if bar else None)


def _convergence_mean(runs: Sequence[Any], dropped: int) -> float | None:
    good = [run.convergence for run in runs if run.converged]
    return olympic_mean(good, len(runs) - len(good), dropped)


def _share(runs: Sequence[Any], name: str) -> float | None:
    """Summed over the runs that tell it: seconds of `name` per second of run."""
    told = [(getattr(run, name), run.run_s) for run in runs if getattr(run, name) is not None]
    whole = sum(seconds for _, seconds in told)
    return sum(part for part, _ in told) / whole if whole else None


def _median(values: Iterable[float | None]) -> float | None:
    told = [value for value in values if value is not None]
    return median(told) if told else None


def _spread(values: Sequence[float | None]) -> float | None:
    """Standard deviation over mean, from three values on."""
    told = [value for value in values if value is not None]
    if len(told) < 3 or not math.fsum(told):
        return None
    mean = math.fsum(told) / len(told)
    return math.sqrt(math.fsum((v - mean) ** 2 for v in told) / (len(told) - 1)) / mean


def _one(values: Iterable[Any]) -> Any:
    """The value that all agree on."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None
