"""The expected score of a submission at one batch size.

Draw a submission's runs from the reference's own runs (a bootstrap, no
normal law), let each stop at its evaluation, add up training, evaluation and what initialisation exceeds its
allowance, drop the extremes, test against the reference convergence point as the official checker does, and scale the
score where the runs beat the reference's mean.

Reference counts already contain the rounding to the reference's evaluations. They are rounded anew only where the
submission's own interval differs: then the true convergence point lies, for all we know, anywhere in the interval
before the evaluation that found it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from evidence.library.errors import InputError
from evidence.rounds.benchmarks import DLRM_SAMPLES
from evidence.rounds.points import Bar, How, Point
from evidence.rounds.rcp import Table
from evidence.rounds.schedule import Schedule
from evidence.rounds.throughput import MOST_SAMPLES, From, Throughput

SAMPLES_PER_UNIT = {"dlrm_dcnv2": DLRM_SAMPLES}
"""Training samples in one unit of convergence, where that is not a sample (rule `eval-frequency`)."""
INIT_ALLOWANCE = 1800.0
"""Seconds of initialisation that are free in the closed division (rule `untimed-init`)."""
MOST_SECONDS = 1e9
"""Thirty years: no evaluation or initialisation takes longer, and far larger figures give no finite score."""
SAME_INTERVAL = 1e-3
"""Intervals closer than this count as equal: DLRM's is a twentieth of an epoch up to a fraction of a batch."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Terms:
    """What a submission brings along besides its throughput.

    `eval_seconds` is one evaluation's time on the clock, `init_seconds` the initialisation, `interval` the submission's
    own evaluation interval in samples (default: the rule's), `convergence` its samples to target over the reference's
    (below 1: faster), `failure_rate` the share of runs that never reach the target.
    """

    eval_seconds: float = 0.0
    init_seconds: float = 0.0
    interval: int | None = None
    convergence: float = 1.0
    failure_rate: float = 0.0

    def __post_init__(self) -> None:
        for name, value, low, high in (
            ("--eval-seconds", self.eval_seconds, 0.0, MOST_SECONDS),
            ("--init-seconds", self.init_seconds, 0.0, MOST_SECONDS),
            ("--interval", 1 if self.interval is None else self.interval, 1, MOST_SAMPLES),
            ("--convergence", self.convergence, 0.01, 100.0),
            ("--failure-rate", self.failure_rate, 0.0, 0.99),
        ):
            if not low <= value <= high:
                raise InputError(f"{str(value)[:20]} is out of range", name, f"from {low:g} to {high:g}")

    @property
    def late(self) -> float:
        """Seconds of initialisation that are on the clock."""
        return max(0.0, self.init_seconds - INIT_ALLOWANCE)


@dataclass(frozen=True)
class Option:
    """One batch size. Times in minutes, samples in training samples; means over the sets of runs that pass.

    `eval_share` is the part of the run spent in evaluation. `score` is the olympic mean of the times multiplied by the
    normalisation; `score_low` and `score_high` hold 90 % of the sets. `pass_probability` counts both the convergence
    test and the failed-run allowance; `runs` is the number of real reference runs drawn from.
    """

    batch: int
    how: How
    throughput: float
    throughput_from: From
    rcp_mean: float
    rcp_limit: float
    samples: float
    evaluations: float
    eval_share: float
    minutes: float
    normalisation: float
    pass_probability: float
    score: float
    score_low: float
    score_high: float
    runs: int
    rounded_anew: bool


def unit_samples(table: Table) -> float:
    """Training samples in one unit of the table.

    Raises:
        InputError: the table counts epochs or tokens, of which the rules give no sample count.
    """
    if table.unit == "samples":
        return 1.0
    if table.benchmark in SAMPLES_PER_UNIT:
        return float(SAMPLES_PER_UNIT[table.benchmark])
    raise InputError(
        f"{table.benchmark} in round {table.round} counts {table.unit}, and the rules give no samples for it",
        "BENCHMARK",
        "plan a benchmark of a current round",
    )


def reference_interval(table: Table, schedule: Schedule, point: Point) -> int:
    """Samples between the reference's evaluations: the rule's, or what its counts have in common if they are off it."""
    if not off_grid(table, schedule, point):
        return schedule.interval_at(point.batch)
    return reduce(math.gcd, (int(run) for run in point.runs))


def off_grid(table: Table, schedule: Schedule, point: Point) -> bool:
    """Whether some of a point's runs stopped where the rule places no evaluation; known where samples are counted."""
    return table.unit == "samples" and not all(schedule.on_grid(point.batch, run) for run in point.runs)


@dataclass(frozen=True)
class Sets:
    """Sets of runs at one batch size, all of shape (draws, runs of a submission).

    `samples` at which each run stops, `evaluations` it has made, `seconds` on the clock, and whether it `failed` to
    converge.
    """

    samples: Floats
    evaluations: Floats
    seconds: Floats
    failed: NDArray[np.bool_]
    rounded_anew: bool


