"""The planner against a brute-force simulation: runs walked step by step, sets judged by the official checker."""

import math
import random
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from evidence.library.errors import InputError
from evidence.library.load import load
from evidence.library.project import find_project
from evidence.rounds.planner import allowed_from, candidates, make_plan
from evidence.rounds.rcp import official_checker, table
from evidence.rounds.schedule import schedule_of
from evidence.rounds.score import Terms, draw_sets, off_grid, option
from evidence.rounds.throughput import throughput

LIBRARY = load(find_project(Path(__file__).parent))
SIX = LIBRARY.benchmarks["6.0"]
LAWS: dict[str, Callable[[int], float]] = {
    "constant": lambda batch: 120.0,
    "latency": lambda batch: batch / (0.35 + 0.004 * batch),
    "saturating": lambda batch: 400 * (1 - math.exp(-batch / 70)),
}
EVAL_SECONDS, SETS = 7.0, 700


def walk(batch: int, converged: float, rate: float, interval: int, first: int) -> float:
    """Seconds of one run of Llama 3.1 8B, a step at a time, that reaches its target after `converged` sequences."""
    samples, seconds, next_evaluation = 0, 0.0, first
    while True:
        samples += batch
        seconds += batch / rate
        if samples >= next_evaluation:
            seconds += EVAL_SECONDS
            next_evaluation += interval
            if samples >= converged:
                return seconds


def brute_force(benchmark: str, batch: int, rate: float, rng: random.Random) -> list[float]:
    """Scores in minutes of sets that pass, by the checker's own record of the point; no code of the planner."""
    checker = official_checker(benchmark, "6.0")
    record = checker._find_rcp(batch, "pruned_rcps")
    interval = math.ceil(12288 / batch) * batch
    cost = {count: walk(batch, count, rate, interval, interval) for count in set(record["Epochs to converge"])}
    scores = []
    for _ in range(SETS):
        counts = sorted(rng.choices(record["Epochs to converge"], k=10))
        times = sorted(cost[count] for count in counts)
        mean = sum(counts[1:-1]) / 8
        if mean >= record["Min Epochs"]:
            scores.append(sum(times[1:-1]) / 8 / 60 * max(1.0, record["RCP Mean"] / mean))
    return scores


@pytest.mark.parametrize("name", LAWS)
def test_plan_agrees_with_brute_force(name: str) -> None:
    """Score and pass probability at every point on the rule's grid, and the best of them, under each law."""
    benchmark, law, rng = SIX["llama31_8b"], LAWS[name], random.Random(1)
    points = [16, 32, 64, 128]  # 96 is off the grid; its rounding has a test of its own
    measured = throughput({batch: law(batch) for batch in points})
    reference = table("llama31_8b", "6.0")
    best = {}
    for batch in points:
        found = option(reference, schedule_of(benchmark), measured, batch, Terms(eval_seconds=EVAL_SECONDS))
        assert found is not None
        brute = brute_force("llama31_8b", batch, law(batch), rng)
        error = 4 * float(np.std(brute)) * math.sqrt(1 / len(brute) + 1 / 4000) + 1e-9 * found.score
        assert found.score == pytest.approx(float(np.mean(brute)), abs=error)
        assert found.pass_probability == pytest.approx(len(brute) / SETS, abs=0.03)
        best[batch] = (found.score, float(np.mean(brute)))
    plan = make_plan(reference, benchmark, schedule_of(benchmark), measured, Terms(eval_seconds=EVAL_SECONDS))
    brute_best = min(points, key=lambda batch: best[batch][1])
    among_points = min((each for each in plan.options if each.batch in points), key=lambda each: each.score)
    assert among_points.batch == brute_best
    assert plan.best.score <= among_points.score
    assert brute_best in plan.flat or plan.best.batch not in points


