"""What each benchmark logs and when it must evaluate: what a reader of logs needs beside the official package.

Units, targets and run counts belong to the benchmark; evaluation schedules also to the round. Sources: the rules of
v6.0 with their appendices on retired benchmarks (training_policies at d73e20f), and for v5.0 the 405B history there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from evidence.library.errors import InputError

DLRM_SAMPLES = 4_195_197_692
GPT3_TOKENS = 2048


@dataclass(frozen=True)
class Benchmark:
    """How a benchmark counts convergence.

    `target` is the quality to reach, `better` says on which side; None where one number cannot say it (Stable
    Diffusion wants FID and CLIP). `progress` is the metadata key whose value the official RCP checker takes.
    """

    unit: str
    progress: str = "samples_count"
    target: float | None = None
    better: str = "lower"

    def reached(self, quality: float, target: float | None = None) -> bool:
        """Whether a quality passes the target (the logged one if given)."""
        goal = self.target if target is None else target
        if goal is None:
            return False
        return quality <= goal if self.better == "lower" else quality >= goal


BENCHMARKS = {
    "bert": Benchmark("samples", "epoch_num", 0.72, "higher"),
    "deepseekv3_671b": Benchmark("samples", target=3.6),
    "dlrm_dcnv2": Benchmark("fraction of an epoch", "epoch_num", 0.80275, "higher"),
    "dlrmv4": Benchmark("samples", target=0.75, better="higher"),
    "flux1": Benchmark("samples", target=0.586),
    "gnn": Benchmark("fraction of an epoch", "epoch_num", 0.72, "higher"),
    "gpt3": Benchmark("tokens", "epoch_num", 2.69),
    "gpt_oss_20b": Benchmark("samples", target=3.34),
    "llama2_70b_lora": Benchmark("samples", target=0.925),
    "llama31_405b": Benchmark("samples", target=5.6),
    "llama31_8b": Benchmark("samples", target=3.3),
    "qwen35_397b_grpo": Benchmark("samples", target=0.69, better="higher"),
    "resnet": Benchmark("epochs", "epoch_num", 0.759, "higher"),
    "retinanet": Benchmark("epochs", "epoch_num", 0.34, "higher"),
    "rgat": Benchmark("fraction of an epoch", "epoch_num", 0.72, "higher"),
    "ssd": Benchmark("epochs", "epoch_num", 0.34, "higher"),
    "stable_diffusion": Benchmark("samples"),
    "unet3d": Benchmark("samples", "epoch_num", 0.908, "higher"),
}

DROPPED = {"unet3d": 4}
"""Runs dropped at either end where it is not one (rule `scoring-olympic`; UNet3D by its appendix)."""


def dropped_runs(benchmark: str) -> int:
    """Runs dropped at either end of a set."""
    return DROPPED.get(benchmark, 1)


def required_runs(benchmark: str) -> int | None:
    """Runs in a result, by the official package; None for a benchmark that it does not know."""
    from mlperf_logging.benchmark_meta import get_result_file_counts

    count = get_result_file_counts("training").get(benchmark)
    return None if count is None else int(count)


def _whole_batches(samples: int) -> Callable[[int], float]:
    return lambda gbs: math.ceil(samples / gbs) * gbs


def _at_least(round_: str, other: str) -> bool:
    return tuple(map(int, round_.split("."))) >= tuple(map(int, other.split(".")))


def eval_interval(benchmark: str, round_: str, gbs: int) -> float | None:
    """Distance between evaluations that the rules of a round ask for, in the benchmark's unit of convergence.

    None where the rule is no fixed distance (Stable Diffusion may leave out checkpoints), or not known here.
    """
    rules: dict[str, Callable[[int], float]] = {
        "bert": lambda b: math.floor(0.05 * (230.23 * b + 3_000_000) / 25_000) * 25_000,
        "deepseekv3_671b": lambda b: b,
        "dlrm_dcnv2": lambda b: b * math.floor(DLRM_SAMPLES / (b * 20)) / DLRM_SAMPLES,
        "flux1": _whole_batches(262_144),
        "gpt3": lambda b: math.ceil(24_576 / b) * b * GPT3_TOKENS,
        "gpt_oss_20b": _whole_batches(12_288),
        "llama2_70b_lora": _whole_batches(384),
        "llama31_405b": _whole_batches(18_432 if _at_least(round_, "5.1") else 46_080),
        "llama31_8b": _whole_batches(12_288),
        "retinanet": lambda _: 1,
        "rgat": lambda _: 0.05,
        "ssd": lambda _: 1,
    }
    rule = rules.get(benchmark)
    return float(rule(gbs)) if rule and gbs > 0 else None


def first_eval(benchmark: str, round_: str, gbs: int) -> float | None:
    """The earliest evaluation that the rules allow to be the first; None where none is skipped or it is not known."""
    interval = eval_interval(benchmark, round_, gbs)
    if interval is None:
        return None
    skipped = {
        "llama2_70b_lora": math.floor(0.125 * gbs + 2),
        "llama31_405b": math.floor(0.0026 * gbs + 12) if _at_least(round_, "5.1") else 0,
    }
    if benchmark == "deepseekv3_671b" and _at_least(round_, "6.1"):
        return float(gbs * math.floor(42 + 24_576 / gbs))
    return (skipped.get(benchmark, 0) + 1) * interval


ROUND_IN_NAME = re.compile(r"(?:^|[^a-z0-9])v(\d+\.\d+)(?=$|[^0-9])", re.IGNORECASE)


def round_of(*names: str) -> str | None:
    """The round that a path speaks of (`v5.1.tar.xz`, `training_results_v5.1/NVIDIA`); the last one named counts."""
    for name in names:
        found = ROUND_IN_NAME.findall(name)
        if found:
            return str(found[-1])
    return None


def ruleset(round_: str) -> str:
    """The official name of a round's rules: `5.1` is `5.1.0`.

    Raises:
        InputError: a round that the installed mlperf-logging has no rules for.
    """
    name = round_.removeprefix("v")
    name = name if name.count(".") == 2 else f"{name}.0"
    from mlperf_logging.compliance_checker.mlp_compliance import rule_choices

    if name not in rule_choices() or name < "1":
        known = ", ".join(sorted(r.removesuffix(".0") for r in rule_choices() if r >= "1"))
        raise InputError(f"no rules for round {round_!r}", where="--round", mend=f"one of {known}")
    return name
