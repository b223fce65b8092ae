"""What a page about a benchmark needs beyond the rules data: schedule in numbers, choices, traps, a planned curve.

Everything is computed from the official tables, the rules data and the committed run table; nothing is typed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from evidence.library.errors import InputError
from evidence.library.models import Benchmark
from evidence.rounds import published, rcp
from evidence.rounds.planner import Plan, make_plan
from evidence.rounds.rcptext import Difference, differences, text_bar
from evidence.rounds.schedule import Schedule, schedule_of
from evidence.rounds.score import Terms, off_grid, unit_samples
from evidence.rounds.sets import ResultSet
from evidence.rounds.throughput import throughput


@dataclass(frozen=True)
class Evaluations:
    """The schedule at one batch size, in samples; `at_mean` counts the evaluations of a run that needs the mean."""

    batch: int
    interval: int
    first: int
    skipped: int
    at_mean: float


@dataclass(frozen=True)
class Choice:
    """What the result sets of a round chose as batch size.

    `fastest` is the best score in minutes among them; of the `judged` sets, which have enough runs for the convergence
    test, `scaled` were scaled.
    """

    round: str
    batch: int
    sets: int
    submitters: int
    accelerators: tuple[int, int] | None
    fastest: float | None
    judged: int
    scaled: int


@dataclass(frozen=True)
class Trap:
    """Where the checker, the rules' text or the reference's own runs do not agree; `rule` decides."""

    rule: str
    says: str


@dataclass(frozen=True)
class Portrait:
    """One benchmark in one round. `plan` is the planner's answer for the throughput that `model` states."""

    benchmark: str
    round: str
    table: rcp.Table
    evaluations: tuple[Evaluations, ...]
    choices: tuple[Choice, ...]
    traps: tuple[Trap, ...]
    plan: Plan | None
    model: str


def portrait(benchmark: Benchmark) -> Portrait | None:
    """Everything computed about a benchmark in its round; None where no reference convergence points are shipped."""
    found = table_for(benchmark)
    if found is None:
        return None
    schedule = _schedule(benchmark)
    countable = schedule is not None and _counts_samples(found)
    plan, model = _plan(found, benchmark, schedule) if schedule is not None and countable else (None, "")
    return Portrait(
        benchmark=benchmark.id,
        round=found.round,
        table=found,
        evaluations=_evaluations(found, schedule) if schedule is not None and countable else (),
        choices=choices(benchmark.id),
        traps=traps(found, schedule if countable else None),
        plan=plan,
        model=model,
    )


def table_for(benchmark: Benchmark) -> rcp.Table | None:
    """The reference points of a benchmark's round, or of the last round that still had it."""
    having = [round_ for round_ in rcp.rounds() if benchmark.id in rcp.benchmarks(round_)]
    last = benchmark.last_round.removeprefix("v")
    wanted = benchmark.round if benchmark.round in having else last if last in having else having[-1] if having else ""
    return rcp.table(benchmark.id, wanted) if wanted else None


def _schedule(benchmark: Benchmark) -> Schedule | None:
    try:
        return schedule_of(benchmark)
    except InputError:
        return None


def _counts_samples(table: rcp.Table) -> bool:
    try:
        unit_samples(table)
    except InputError:
        return False
    return True


def _evaluations(table: rcp.Table, schedule: Schedule) -> tuple[Evaluations, ...]:
    return tuple(
        Evaluations(
            point.batch,
            schedule.interval_at(point.batch),
            schedule.first_at(point.batch),
            schedule.skipped(point.batch),
            schedule.evaluations(point.batch, point.bar.mean * unit_samples(table)),
        )
        for point in table.points
    )