def test_three_laws_have_three_kinds_of_answer() -> None:
    """Constant throughput wants the smallest batch; the more a large batch speeds up, the larger the answer."""
    benchmark = SIX["llama31_8b"]
    found = []
    for law in LAWS.values():
        measured = throughput({batch: law(batch) for batch in (16, 32, 64, 96, 128)})
        found.append(make_plan(table("llama31_8b", "6.0"), benchmark, schedule_of(benchmark), measured, Terms()))
    assert found[0].best.batch == 16
    assert found[0].best.batch < found[1].best.batch <= found[2].best.batch
    assert found[0].limited_by.startswith("the smallest")


def test_off_grid_counts_are_rounded_anew() -> None:
    """At 96 the reference stopped on multiples of 12384; the rule's grid there is 12288."""
    reference, schedule = table("llama31_8b", "6.0"), schedule_of(SIX["llama31_8b"])
    assert [point.batch for point in reference.points if off_grid(reference, schedule, point)] == [96]
    bar = reference.bar(96)
    assert bar is not None
    sets = draw_sets(reference, schedule, 100.0, bar, Terms())
    assert sets.rounded_anew
    assert (sets.samples % 12288 == 0).all()
    # Half the reference's interval comes off, half the submission's comes on.
    assert float(sets.samples.mean()) == pytest.approx(float(np.mean(bar_runs(96))) - 96 / 2, rel=2e-3)
    plain = draw_sets(reference, schedule, 100.0, reference.bar(128), Terms())  # type: ignore[arg-type]
    assert not plain.rounded_anew
    assert set(np.unique(plain.samples)) <= set(bar_runs(128))


def bar_runs(batch: int) -> tuple[float, ...]:
    point = table("llama31_8b", "6.0").point(batch)
    assert point is not None
    return point.runs


def test_between_points_mean_and_spread_are_interpolated() -> None:
    reference, schedule = table("llama31_405b", "6.0"), schedule_of(SIX["llama31_405b"])
    reference8, schedule8 = table("llama31_8b", "6.0"), schedule_of(SIX["llama31_8b"])
    bar = reference8.bar(48)
    assert bar is not None
    sets = draw_sets(reference8, schedule8, 1.0, bar, Terms())
    means = [np.mean(bar_runs(32)), np.mean(bar_runs(64))]
    assert float(sets.samples.mean()) == pytest.approx(float(np.mean(means)), rel=2e-3)
    # The skipped evaluations are a floor: no run at 3456 can stop before the first one that the rule allows.
    middle = reference.bar(3456)
    assert middle is not None
    assert (
        float(draw_sets(reference, schedule, 1.0, middle, Terms()).samples.min()) == schedule.first_at(3456) == 435_456
    )


def test_faster_convergence_gains_nothing_and_risks_rejection() -> None:
    reference, schedule = table("llama31_8b", "6.0"), schedule_of(SIX["llama31_8b"])
    law = throughput({64: 100.0})
    fast, same, slow = (option(reference, schedule, law, 64, Terms(convergence=c)) for c in (0.97, 1.0, 1.05))
    assert fast is not None and same is not None and slow is not None
    assert fast.pass_probability < same.pass_probability <= slow.pass_probability == 1.0
    assert fast.score == pytest.approx(same.score, rel=0.01)
    assert slow.score > 1.03 * same.score
    assert fast.normalisation > same.normalisation > slow.normalisation >= 1.0
    assert option(reference, schedule, law, 64, Terms(convergence=0.8)) is None


def test_failures_and_late_initialisation_cost() -> None:
    reference, schedule, law = table("llama31_8b", "6.0"), schedule_of(SIX["llama31_8b"]), throughput({64: 100.0})
    plain = option(reference, schedule, law, 64, Terms())
    risky = option(reference, schedule, law, 64, Terms(failure_rate=0.1))
    late = option(reference, schedule, law, 64, Terms(init_seconds=1860))
    assert plain is not None and risky is not None and late is not None
    # Binomial: none or one of ten runs fails.
    assert risky.pass_probability == pytest.approx(plain.pass_probability * (0.9**10 + 10 * 0.1 * 0.9**9), abs=0.03)
    assert late.minutes == pytest.approx(plain.minutes + 1, abs=1e-6)


