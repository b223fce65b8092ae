"""The rules' own worked example comes out of the text variant; the checker's figures stand beside it."""

import io
import json

import numpy as np
import pytest

from evidence.rounds import rcp
from evidence.rounds.rcptext import differences, smallest_mean, text_at, text_bar, text_envelope, text_keeps

EXAMPLE = {
    128: [16, 14, 16, 17, 16, 16, 15, 16, 15, 16],
    256: [20, 21, 21, 20, 22, 22, 21, 21, 20, 20],
}
"""Appendix 22 of the 6.0 rules: a benchmark of five runs (retinanet is one), counted in epochs."""


def a_table(points: dict[int, list[float]], benchmark: str = "retinanet", round: str = "5.1") -> rcp.Table:
    raw = {
        f"{benchmark}_{batch}": {"Benchmark": benchmark, "BS": batch, "Hyperparams": {}, "Epochs to converge": runs}
        for batch, runs in points.items()
    }
    checker = rcp.official_checker(benchmark, round, io.StringIO(json.dumps(raw)))
    return rcp.from_checker(benchmark, round, checker, raw)


@pytest.mark.parametrize(
    ("batch", "mean", "stdev", "percent", "checker_percent"),
    [(128, 15.75, 0.43, 3.53, 6.56), (256, 20.75, 0.66, 4.12, 4.69), (192, 18.25, 0.547, 3.68, 5.21)],
)
def test_worked_example(batch: int, mean: float, stdev: float, percent: float, checker_percent: float) -> None:
    table = a_table(EXAMPLE)
    text, code = text_at(table, batch), table.bar(batch)
    assert text is not None
    assert code is not None
    assert text.mean == pytest.approx(mean)
    assert text.stdev == pytest.approx(stdev, abs=0.005 if batch != 192 else 0.0005)
    assert 100 * (text.max_speedup - 1) == pytest.approx(percent, abs=0.005)
    assert code.mean == pytest.approx(mean)
    assert 100 * (code.max_speedup - 1) == pytest.approx(checker_percent, abs=0.005)


@pytest.mark.parametrize(
    ("batch", "runs", "passes"),
    [
        (128, [15, 15, 15, 16, 16], True),
        (256, [19, 19, 19, 20, 21], False),
        (192, [17, 18, 18, 18, 20], True),
        (512, [30, 30, 30, 30, 30], False),
        (64, [16, 16, 16, 16, 16], True),
        (64, [12, 12, 12, 12, 12], False),
    ],
)
def test_worked_submissions(batch: int, runs: list[float], passes: bool) -> None:
    """The six scenarios of the same appendix have one verdict by text and by checker."""
    table = a_table(EXAMPLE)
    text = text_at(table, batch)
    assert (text is not None and table.olympic(runs) >= text.limit) is passes
    assert table.judge(batch, runs).passed is passes


def test_closed_form_is_what_the_checker_searches_for() -> None:
    """The same inputs give the same limit, up to the tolerance of its bisection."""
    for round in rcp.rounds():
        for benchmark in rcp.benchmarks(round):
            table = rcp.table(benchmark, round)
            for point in table.points:
                bar = point.bar
                ours = smallest_mean(bar.mean, bar.stdev, bar.runs, table.submission_runs - 2 * 1)
                assert max(ours, 0.0) == pytest.approx(bar.min_mean, abs=2e-4), (benchmark, round, point.batch)


def test_text_envelope_is_convex_and_below_every_point() -> None:
    for benchmark, round in (("llama2_70b_lora", "6.0"), ("dlrm_dcnv2", "6.0"), ("bert", "5.0")):
        table = rcp.table(benchmark, round)
        kept = text_envelope(table)
        x, y = [bar.batch for bar in kept], [bar.mean for bar in kept]
        slopes = np.diff(y) / np.diff(x)
        assert (np.diff(slopes) >= -1e-9).all()
        assert all(point.bar.mean >= np.interp(point.batch, x, y) - 1e-9 for point in table.points)


def test_differences_are_named_and_quantified() -> None:
    lora = {(each.kind, each.batch): each for each in differences(rcp.table("llama2_70b_lora", "6.0"))}
    pruned = lora["pruning", 16]
    assert (pruned.rule, pruned.code) == ("rcp-pruning", 4032.0)
    assert pruned.text == pytest.approx(3717.7, abs=0.1)
    at32 = text_at(rcp.table("llama2_70b_lora", "6.0"), 32)
    assert at32 is not None
    assert at32.mean == pytest.approx(4796, abs=1)
    huge = {each.batch for each in differences(rcp.table("gpt3", "4.1")) if each.kind == "vacuous"}
    assert huge == {3072}
    leeway = [each for each in differences(rcp.table("llama31_405b", "6.0")) if each.kind == "leeway"]
    assert [each.batch for each in leeway] == [1152, 2304, 4608]
    assert all(each.text - each.code == 46_080 for each in leeway)
    assert not [each for each in differences(rcp.table("llama31_405b", "5.0")) if each.kind == "leeway"]


def test_no_difference_where_there_is_none() -> None:
    """Equal runs at every point, on a convex curve: only the scaling of small batches is left."""
    table = a_table({8: [10.0] * 10, 16: [11.0] * 10, 32: [14.0] * 10})
    assert {each.kind for each in differences(table)} == {"small-batch-scaling"}
    assert all(text_keeps(table, point.batch) for point in table.points)
    assert text_bar(table, table.points[0]).min_mean == 10.0
