"""Our figures are the official checker's, for every table that it ships."""

import json
import math
from pathlib import Path

import pytest
from mlperf_logging.rcp_checker import rcp_checker

from evidence.library.errors import InputError
from evidence.rounds import rcp

ALL = [(benchmark, round) for round in rcp.rounds() for benchmark in rcp.benchmarks(round)]
SAMPLES = {"llama2_70b_lora", "flux1", "llama31_405b", "llama31_8b", "gpt_oss_20b", "deepseekv3_671b"} | {
    "qwen35_397b_grpo",
    "dlrmv4",
}


def write_runs(folder: Path, benchmark: str, round: str, batch: int, counts: list[float]) -> None:
    """A result folder as short as the checker accepts it; infinity is a run that did not converge."""
    folder.mkdir(parents=True)
    unit = "samples_count" if benchmark in SAMPLES else "epoch_num"
    if benchmark == "stable_diffusion":
        unit = "step_num" if round == "3.1" else "samples_count"
    for number, count in enumerate(counts):
        shown = 1 if math.isinf(count) else count
        evaluations = [("eval_accuracy", 1.0, {unit: shown})]
        if benchmark == "stable_diffusion":
            evaluations = [
                ("eval_accuracy", 0.2 if m == "CLIP" else 80, {unit: shown, "metric": m}) for m in ("FID", "CLIP")
            ]
        events = [("submission_benchmark", benchmark, {}), ("global_batch_size", batch, {}), *evaluations]
        events.append(("run_stop", None, {"status": "aborted" if math.isinf(count) else "success"}))
        lines = [":::MLLOG " + json.dumps({"key": k, "value": v, "metadata": m}) for k, v, m in events]
        (folder / f"result_{number}.txt").write_text("\n".join(lines) + "\n")


def official(folder: Path, round: str, expected_benchmark: str) -> tuple[bool, str, float]:
    rcp.official_checker(expected_benchmark, round)  # fills in the run count that the package has lost for dlrm
    return rcp_checker.check_directory(str(folder), "training", f"{round}.0", False, False, rcp_pass="pruned_rcps")


@pytest.mark.parametrize(("benchmark", "round"), ALL)
def test_figures_are_the_checkers_own(benchmark: str, round: str) -> None:
    table, checker = rcp.table(benchmark, round), rcp.official_checker(benchmark, round)
    records = list(checker.rcp_data.values())
    frame = table.frame()
    assert frame["global_batch_size"].tolist() == [record["BS"] for record in records]
    assert frame["mean"].tolist() == [record["RCP Mean"] for record in records]
    assert frame["stdev"].tolist() == [record["RCP Stdev"] for record in records]
    assert frame["min_mean"].tolist() == [record["Min Epochs"] for record in records]
    assert frame["max_speedup"].tolist() == [record["Max Speedup"] for record in records]
    assert frame["runs"].tolist() == [len(record["Epochs to converge"]) for record in records]
    kept = {record["BS"] for record in checker.pruned_rcp_data.values()}
    assert set(frame.loc[frame["kept"], "global_batch_size"]) == kept
    assert set(frame["unit"]) == {rcp.unit_of(benchmark, round)}


@pytest.mark.parametrize(("benchmark", "round"), ALL)
def test_verdicts_are_the_checkers_own(benchmark: str, round: str, tmp_path: Path) -> None:
    """At a point, between two, below and above all of them; a shade above and below each limit."""
    table = rcp.table(benchmark, round)
    batches = {max(1, table.points[0].batch - 1), table.points[-1].batch, table.points[-1].batch + 1}
    batches.add((table.points[-1].batch + table.points[-2].batch) // 2)
    seen = set()
    for batch in sorted(batches):
        bar = table.bar(batch)
        means = [1.0] if bar is None else [bar.mean, *(bar.limit * shade for shade in (1 + 2e-3, 1 - 2e-3))]
        for number, mean in enumerate(means):
            count = round_as_checker(mean)
            runs = [count] * table.submission_runs
            folder = tmp_path / f"{batch}-{number}"
            write_runs(folder, benchmark, round, batch, runs)
            passed, message, factor = official(folder, round, benchmark)
            ours = table.judge(batch, runs)
            assert (ours.passed, ours.message) == (passed, message)
            assert ours.factor == pytest.approx(factor, rel=1e-12)
            seen.add(passed)
    assert seen == {True, False}, "the batch sizes tried must meet both a pass and a failure"


def round_as_checker(mean: float) -> float:
    """The checker rounds epochs to three places when it reads a log."""
    return max(round(mean, 3), 0.001)


def test_one_run_may_fail_and_two_may_not(tmp_path: Path) -> None:
    table = rcp.table("llama31_8b", "6.0")
    for failed, ok in ((1, True), (2, False)):
        runs = [345_000.0] * (10 - failed) + [math.inf] * failed
        write_runs(tmp_path / str(failed), "llama31_8b", "6.0", 128, runs)
        passed, message, _ = official(tmp_path / str(failed), "6.0", "llama31_8b")
        ours = table.judge(128, runs)
        assert (ours.passed, ours.message) == (passed, message)
        assert passed is ok


def test_leeway_passes_what_the_limit_would_not() -> None:
    table = rcp.table("llama31_405b", "6.0")
    bar = table.bar(1152)
    assert bar is not None
    assert table.judge(1152, [276_480.0] * 3).passed
    assert bar.limit < 276_480 < bar.min_mean
    assert rcp.table("llama31_8b", "6.0").leeway == 0.0


@pytest.mark.parametrize(
    ("benchmark", "round", "says"),
    [
        ("llama31_8b", "9.9", "9.9"),
        ("llama31_8B", "6.0", "did you mean 'llama31_8b'"),
        ("llama31_405b", "6.1", "round 6.1"),
    ],
)
def test_a_table_that_is_not_there_is_named(benchmark: str, round: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        rcp.table(benchmark, round)


def test_what_cannot_be_judged_is_bad_input() -> None:
    table = rcp.table("llama31_8b", "6.0")
    with pytest.raises(InputError, match="leave nothing"):
        table.judge(128, [1.0, 2.0])
    with pytest.raises(InputError, match="positive"):
        table.bar(0)
