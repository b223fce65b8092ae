"""Which batch size has the best expected score under a round's rules, what holds it there, and what to ask for when."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import reduce

from evidence.library.errors import InputError
from evidence.library.models import Benchmark
from evidence.rounds.critical import fit
from evidence.rounds.points import Point
from evidence.rounds.rcp import Table
from evidence.rounds.schedule import Schedule
from evidence.rounds.score import Option, Terms, off_grid, option, unit_samples
from evidence.rounds.throughput import Throughput

MOST_CANDIDATES = 160
FLAT = 1.01
"""Batch sizes within one percent of the best score count as equally good."""
SAFE = 0.9
"""A batch size whose runs pass less often than this is not called best while another one passes."""


@dataclass(frozen=True)
class Plan:
    """What to submit: `options` by batch size, the `best` of them, and those within one percent of it (`flat`).

    `limited_by` says what keeps the optimum where it is, `requests` what must be asked for and when, `notes` what the
    figures rest on.
    """

    options: tuple[Option, ...]
    best: Option
    flat: tuple[int, ...]
    limited_by: str
    requests: tuple[str, ...]
    notes: tuple[str, ...]


def allowed_from(benchmark: Benchmark) -> int:
    """The smallest batch size that the round's hyperparameter rules let a submission use without asking."""
    found = re.match(r"(\d+) (?:minimum|to \d+)", benchmark.gbs_constraints)
    return int(found[1]) if found else 1


def candidates(table: Table, law: Throughput, smallest: int, multiple: int | None = None) -> list[int]:
    """The batch sizes to compare: every multiple up to the largest reference point, the points, and what was measured.

    Args:
        smallest: the smallest batch size that is allowed.
        multiple: batch sizes must be multiples of this; default: what the reference's batch sizes have in common.
    """
    points = [point.batch for point in table.points]
    if not law.fitted:
        return sorted(law.points)
    step = multiple or reduce(math.gcd, points)
    largest = max(points)
    start = max(smallest, min(*points, *law.points))
    thin = step * max(1, math.ceil((largest - start) / step / MOST_CANDIDATES))
    grid = set(range(math.ceil(start / thin) * thin, largest + 1, thin)) | {
        batch for batch in (*points, *law.points) if batch % (multiple or 1) == 0
    }
    return sorted(batch for batch in grid if batch >= smallest)


def make_plan(
    table: Table,
    benchmark: Benchmark,
    schedule: Schedule,
    law: Throughput,
    terms: Terms,
    *,
    multiple: int | None = None,
    deadline: date | None = None,
    draws: int = 4000,
) -> Plan:
    """Compare all batch sizes that the rules allow.

    Raises:
        InputError: not one batch size can be scored.
    """
    smallest = allowed_from(benchmark)
    tried = candidates(table, law, smallest, multiple)
    found = [option(table, schedule, law, batch, terms, draws=draws) for batch in tried]
    options = tuple(each for each in found if each is not None and each.batch >= smallest)
    if not options:
        largest = max(point.batch for point in table.points)
        raise InputError(
            f"none of the batch sizes {', '.join(map(str, tried[:6]))} can be scored in round {table.round}",
            "--throughput",
            f"give one from {smallest:,} to {largest:,} whose runs can pass the convergence test",
        )
    safe = [each for each in options if each.pass_probability >= SAFE] or list(options)
    best = min(safe, key=lambda each: each.score)
    flat = tuple(each.batch for each in safe if each.score <= FLAT * best.score)
    notes = _notes(table, schedule, options, best, law)
    if unscored := sorted(set(law.points) - {each.batch for each in options}):
        left_out = ", ".join(f"{batch:,}" for batch in unscored)
        notes.append(f"not compared: {left_out}; none below {smallest:,} without asking, none that cannot be scored")
    if best.batch == max(point.batch for point in table.points):
        notes += _beyond(table, schedule, law, best, terms)
    return Plan(
        options=options,
        best=best,
        flat=flat,
        limited_by=_limit(table, options, best, smallest, law),
        requests=_requests(table, best, law, deadline),
        notes=tuple(notes),
    )