def draw_sets(
    table: Table, schedule: Schedule, rate: float, bar: Bar, terms: Terms, *, draws: int = 4000, seed: int = 0
) -> Sets:
    """Bootstrap sets of runs at `rate` samples a second; the seed fixes the luck, the same for all batch sizes."""
    rng = np.random.default_rng(seed)
    samples, anew = _draw(table, schedule, bar, terms, rng, (draws, table.submission_runs))
    interval = terms.interval or schedule.interval_at(bar.batch)
    evaluations = 1 + np.maximum(0.0, (samples - _first(schedule, bar.batch, terms)) / interval)
    seconds = samples / rate + evaluations * terms.eval_seconds + terms.late
    return Sets(samples, evaluations, seconds, rng.random(samples.shape) < terms.failure_rate, anew)


def option(
    table: Table, schedule: Schedule, law: Throughput, batch: int, terms: Terms, *, draws: int = 4000, seed: int = 0
) -> Option | None:
    """What to expect of one batch size; None where the rules want a new reference point, nothing passes, or the
    throughput is unknown.
    """
    bar, rate = table.bar(batch), law.at(batch)
    if bar is None or rate is None:
        return None
    sets, unit = draw_sets(table, schedule, rate, bar, terms, draws=draws, seed=seed), unit_samples(table)
    means = _olympic(np.where(sets.failed, np.inf, sets.samples / unit), table.rejected)
    minutes = _olympic(np.where(sets.failed, np.inf, sets.seconds), table.rejected) / 60
    passed = np.isfinite(means) & (means >= bar.limit)
    if not passed.any():
        return None
    factor = np.maximum(1.0, bar.mean / means[passed])
    scores, plain = minutes[passed] * factor, float(np.mean(minutes[passed]))
    low, high = np.quantile(scores, [0.05, 0.95])
    evaluating = float(np.mean(sets.evaluations) * terms.eval_seconds / np.mean(sets.seconds))
    return Option(
        batch=batch,
        how=bar.how,
        throughput=rate,
        throughput_from=law.known_from(batch),
        rcp_mean=bar.mean,
        rcp_limit=bar.limit,
        samples=float(np.mean(means[passed])) * unit,
        evaluations=float(np.mean(sets.evaluations)),
        eval_share=evaluating,
        minutes=plain,
        normalisation=float(np.mean(factor)),
        pass_probability=float(np.mean(passed)),
        score=float(np.mean(scores)),
        score_low=float(low),
        score_high=float(high),
        runs=sum(len(point.runs) for point in sources(table, bar)),
        rounded_anew=sets.rounded_anew,
    )


def _olympic(values: Floats, rejected: int) -> Floats:
    """Row means without the extremes; infinite where more runs failed than may be dropped."""
    ordered = np.sort(values, axis=1)[:, rejected : values.shape[1] - rejected]
    return np.asarray(ordered.mean(axis=1))


def sources(table: Table, bar: Bar) -> list[Point]:
    """The reference points whose runs stand behind a bar: its own, the two beside it, or the smallest one."""
    kept = list(table.kept)
    if bar.how == "interpolated":
        below = max((point for point in kept if point.batch < bar.batch), key=lambda point: point.batch)
        above = min((point for point in kept if point.batch > bar.batch), key=lambda point: point.batch)
        return [below, above]
    if bar.how == "smallest":
        return [kept[0]]
    return [next(point for point in kept if point.batch == bar.batch)]


def _first(schedule: Schedule, batch: int, terms: Terms) -> int:
    """Samples at the first evaluation; with an interval of its own a submission still skips what the rule skips."""
    first = schedule.first_at(batch)
    return first if terms.interval is None else max(terms.interval, math.ceil(first / terms.interval) * terms.interval)


def _draw(
    table: Table, schedule: Schedule, bar: Bar, terms: Terms, rng: np.random.Generator, shape: tuple[int, int]
) -> tuple[Floats, bool]:
    """Samples at which runs stop, and whether they had to be rounded to evaluations anew.

    Between two points the same quantile of both is interpolated, so that mean and spread are interpolated as the
    checker interpolates them.
    """
    points, unit = sources(table, bar), unit_samples(table)
    u = rng.random(shape)
    drawn, intervals = [], []
    for point in points:
        runs = np.asarray(point.runs) * unit
        drawn.append(runs[np.minimum((u * len(runs)).astype(int), len(runs) - 1)])
        intervals.append(float(reference_interval(table, schedule, point)))
    weight = 0.0
    if len(points) == 2:
        weight = (bar.batch - points[0].batch) / (points[1].batch - points[0].batch)
    stops = drawn[0] * (1 - weight) + drawn[-1] * weight
    reference = intervals[0] * (1 - weight) + intervals[-1] * weight
    interval = float(terms.interval or schedule.interval_at(bar.batch))
    first = float(_first(schedule, bar.batch, terms))
    before = rng.random(shape)  # drawn in any case, so that other options see the same numbers
    if abs(interval / reference - 1) < SAME_INTERVAL and terms.convergence == 1.0:
        return np.maximum(stops, first), False
    true = (stops - before * reference) * terms.convergence
    return first + np.maximum(0.0, np.ceil((true - first) / interval)) * interval, True
