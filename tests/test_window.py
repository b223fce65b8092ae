"""The M>N rule against its own example, and against everything a window can meet."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from statistics import median_high

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.library.errors import InputError
from evidence.rounds.gather import Row
from evidence.rounds.runtable import Run
from evidence.rounds.sets import olympic_mean
from evidence.rounds.window import choose


def rows(minutes: list[float], benchmark: str = "llama2_70b_lora") -> list[Row]:
    """Runs an hour apart; infinite minutes are a run that did not converge."""
    made = []
    for number, each in enumerate(minutes):
        good = math.isfinite(each)
        run = Run(
            benchmark, division="closed", global_batch_size=8, status="success" if good else "aborted",
            started_ms=number * 3_600_000, run_s=60 * each if good else None, convergence=3456 if good else None,
        )  # fmt: skip
        made.append(Row("5.1", "Acme", "box", benchmark, f"result_{number}.txt", None, None, None, run))
    return made


def test_the_example_of_the_rules_ten_runs_windows_of_five() -> None:
    times = [10.0, 12, 11, 9, 14, 13, 8, 15, 10, 11]
    choice = choose(rows(times), 5)
    assert len(choice.windows) == 6
    scores = [sum(sorted(times[i : i + 5])[1:4]) / 3 for i in range(6)]
    assert [window.score_min for window in choice.windows] == pytest.approx(scores)
    assert choice.chosen.score_min == pytest.approx(median_high(scores))
    assert choice.other_middle is not None and choice.other_middle.score_min <= choice.chosen.score_min
    assert choice.best_gain == pytest.approx(1 - min(scores) / median_high(scores))


def test_order_is_by_start_not_by_name() -> None:
    shuffled = rows([10.0, 12, 11, 9, 14])
    renamed = [replace(row, file=f"result_{9 - i}.txt") for i, row in enumerate(shuffled)]
    assert choose(renamed[::-1], 3).order == tuple(row.file for row in renamed)


def test_one_failed_run_is_the_dropped_slowest_and_two_are_infinite() -> None:
    choice = choose(rows([10.0, math.inf, 11, 12, math.inf, 9, 10, 11]), 5)
    assert [window.valid for window in choice.windows] == [False, False, True, True]
    assert choice.windows[2].score_min == pytest.approx(11)
    # Two valid windows of four: one middle one is valid, the other is not, and the slower one counts.
    assert choice.other_middle is not None and choice.other_middle.valid and not choice.chosen.valid


def test_an_invalid_median_makes_the_whole_result_invalid() -> None:
    choice = choose(rows([10.0, math.inf, math.inf, 11, math.inf, 9, 12]), 5)
    assert not choice.chosen.valid and choice.best_gain is None
    assert any("whole result is invalid" in note for note in choice.notes)


def test_the_verdict_is_that_of_the_chosen_runs() -> None:
    assert choose(rows([10.0] * 12)).verdict.passed is True


def test_what_cannot_be_chosen_from() -> None:
    with pytest.raises(InputError, match="10 are needed"):
        choose(rows([10.0] * 9))
    with pytest.raises(InputError, match="nothing is left"):
        choose(rows([10.0] * 9), 2)
    with pytest.raises(InputError, match="2 sets"):
        choose(rows([10.0] * 5) + rows([10.0] * 5, "bert"), 5)
    with pytest.raises(InputError, match="--runs"):
        choose(rows([10.0] * 5, "llama9"))


def test_runs_that_never_started_stand_last_and_are_named() -> None:
    made = rows([10.0, 11, 12, math.inf])
    made[0], made[3] = made[3], replace(made[0], run=replace(made[0].run, started_ms=None))
    choice = choose(made, 3)
    assert choice.order[-1] == "result_0.txt"
    assert any("log no start" in note for note in choice.notes)


@given(st.lists(st.floats(1, 100) | st.just(math.inf), min_size=5, max_size=9))
def test_picking_is_never_slower_than_the_median(minutes: list[float]) -> None:
    choice = choose(rows(minutes), 5)
    assert len(choice.windows) == len(minutes) - 4
    if choice.chosen.valid:
        assert choice.best_gain is not None and choice.best_gain >= -1e-12
        assert choice.picked_gain is not None and choice.picked_gain >= choice.best_gain - 1e-12
        best = min(_score(list(group)) for group in combinations(minutes, 5))
        assert best == pytest.approx((1 - choice.picked_gain) * choice.chosen.score_min)


def _score(group: list[float]) -> float:
    good = [each for each in group if math.isfinite(each)]
    score = olympic_mean(good, len(group) - len(good))
    return math.inf if score is None else score
