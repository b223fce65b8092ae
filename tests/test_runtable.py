"""Facts of one run: what the brackets tell, and what they do not."""

from __future__ import annotations

import io
import json
from itertools import pairwise

import pytest

from evidence.rounds import spans
from evidence.rounds.mllog import EXCERPT, read
from evidence.rounds.runtable import NEEDS_WHOLE_LOG, Run, run_facts
from mllogs import DATA, lora


def facts(data: bytes, benchmark: str = "llama2_70b_lora") -> Run:
    return run_facts(read(io.BytesIO(data), "log"), benchmark, "log")[0]


def log(*events: tuple[float, str, dict[str, object]], **values: object) -> bytes:
    """A synthetic log: (seconds, key, metadata), then settings by key."""
    lines = [
        {"time_ms": 1_700_000_000_000 + int(1e3 * t), "key": key, "value": meta.pop("value", None), "metadata": meta}
        for t, key, meta in events
    ]
    lines += [
        {"time_ms": 1_700_000_000_000, "key": key, "value": value, "metadata": {}} for key, value in values.items()
    ]
    return b"".join(b":::MLLOG " + json.dumps(line).encode() + b"\n" for line in lines)


def at(samples: float, **more: object) -> dict[str, object]:
    return {"samples_count": samples, **more}


def test_the_parts_of_a_real_run_add_up() -> None:
    run = facts(lora())
    assert run.converged and run.status == "success"
    assert (run.global_batch_size, run.convergence, run.interval, run.first_eval, run.evals) == (8, 3072, 384, 1536, 5)
    assert run.run_s == pytest.approx(run.train_s + run.eval_blocking_s + run.uncovered_s, abs=2e-3)  # type: ignore[operator]
    assert run.eval_s == run.eval_blocking_s
    assert run.quality <= run.target == 0.925  # type: ignore[operator]
    assert 0 < run.overshoot < run.overshoot_max == 384  # type: ignore[operator]
    assert run.seeds == "1000"


def test_the_slowest_interval_of_that_run_is_its_last() -> None:
    """It switches to a wider format at step 350 of 384; the pace shows it."""
    run = facts(lora())
    assert run.pace_slowest_at == 1
    assert run.pace_slowest > 1.3 * run.pace_median  # type: ignore[operator]
    assert run.pace_first == pytest.approx(run.pace_median, rel=0.02)


def test_evaluation_beside_training_does_not_block() -> None:
    run = facts((DATA / "retinanet.txt").read_bytes(), "retinanet")
    assert run.eval_s / run.run_s > 0.4  # type: ignore[operator]
    assert run.eval_blocking_s / run.run_s < 0.15  # type: ignore[operator]
    assert run.unit == "epochs" and run.convergence == int(run.convergence)  # type: ignore[arg-type]


def test_evaluation_after_the_clock_costs_nothing() -> None:
    run = facts((DATA / "stable_diffusion.txt").read_bytes(), "stable_diffusion")
    assert run.eval_s == 0
    assert run.convergence == 2_048_000 and run.evals == 3


def test_missing_brackets_are_unknown_not_zero() -> None:
    """A real 405B log stops evaluations that it never started."""
    run = facts((DATA / "llama31_405b.txt").read_bytes(), "llama31_405b")
    assert run.converged
    assert (run.eval_s, run.train_s, run.uncovered_s, run.eval_blocking_s) == (None,) * 4
    assert run.evals == 6


def test_an_excerpt_does_not_tell_what_lies_between() -> None:
    run = facts(lora().replace(b"\n", b"\n" + EXCERPT + b" ...\n", 40))
    assert run.run_s and run.convergence == 3072
    assert all(getattr(run, name) is None for name in NEEDS_WHOLE_LOG)