def _limit(table: Table, options: Sequence[Option], best: Option, smallest: int, law: Throughput) -> str:
    """What keeps the optimum from moving on."""
    largest = max(point.batch for point in table.points)
    if len(options) == 1:
        return "only one batch size was given: give two throughputs or more to compare others"
    if best.batch == largest:
        return f"the largest reference point ({largest:,}): beyond it the rules want a new one"
    if best.batch in (smallest, options[0].batch):
        return (
            f"the smallest batch size compared ({best.batch:,}): larger ones need more samples than they gain in speed"
        )
    place = [each.batch for each in options].index(best.batch)
    after = options[min(place + 1, len(options) - 1)]
    speed, samples = after.throughput / best.throughput - 1, after.rcp_mean / best.rcp_mean - 1
    return (
        f"the trade between speed and convergence: at {after.batch:,} throughput changes by {100 * speed:+.1f} % and "
        f"the samples to target by {100 * samples:+.1f} %"
    )


def _requests(table: Table, best: Option, law: Throughput, deadline: date | None) -> tuple[str, ...]:
    """What has to be asked for, with dates where the round's deadline is known (rules rcp-requests, rcp-missing)."""
    largest = max(point.batch for point in table.points)
    if best.batch < largest and best.how != "smallest":
        return ()
    if best.how == "smallest":
        return (
            "none to submit; a failed test below the smallest point can only be answered with a reference point of "
            "your own at that batch size",
        )
    weeks = (9, 5) if table.benchmark == "llama31_405b" else (8, 4)
    asked, given = (f"{n} weeks before the deadline{_day(deadline, n)}" for n in weeks)
    ask = (
        f"for any batch above {largest:,}: ask the working group {asked}, with one run as evidence; the reference "
        f"owner delivers {given}"
    )
    own = f"or bring 2N = {2 * table.submission_runs} reference runs of your own: {_own_points_due(table, deadline)}"
    return (ask, own)


def _own_points_due(table: Table, deadline: date | None) -> str:
    if table.benchmark == "llama31_405b":
        return f"due five weeks before the deadline{_day(deadline, 5)}"
    if tuple(map(int, table.round.split("."))) >= (6, 1):
        return f"due seven days before the deadline{_day(deadline, 1)}"
    return "due 24 hours after the deadline"


def _day(deadline: date | None, weeks: int) -> str:
    return f" ({(deadline - timedelta(weeks=weeks)).isoformat()})" if deadline else ""


def _notes(table: Table, schedule: Schedule, options: Sequence[Option], best: Option, law: Throughput) -> list[str]:
    runs = f"convergence is drawn from {best.runs} real reference runs at the best batch size, not from a normal law"
    notes = [runs]
    off = [point.batch for point in table.points if off_grid(table, schedule, point)]
    if off:
        notes.append(f"reference points off the rule's evaluation grid: {', '.join(map(str, off))}")
    for point in _pruned(table, options):
        bar = table.bar(point.batch)
        assert bar is not None  # a pruned point lies between two kept ones, or below the smallest
        notes.append(
            f"batch {point.batch:,} is pruned: the reference itself needed {point.bar.mean:,.6g} {table.unit}, the bar "
            f"is {bar.mean:,.6g}; the plan assumes that you reach the bar"
        )
    if law.fitted and law.residual > 0.02:
        notes.append(f"the line of step times misses a measured one by {100 * law.residual:.0f} %: measure more points")
    if best.throughput_from == "extrapolated":
        notes.append(f"the throughput at {best.batch:,} lies beyond what was measured")
    return notes


def _pruned(table: Table, options: Sequence[Option]) -> list[Point]:
    tried = {each.batch for each in options}
    return [point for point in table.points if not point.kept and point.batch in tried]


def _beyond(table: Table, schedule: Schedule, law: Throughput, best: Option, terms: Terms) -> list[str]:
    """What a batch twice the largest point might score: whether asking for a new point is worth it."""
    found, batch = fit(table, draws=50), 2 * best.batch
    rate = law.at(batch)
    if found is None or found.says != "fits" or rate is None:
        return []

    def seconds(size: int, speed: float) -> float:
        samples = found.samples(size) * unit_samples(table)
        return samples / speed + schedule.evaluations(size, samples) * terms.eval_seconds

    change = 100 * (seconds(batch, rate) / seconds(best.batch, best.throughput) - 1)
    return [
        f"by the critical batch size of this table a batch of {batch:,} would change the score by {change:+.0f} %: "
        "an extrapolation of samples and of throughput, good for deciding whether to ask for a point"
    ]
