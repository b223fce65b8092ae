"""Sets are scored and judged as the official tools do; the oracle is mlperf-logging itself."""

from __future__ import annotations

import logging
import math
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlperf_logging import benchmark_meta
from mlperf_logging.rcp_checker import rcp_checker
from mlperf_logging.result_summarizer import result_summarizer

from evidence.rounds import benchmarks
from evidence.rounds.benchmarks import BENCHMARKS, eval_interval, first_eval
from evidence.rounds.gather import gather
from evidence.rounds.sets import olympic_mean, result_sets
from mllogs import lora, write_set


@pytest.fixture(autouse=True)
def _quiet() -> object:
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    logging.disable(logging.NOTSET)


SETS: dict[str, tuple[list[int], dict[str, object]]] = {
    "slower than the mean": ([3456] * 10, {}),
    "faster than the mean": ([3072] * 10, {}),
    "too fast": ([2688] * 10, {}),
    "on the limit and beside it": ([2960] * 5 + [2961] * 5, {}),
    "mixed": ([2688, 3072, 3072, 3456, 3072, 3072, 3456, 3456, 3840, 3072], {}),
    "interpolated": ([3840] * 10, {"global_batch_size": 12}),
    "a point that is pruned": ([6912] * 10, {"global_batch_size": 32}),
    "below the smallest point": ([3072] * 10, {"global_batch_size": 4}),
    "below the smallest point, too fast": ([1920] * 10, {"global_batch_size": 4}),
    "above the largest point": ([30000] * 10, {"global_batch_size": 512}),
    "three runs": ([3072] * 3, {}),
}


@pytest.mark.parametrize("name", SETS)
def test_the_verdict_is_the_official_one(name: str, tmp_path: Path) -> None:
    counts, values = SETS[name]
    folder = write_set(tmp_path / "v5.1", counts, lambda run, log: lora(run, counts[run], **values))
    (ours,) = result_sets(gather([tmp_path / "v5.1"]).rows)
    passed, message, factor = rcp_checker.check_directory(
        str(folder), "training", "5.1.0", False, False, rcp_pass="pruned_rcps"
    )
    assert (ours.rcp_pass, ours.rcp) == (passed, message)
    assert ours.normalisation == pytest.approx(factor, abs=1e-12)
    if passed:
        assert ours.score_min == pytest.approx(ours.time_to_train_min * factor)


@pytest.mark.parametrize("failed", [0, 1, 2])
def test_runs_that_do_not_converge(failed: int, tmp_path: Path) -> None:
    def edit(run: int, log: bytes) -> bytes:
        return log.replace(b'"status": "success"', b'"status": "aborted"') if run < failed else log

    folder = write_set(tmp_path / "v5.1", edit=edit)
    (ours,) = result_sets(gather([tmp_path / "v5.1"]).rows)
    passed, message, _ = rcp_checker.check_directory(
        str(folder), "training", "5.1.0", False, False, rcp_pass="pruned_rcps"
    )
    assert (ours.rcp_pass, ours.rcp, ours.converged) == (passed, message, 10 - failed)
    assert (ours.time_to_train_min is None) == (failed == 2)


def test_runs_of_different_batch_sizes_are_no_set(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "v5.1", edit=lambda run, _: lora(run, 3456, global_batch_size=8 + run % 2))
    (ours,) = result_sets(gather([tmp_path / "v5.1"]).rows)
    with pytest.raises(KeyError):  # the official checker meant to say so and stops
        rcp_checker.check_directory(str(folder), "training", "5.1.0", False, False, rcp_pass="pruned_rcps")
    assert ours.rcp_pass is False and "different batch sizes" in ours.rcp and ours.global_batch_size is None