def test_an_excerpt_tells_how_long_its_evaluations_took() -> None:
    """Only those of which it shows both ends: a start before the gap and a stop after it are not one evaluation."""
    marks = [(0, "run_start", {}), (90, "run_stop", {"status": "success"})]
    shown = [(10, "eval_start", at(1)), (12, "eval_stop", at(1)), (20, "eval_start", at(2)), (24, "eval_stop", at(2))]
    seam = [(30, "eval_start", at(3)), (80, "eval_stop", at(7))]
    first, rest = log(*marks, *shown), log(*seam, global_batch_size=8)
    assert facts(first + EXCERPT + b" ...\n" + rest).eval_each_s == 3.0
    assert facts(log(*marks, *seam, global_batch_size=8)).eval_each_s is None


TRAIN = [(0, "block_start", {}), (10, "block_stop", {}), (14, "block_start", {}), (20, "block_stop", {})]


@pytest.mark.parametrize(
    ("evaluation", "summed", "blocking"),
    [
        ([(10, 14)], 4.0, 4.0),
        ([(8, 14)], 6.0, 4.0),  # began beside training
        ([(10, 16)], 6.0, 4.0),  # training went on before it ended
        ([(2, 4)], 2.0, 2.0),  # a bracket around it only groups
        ([(10, 12), (12, 14)], 4.0, 4.0),
        ([(19, 25)], 3.0, 2.0),  # ends with the clock
    ],
)
def test_summed_and_blocking(evaluation: list[tuple[float, float]], summed: float, blocking: float) -> None:
    marks = [(0, "init_start", {}), (0, "init_stop", {}), (0, "run_start", {}), (22, "run_stop", {"status": "success"})]
    evals = [e for i, (a, b) in enumerate(evaluation) for e in [(a, "eval_start", at(i)), (b, "eval_stop", at(i))]]
    run = facts(log(*marks, *[(t, k, dict(m)) for t, k, m in TRAIN], *evals, global_batch_size=8))
    assert (run.eval_s, run.eval_blocking_s) == (summed, blocking)
    assert run.run_s == pytest.approx(run.train_s + run.eval_blocking_s + run.uncovered_s)  # type: ignore[operator]


def test_ranks_interleave_and_the_earliest_init_counts() -> None:
    lines = lora().splitlines(keepends=True)
    assert facts(b"".join(sorted(lines, reverse=True))).init_s == facts(b"".join(lines)).init_s


def test_epoch_benchmarks_count_epochs_rounded_as_the_checker_does() -> None:
    events = [(0, "run_start", {}), (9, "run_stop", {"status": "success"})]
    events[1:1] = [(i, "eval_accuracy", {"epoch_num": 0.05 * i, "value": 0.796 + 0.001 * i}) for i in range(1, 8)]
    run = facts(log(*events, global_batch_size=65536), "dlrm_dcnv2")  # type: ignore[arg-type]
    assert run.convergence == 0.35 and run.interval == pytest.approx(0.05)
    assert run.target == 0.80275 and run.overshoot_max == pytest.approx(0.05)


def test_spans() -> None:
    assert spans.union([(3, 4), (0, 2), (1, 3), (9, 8)]) == [(0, 4)]
    assert spans.minus([(0, 10)], [(2, 3), (5, 12)]) == [(0, 2), (3, 5)]
    assert spans.clip([(0, 10), (20, 30)], 5, 25) == [(5, 10), (20, 25)]
    assert spans.length([(0, 2), (1, 3)]) == 3
    assert all(a[1] <= b[0] for a, b in pairwise(spans.union([(0, 1), (1, 2), (5, 6)])))


@pytest.mark.parametrize("metric", [None, [], {"a": 1}, "FID"])
def test_a_metric_of_any_kind_and_absurd_numbers_do_not_stop_the_reading(metric: object) -> None:
    events = [(0.0, "run_start", {}), (9.0, "run_stop", {"status": "success"})]
    marks = [
        (i, "eval_accuracy", at(s, value=q, metric=metric)) for i, s, q in [(1, -1e308, -1e308), (2, 1e308, 1e308)]
    ]
    data = log(events[0], *marks, events[1], global_batch_size=8)  # type: ignore[arg-type]
    for benchmark in ("stable_diffusion", "dlrm_dcnv2", "llama2_70b_lora"):
        json.dumps(vars(facts(data, benchmark)), allow_nan=False)
