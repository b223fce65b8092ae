"""Formulas of the rulebook are evaluated as written, and nothing else is."""

import math
from pathlib import Path

import pytest

from evidence.library.errors import InputError
from evidence.library.load import load
from evidence.library.project import find_project
from evidence.rounds.rcp import table
from evidence.rounds.schedule import Schedule, evaluate, schedule_of

LIBRARY = load(find_project(Path(__file__).parent))


@pytest.mark.parametrize(
    ("formula", "gbs", "value"),
    [
        ("math.ceil(12288/gbs)*gbs", 96, 12288),
        ("math.ceil(18432/gbs)*gbs", 1280, 19200),
        ("math.floor(0.0026*gbs+12)", 2304, 17),
        ("round(8e-5*gbs/1152, 8)", 1280, 8.889e-05),
        ("-gbs + max(1, 2)", 4, -2),
        ("gbs*math.sqrt(gbs/16384)", 16384, 16384),
    ],
)
def test_value(formula: str, gbs: int, value: float) -> None:
    assert evaluate(formula, gbs) == pytest.approx(value, rel=1e-12)
    assert evaluate(formula, gbs) == eval(formula, {"gbs": gbs, "math": math, "round": round, "max": max})


@pytest.mark.parametrize(
    "formula",
    [
        "__import__('os').system('true')",
        "gbs.__class__",
        "[x for x in (1,)]",
        "math.factorial(gbs)",
        "gbs if gbs else 1",
        "steps * 2",
        "'a' * 3",
        "gbs +",
        "(" * 500,
        "9**9**9",
        "1/(gbs-8)",
        "math.ceil()",
        "math.sqrt(-gbs)",
    ],
)
def test_anything_else_is_refused_in_one_line(formula: str) -> None:
    with pytest.raises(InputError) as caught:
        evaluate(formula, 8)
    assert "\n" not in str(caught.value)


def test_every_schedule_of_the_rulebooks_evaluates_at_every_reference_point() -> None:
    seen = 0
    for round, benchmarks in LIBRARY.benchmarks.items():
        for benchmark in benchmarks.values():
            if benchmark.status not in ("current", "new"):
                continue
            schedule = schedule_of(benchmark)
            for point in table(benchmark.id, round).points:
                assert schedule.interval_at(point.batch) % point.batch == 0
                assert schedule.first_at(point.batch) % schedule.interval_at(point.batch) == 0
                seen += 1
    assert seen > 40


def test_stop_is_the_first_evaluation_not_before_convergence() -> None:
    schedule = schedule_of(LIBRARY.benchmarks["6.0"]["llama31_405b"])
    assert (schedule.interval_at(1152), schedule.first_at(1152), schedule.skipped(1152)) == (18432, 276480, 14)
    assert schedule.stop(1152, 1.0) == 276480
    assert schedule.stop(1152, 276480) == 276480
    assert schedule.stop(1152, 276481) == 294912
    assert schedule.evaluations(1152, 313344) == 3
    assert schedule.on_grid(1152, 313344)
    assert not schedule.on_grid(1152, 313345)
    assert not schedule.on_grid(1152, 258048)


def test_a_schedule_must_give_samples() -> None:
    with pytest.raises(InputError, match="gives -8 samples"):
        Schedule("-gbs", "gbs").interval_at(8)
    with pytest.raises(InputError, match="no evaluation interval"):
        schedule_of(LIBRARY.benchmarks["6.0"]["resnet"])
