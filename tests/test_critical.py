"""The law of the critical batch size: found where it is, and denied where it is not."""

import numpy as np
import pytest

from evidence.rounds.critical import FITS_WITHIN, fit, law_from_two, solve
from evidence.rounds.rcp import Table, table


def found(benchmark: str, round: str):  # type: ignore[no-untyped-def]
    result = fit(table(benchmark, round), draws=200)
    assert result is not None
    return result


def test_a_known_law_is_found() -> None:
    e_min, critical, residual = solve({batch: 50 * (1 + batch / 300) for batch in (32, 64, 256, 1024)})
    assert (e_min, critical) == (pytest.approx(50), pytest.approx(300))
    assert residual < 1e-9
    assert law_from_two((4096, 64), (16384, 80)) == (pytest.approx(176 / 3), pytest.approx(45056))


def test_no_growth_has_no_critical_size() -> None:
    assert solve({1: 10.0, 2: 10.0, 4: 9.0})[1] == np.inf
    assert solve({1: 10.0, 2: 20.0, 4: 40.0})[1] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("benchmark", "round", "critical"),
    [
        ("llama31_405b", "5.0", 5900),
        ("llama31_405b", "5.1", 4900),
        ("llama31_8b", "6.0", 84),
        ("gpt_oss_20b", "6.0", 72),
        ("flux1", "6.0", 2760),
        ("rgat", "5.1", 116_000),
        ("dlrm_dcnv2", "6.0", 318_000),
    ],
)
def test_tables_that_follow_the_law(benchmark: str, round: str, critical: float) -> None:
    """Values of the protocol, which fitted logarithms; relative errors give the same within a few percent."""
    result = found(benchmark, round)
    assert result.says == "fits"
    assert result.residual < FITS_WITHIN
    assert result.critical == pytest.approx(critical, rel=0.04)
    assert result.low < result.critical < result.high


@pytest.mark.parametrize(
    ("benchmark", "round", "says"),
    [
        ("llama2_70b_lora", "6.0", "does not fit"),
        ("bert", "5.0", "does not fit"),
        ("retinanet", "5.1", "does not fit"),
        ("deepseekv3_671b", "6.0", "extrapolated"),
        ("unet3d", "2.0", "flat"),
        ("qwen35_397b_grpo", "6.1", "floor"),
    ],
)
def test_tables_that_do_not(benchmark: str, round: str, says: str) -> None:
    assert found(benchmark, round).says == says


@pytest.mark.parametrize(("benchmark", "round"), [("llama31_405b", "5.0"), ("llama31_8b", "6.0"), ("flux1", "6.0")])
def test_reversed_batch_sizes_are_not_described(benchmark: str, round: str) -> None:
    """The sabotage: the same means against the batch sizes in reverse order."""
    points = table(benchmark, round).points
    backwards = {a.batch: b.bar.mean for a, b in zip(points, reversed(points), strict=True)}
    assert solve(backwards)[2] > 3 * FITS_WITHIN


def test_two_points_are_too_few() -> None:
    full = table("llama31_8b", "6.0")
    two = Table(full.benchmark, full.round, full.unit, full.submission_runs, full.points[:2], full.checker)
    assert fit(two) is None
