"""Intervals against SciPy and NumPy, every cell of the verdict table, and how often nothing is taken for something."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evidence.lab.stats import (
    BOOTSTRAP_FROM,
    BOOTSTRAP_TO,
    DISTANCE_FLOOR,
    MIN_SAMPLES,
    Interval,
    exact_verdict,
    interval_of,
    mean_interval,
    verdict,
)

SMALL = [1.2, 0.9, 1.4, 1.1, 1.3]


def between(low: float, high: float) -> Interval:
    return Interval((low + high) / 2, low, high, 5)


def test_few_samples_have_the_interval_of_students_t_test() -> None:
    found = mean_interval(SMALL)
    oracle = stats.ttest_1samp(SMALL, 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high), rel=1e-12)
    assert found.estimate == pytest.approx(np.mean(SMALL)) and found.n == 5


def test_a_ratio_has_the_geometric_mean_and_the_interval_of_its_logarithms() -> None:
    found = interval_of("ratio", SMALL)
    oracle = stats.ttest_1samp(np.log(SMALL), 0).confidence_interval(0.95)
    assert found.estimate == pytest.approx(stats.gmean(SMALL))
    assert (found.low, found.high) == pytest.approx((math.exp(oracle.low), math.exp(oracle.high)))
    swapped = interval_of("ratio", [1 / x for x in SMALL])
    assert (1 / swapped.estimate, 1 / swapped.high) == pytest.approx((found.estimate, found.low))  # type: ignore[operator]


@pytest.mark.parametrize("kind", ["difference", "parity"])
def test_a_difference_stays_on_its_own_scale(kind: str) -> None:
    assert interval_of(kind, [-1.0, 0.0, 1.0]) == mean_interval([-1.0, 0.0, 1.0])  # type: ignore[arg-type]


def test_many_samples_have_an_interval_near_a_bootstrap_by_numpy() -> None:
    x = np.random.default_rng(3).normal(10.0, 2.0, 200)
    found = mean_interval(x.tolist())
    rows = np.random.default_rng(4).integers(0, 200, (20_000, 200))
    low, high = np.quantile(x[rows].mean(axis=1), [0.025, 0.975])
    assert found.low == pytest.approx(low, abs=0.03) and found.high == pytest.approx(high, abs=0.03)


def test_the_bootstrap_begins_and_ends_where_it_should() -> None:
    x = np.random.default_rng(5).lognormal(size=BOOTSTRAP_TO + 1).tolist()
    for n, is_t in ((BOOTSTRAP_FROM - 1, True), (BOOTSTRAP_FROM, False), (BOOTSTRAP_TO, False), (len(x), True)):
        oracle = stats.ttest_1samp(x[:n], 0).confidence_interval(0.95)
        assert bool(mean_interval(x[:n]).low == pytest.approx(oracle.low, rel=1e-9)) is is_t, n


def test_the_same_samples_always_have_the_same_bootstrap_interval() -> None:
    x = np.random.default_rng(6).normal(size=40).tolist()
    assert mean_interval(x) == mean_interval(x)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=MIN_SAMPLES, max_size=30))
def test_every_interval_is_finite_and_holds_its_mean(samples: list[float]) -> None:
    found = mean_interval(samples)
    assert found.low is not None and found.high is not None
    slack = 1e-9 * max(map(abs, samples))
    assert found.low - slack <= found.estimate <= found.high + slack


@pytest.mark.parametrize(
    "samples", [[1e-120] * 20 + [2e-120], [0.0, 0.0, 7e-214], [1.0] * 24 + [1 + 4e-16], [0.0] * 19 + [1.0]]
)
def test_nearly_constant_samples_have_an_interval(samples: list[float]) -> None:
    found = mean_interval(samples)
    assert found.low is not None and found.high is not None and found.low <= found.estimate <= found.high


@pytest.mark.parametrize("n", [1, 2])
def test_fewer_than_three_samples_conclude_nothing(n: int) -> None:
    found = mean_interval([5.0] * n)
    assert (found.estimate, found.low, found.high) == (5.0, None, None)
    assert verdict(found, "above", 1.0, 0.0) == "inconclusive" == verdict(found, "within", 9.0, None)


def test_equal_samples_have_an_interval_without_width() -> None:
    assert mean_interval([2.0] * 3) == Interval(2.0, 2.0, 2.0, 3)


def test_a_distance_of_exactly_zero_is_the_floor_not_an_error() -> None:
    assert interval_of("equivalence", [0.0, 0.0, 0.0]).estimate == pytest.approx(DISTANCE_FLOOR)
    assert verdict(interval_of("equivalence", [0.0, 1e-16, 0.0]), "within", 1e-10, None) == "holds"


@pytest.mark.parametrize(
    ("samples", "log", "says"),
    [
        ([], False, "no samples"),
        ([1, math.nan, 2], False, "finite"),
        ([1, math.inf, 2], True, "finite"),
        ([1, 0, 2], True, "above zero"),
        ([1, -1, 2], True, "above zero"),
    ],
)
def test_unusable_samples_are_refused(samples: list[float], log: bool, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        mean_interval(samples, log=log)


# A speed-up that should pass 2, where less than 1.1 is none; and the same upside down.
TABLE = [
    (2.1, 3.0, "holds"),
    (1.2, 1.9, "weaker"),
    (0.8, 1.05, "contradicted"),
    (1.9, 2.1, "inconclusive"),
    (1.05, 1.2, "inconclusive"),
    (0.9, 2.5, "inconclusive"),
    (2.0, 3.0, "inconclusive"),
]


@pytest.mark.parametrize(("low", "high", "expected"), TABLE)
def test_the_verdict_above_and_below(low: float, high: float, expected: str) -> None:
    assert verdict(between(low, high), "above", 2.0, 1.1) == expected
    assert verdict(between(-high, -low), "below", -2.0, -1.1) == expected


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-0.5, 0.9, "holds"),
        (-1.0, 1.0, "holds"),
        (1.1, 2.0, "contradicted"),
        (-3.0, -1.5, "contradicted"),
        (0.5, 1.5, "inconclusive"),
        (-1.5, 0.0, "inconclusive"),
        (-2.0, 2.0, "inconclusive"),
    ],
)
def test_the_verdict_within(low: float, high: float, expected: str) -> None:
    assert verdict(between(low, high), "within", 1.0, None) == expected
    assert verdict(between(low + 5, high + 5), "within", 1.0, 5.0) == expected


def test_a_direction_without_what_it_needs_is_refused() -> None:
    with pytest.raises(ValueError, match="null"):
        verdict(between(1, 2), "above", 1.0, None)
    with pytest.raises(ValueError, match="no interval verdict"):
        verdict(between(1, 2), "equal", 1.0, 0.0)


def test_exact_counts() -> None:
    assert exact_verdict([16.0], 16.0, 0.0) == "holds" == exact_verdict([15.99, 16.004], 16.0, 0.01)
    assert exact_verdict([16.0, 15.0], 16.0, 0.01) == "contradicted"
    for samples, says in (([], "no samples"), ([math.nan], "finite"), ([math.inf], "finite")):
        with pytest.raises(ValueError, match=says):
            exact_verdict(samples, 16.0, 0.0)


@pytest.mark.parametrize(("n", "repeats"), [(3, 3000), (9, 3000), (BOOTSTRAP_FROM, 500), (40, 500)])
def test_identical_arms_are_rarely_told_apart(n: int, repeats: int) -> None:
    """An A/A test: both arms take equally long, and bound and null leave no room for "too little to count".

    This is the hardest case; a bound apart from null can only lower the rate. The limit is 5 % and three standard
    errors of the simulation.
    """
    rng = np.random.default_rng(n)
    found: Counter[str] = Counter()
    for _ in range(repeats):
        ratios = np.exp(rng.normal(0.0, 0.05, n) - rng.normal(0.0, 0.05, n))
        found[verdict(interval_of("ratio", ratios.tolist()), "above", 1.0, 1.0)] += 1
    rate = (found["holds"] + found["contradicted"]) / repeats
    print(f"A/A, {n} rounds: told apart in {rate:.1%} of {repeats} ({dict(found)})")
    assert rate <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / repeats)
    assert found["holds"] and found["contradicted"], "a test that never errs cannot show its rate"


def test_identical_arms_never_pass_for_a_real_speed_up() -> None:
    """With the bounds that notebooks use (above 1.5, none below 1.1), nothing is contradicted, as it should be."""
    rng = np.random.default_rng(0)
    found = Counter(
        verdict(interval_of("ratio", np.exp(rng.normal(0.0, 0.05, 9)).tolist()), "above", 1.5, 1.1) for _ in range(1000)
    )
    print(f"A/A against a bound of 1.5: {dict(found)}")
    assert found["holds"] == found["weaker"] == 0 and found["contradicted"] > 900
