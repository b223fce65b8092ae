"""A throughput law: measured points answer for themselves, the line for the rest, and nonsense is refused."""

from pathlib import Path

import pytest

from evidence.library.errors import InputError
from evidence.rounds.throughput import parse_throughput, read_throughput, throughput


def test_a_straight_line_of_step_times_is_found() -> None:
    law = throughput({batch: batch / (0.2 + 0.003 * batch) for batch in (16, 64, 128)})
    assert (law.latency, law.per_sample) == (pytest.approx(0.2), pytest.approx(0.003))
    assert law.residual == pytest.approx(0, abs=1e-9)
    assert law.at(32) == pytest.approx(32 / (0.2 + 0.096))
    assert [law.known_from(batch) for batch in (16, 32, 256)] == ["measured", "fitted", "extrapolated"]


def test_points_off_the_line_answer_for_themselves_and_show_as_residual() -> None:
    law = throughput({16: 50.0, 32: 60.0, 64: 70.0, 128: 200.0})
    assert law.at(128) == 200.0
    assert law.residual > 0.05


def test_superlinear_throughput_never_gives_a_negative_latency() -> None:
    law = throughput({16: 10.0, 128: 100.0})
    assert law.latency >= 0
    assert law.per_sample >= 0
    assert law.residual > 0.02, "a falling step time is no line, and the plan says so"
    assert (law.at(64) or 0) > 0


def test_one_point_says_nothing_about_others() -> None:
    law = throughput({64: 100.0})
    assert (law.at(64), law.at(32)) == (100.0, None)


@pytest.mark.parametrize("pairs", [["128"], ["x=1"], ["128=fast"], ["128=1", "128=2"], ["1.5=3"], ["8=inf"]])
def test_malformed_pairs(pairs: list[str]) -> None:
    with pytest.raises(InputError):
        parse_throughput(pairs)


def test_a_rate_that_is_no_number_is_not_two_rates() -> None:
    with pytest.raises(InputError, match="'32=nan' has no finite rate"):
        parse_throughput(["32=nan"])


@pytest.mark.parametrize(
    "points",
    [{}, {0: 1.0}, {8: 0.0}, {8: -1.0}, {8: float("nan")}, {8: float("inf")}, {8: 1e-308}, {8: 1e308}, {10**400: 1.0}],
)
def test_impossible_points(points: dict[int, float]) -> None:
    with pytest.raises(InputError):
        throughput(points)


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("global_batch_size,samples_per_second\n16,50\n128,200\n")
    assert read_throughput(path) == {16: 50.0, 128: 200.0}
    path.write_text("global_batch_size,samples_per_second\n16,50\n", encoding="utf-8-sig")
    assert read_throughput(path) == {16: 50.0}
    path.write_text("batch,rate\n16,50\n")
    with pytest.raises(InputError, match="write global_batch_size"):
        read_throughput(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="cannot be read"):
        read_throughput(path)
    with pytest.raises(InputError):
        read_throughput(tmp_path / "none.csv")