def test_what_is_allowed_and_what_must_be_requested() -> None:
    assert (allowed_from(SIX["deepseekv3_671b"]), allowed_from(SIX["llama31_405b"])) == (15360, 1152)
    assert allowed_from(SIX["llama31_8b"]) == 1
    law = throughput({1152: 40.0, 4608: 150.0})
    assert candidates(table("llama31_405b", "6.0"), law, 1152) == [1152, 2304, 3456, 4608]
    benchmark = SIX["llama31_405b"]
    plan = make_plan(
        table("llama31_405b", "6.0"), benchmark, schedule_of(benchmark), law, Terms(), deadline=date(2026, 5, 15)
    )
    assert plan.best.batch == 4608
    assert "largest reference point" in plan.limited_by
    assert "2026-03-13" in plan.requests[0]
    assert "6 reference runs" in plan.requests[1]
    assert any("batch of 9,216 would change the score by" in note for note in plan.notes)
    assert any("pruned" in note for note in dlrm_plan().notes)
    assert not any("would change the score" in note for note in dlrm_plan().notes), "its best is not the largest point"


def dlrm_plan():  # type: ignore[no-untyped-def]
    benchmark = SIX["dlrm_dcnv2"]
    law = throughput({32768: 3e7, 160000: 6e7})
    return make_plan(table("dlrm_dcnv2", "6.0"), benchmark, schedule_of(benchmark), law, Terms(), draws=500)


def test_a_given_batch_that_is_not_compared_is_named() -> None:
    benchmark = SIX["llama31_405b"]
    reference, schedule = table("llama31_405b", "6.0"), schedule_of(benchmark)

    def notes(*batches: int) -> str:
        law = throughput({batch: batch / (batch + 1152) for batch in batches})
        return " ".join(make_plan(reference, benchmark, schedule, law, Terms()).notes)

    assert "not compared: 512; none below 1,152" in notes(512, 1152, 2304)
    assert "not compared" not in notes(1152, 2304)


def test_what_cannot_be_planned_is_bad_input() -> None:
    benchmark = SIX["deepseekv3_671b"]
    with pytest.raises(InputError, match="15,360"):
        make_plan(table("deepseekv3_671b", "6.0"), benchmark, schedule_of(benchmark), throughput({8192: 1.0}), Terms())
    with pytest.raises(InputError, match="--failure-rate"):
        Terms(failure_rate=1.5)
    for wrong in ({"interval": 0}, {"interval": 10**13}, {"eval_seconds": 1e308}, {"init_seconds": math.nan}):
        with pytest.raises(InputError, match="is out of range"):
            Terms(**wrong)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rates", [(1e-9, 1e-9), (1e15, 1e15), (1e-9, 1e15), (1e15, 1e-9)])
@pytest.mark.parametrize("terms", [Terms(1e9, 1e9, 10**12), Terms(1e9, 1e9, 1, 0.99, 0.1)])
def test_scores_are_finite_at_the_ends_of_what_is_allowed(rates: tuple[float, float], terms: Terms) -> None:
    benchmark, law = SIX["llama31_8b"], throughput({32: rates[0], 128: rates[1]})
    plan = make_plan(table("llama31_8b", "6.0"), benchmark, schedule_of(benchmark), law, terms, draws=100)
    assert all(math.isfinite(each.score) and each.score > 0 for each in plan.options)


def test_a_table_without_samples_is_bad_input() -> None:
    with pytest.raises(InputError, match="fraction of an epoch"):
        option(table("rgat", "5.1"), schedule_of(SIX["flux1"]), throughput({4096: 1.0}), 4096, Terms())