def _plan(table: rcp.Table, benchmark: Benchmark, schedule: Schedule) -> tuple[Plan, str]:
    """The planner under a stated model: at the smallest point a system reaches half of its highest throughput."""
    half = table.points[0].batch
    law = throughput({point.batch: point.batch / (point.batch + half) for point in table.points})
    model = (
        f"a system that reaches half of its highest throughput at batch {half:,} (step time proportional to "
        f"batch + {half:,}), with evaluations that cost nothing"
    )
    return make_plan(table, benchmark, schedule, law, Terms(), draws=1000), model


def choices(benchmark: str) -> tuple[Choice, ...]:
    """The batch sizes of the closed result sets in the committed logs, newest round first."""
    grouped: dict[tuple[str, int], list[ResultSet]] = {}
    for each in published.sets():
        if each.benchmark == benchmark and each.division == "closed" and each.global_batch_size:
            grouped.setdefault((each.round, int(each.global_batch_size)), []).append(each)
    ordered = sorted(grouped, key=lambda key: ([-int(part) for part in key[0].split(".")], key[1]))
    return tuple(_choice(round_, batch, grouped[round_, batch]) for round_, batch in ordered)


def _choice(round_: str, batch: int, sets: Sequence[ResultSet]) -> Choice:
    sizes = [int(each.accelerators) for each in sets if each.accelerators]
    scores = [each.score_min for each in sets if each.score_min is not None]
    return Choice(
        round=round_,
        batch=batch,
        sets=len(sets),
        submitters=len({each.submitter for each in sets}),
        accelerators=(min(sizes), max(sizes)) if sizes else None,
        fastest=min(scores) if scores else None,
        judged=sum(each.normalisation is not None for each in sets),
        scaled=sum((each.normalisation or 1.0) > 1.0 for each in sets),
    )


def traps(table: rcp.Table, schedule: Schedule | None) -> tuple[Trap, ...]:
    """Checker against text, and points off the rule's grid; the spread, which differs nearly everywhere, only once."""
    parted = differences(table)
    found = [Trap(each.rule, _at(each)) for each in parted if each.kind != "spread"]
    if spread := [each for each in parted if each.kind == "spread"]:
        found.insert(0, Trap(spread[0].rule, _widest(table, spread)))
    if schedule is not None:
        if off := [f"{point.batch:,}" for point in table.points if off_grid(table, schedule, point)]:
            says = f"the reference was not evaluated where the rule says at batch {', '.join(off)}"
            found.append(Trap("eval-frequency", says))
        floors = [p for p in table.kept if p.bar.limit < schedule.first_at(p.batch) / unit_samples(table)]
        if floors:
            at = ", ".join(f"{point.batch:,}" for point in floors)
            says = f"the first permitted evaluation lies above the limit at batch {at}: the test cannot fail there"
            found.append(Trap("eval-frequency", says))
    return tuple(found)


def _at(each: Difference) -> str:
    return each.says if each.kind == "small-batch-scaling" else f"batch {each.batch:,}: {each.says}"


def _widest(table: rcp.Table, spread: Sequence[Difference]) -> str:
    """One sentence for all points at which the spreads differ."""
    batches = {each.batch for each in spread}
    leads = {
        point.batch: (
            text_bar(table, point).mean / text_bar(table, point).min_mean - 1,
            point.bar.mean / point.bar.min_mean - 1,
        )
        for point in table.points
        if point.batch in batches and point.bar.min_mean > 0 and text_bar(table, point).min_mean > 0
    }
    batch = max(leads, key=lambda each: leads[each][1] - leads[each][0])
    text, code = leads[batch]
    return (
        f"the checker takes the spread over all runs, the text without the extremes; most at batch {batch:,}, where "
        f"{100 * code:.1f} % faster than the mean passes instead of {100 * text:.1f} %"
    )


@lru_cache(maxsize=64)
def _cached(key: str) -> Portrait | None:
    return portrait(Benchmark.model_validate_json(key))


def cached_portrait(benchmark: Benchmark) -> Portrait | None:
    """`portrait`, once a process: a build asks for it when it writes a page and when it shows it."""
    return _cached(benchmark.model_dump_json())