def test_open_division_and_lone_runs_are_not_judged(tmp_path: Path) -> None:
    write_set(tmp_path / "a" / "v5.1", edit=lambda run, _: lora(run, submission_division="open"))
    write_set(tmp_path / "b" / "v5.1", [3072, 3072])
    (opened,) = result_sets(gather([tmp_path / "a" / "v5.1"]).rows)
    (lone,) = result_sets(gather([tmp_path / "b" / "v5.1"]).rows)
    assert opened.rcp_pass is None and "open" in opened.rcp
    assert lone.rcp_pass is None and "too few" in lone.rcp


@given(st.lists(st.floats(1, 1e4), min_size=0, max_size=12), st.integers(0, 5), st.sampled_from([1, 4]))
def test_the_olympic_mean_is_the_official_one(times: list[float], failed: int, dropped: int) -> None:
    official = None
    if failed <= dropped:
        official = result_summarizer._compute_olympic_average(list(times), failed, dropped)
    ours = olympic_mean(times, failed, dropped)
    assert (ours is None) == (official is None)
    assert ours is None or math.isclose(ours, official, rel_tol=1e-12)


def test_every_benchmark_with_a_table_since_4_0_is_known() -> None:
    from evidence.rounds import rcp

    for round_ in ("4.0", "4.1", "5.0", "5.1", "6.0", "6.1"):
        for name in rcp.benchmarks(round_):
            assert name in BENCHMARKS, name
            assert BENCHMARKS[name].unit == rcp.unit_of(name, round_)
            assert benchmarks.required_runs(name) == benchmark_meta.get_result_file_counts("training")[name]
            assert benchmarks.dropped_runs(name) == rcp.table(name, round_).rejected


def test_progress_keys_are_those_that_the_official_reader_takes(tmp_path: Path) -> None:
    """The same log under every name: the checker must find the value under the key that we say."""
    for name, known in BENCHMARKS.items():
        if name == "stable_diffusion":  # two metrics, tested with the real log
            continue
        log = lora(0, 3072, submission_benchmark=name).replace(b"samples_count", known.progress.encode())
        path = tmp_path / f"{name}.txt"
        path.write_bytes(log)
        assert rcp_checker.read_submission_file(str(path), "6.0.0", False)[1] == 3072


def test_targets_are_those_of_the_official_rulesets() -> None:
    """Wherever a ruleset compares eval_accuracy with a number, it is ours, on the same side."""
    import re

    from mlperf_logging import compliance_checker

    root, found = Path(compliance_checker.__file__).parent, set()
    for file in [f for r in ("4.1", "5.0", "5.1", "6.0") for f in root.glob(f"training_{r}.0/closed_*.yaml")]:
        match = re.search(r"ATLEAST_ONE_CHECK:.*?v\['value'\] (<=|>=) ([\d.]+)", file.read_text())
        known = BENCHMARKS.get(file.stem.removeprefix("closed_"))
        if match and known:
            found.add(file.stem)
            assert known.target == float(match[2]), file
            assert known.better == ("lower" if match[1] == "<=" else "higher"), file
    assert len(found) >= 9


def test_schedules_are_those_of_the_rulebook() -> None:
    from evidence.library.load import load
    from evidence.library.project import Project
    from evidence.rounds.schedule import schedule_of

    library = load(Project(Path(__file__).parents[1]))
    for name in ("flux1", "gpt_oss_20b", "llama31_8b", "llama31_405b", "llama2_70b_lora", "deepseekv3_671b"):
        rule = schedule_of(library.benchmarks["6.0"][name])
        for gbs in (8, 36, 1024, 1152, 2304, 15360):
            assert eval_interval(name, "6.0", gbs) == rule.interval_at(gbs), name
            assert first_eval(name, "6.0", gbs) == rule.first_at(gbs), name
    assert eval_interval("llama31_405b", "5.0", 1152) == 46_080
    assert eval_interval("dlrm_dcnv2", "6.0", 65536) == pytest.approx(0.05, abs=1e-4)
    assert eval_interval("stable_diffusion", "5.0", 512) is None
