"""Reference convergence points (RCPs) as the official checker reads them.

The tables and the arithmetic are those of the pinned `mlperf-logging`: its `RCP_Checker` computes mean, spread, limit,
pruning and interpolation, and this module only asks it and gives the answers names. What the rules' own text would
give instead is in `evidence.rounds.rcptext`.

Convergence is counted in the table's own unit: samples for most, tokens for gpt3, epochs for the older vision and
speech benchmarks, the fraction of the only epoch for DLRM and the graph networks.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evidence.library.errors import InputError, nearest
from evidence.rounds.points import Bar, How, Judgement, Point

if TYPE_CHECKING:
    import pandas as pd

EPOCHS = frozenset({"maskrcnn", "resnet", "ssd", "retinanet", "rnnt", "dlrm"})
FRACTIONS = frozenset({"dlrm_dcnv2", "gnn", "rgat"})
LEEWAY_FROM, LEEWAY_SAMPLES = (5, 0), 46_080
"""From this ruleset on the checker lets llama31_405b beat its limit by this many samples (rule `rcp-leeway-405b`)."""


@dataclass(frozen=True)
class Table:
    """All reference convergence points of a benchmark in a round, by batch size."""

    benchmark: str
    round: str
    unit: str
    submission_runs: int
    points: tuple[Point, ...]
    checker: Any = field(repr=False, compare=False)

    @property
    def kept(self) -> tuple[Point, ...]:
        return tuple(point for point in self.points if point.kept)

    @property
    def rejected(self) -> int:
        """How many runs are dropped at either end before a mean is taken."""
        return 4 if self.benchmark == "unet3d" else 1

    @property
    def leeway(self) -> float:
        applies = self.benchmark == "llama31_405b" and tuple(map(int, self.round.split("."))) >= LEEWAY_FROM
        return float(LEEWAY_SAMPLES) if applies else 0.0

    def point(self, batch: int) -> Point | None:
        return next((point for point in self.points if point.batch == batch), None)

    def bar(self, batch: int) -> Bar | None:
        """What the checker compares a batch size with; None where it asks for a new point (`rcp-missing`).

        Raises:
            InputError: not a batch size.
        """
        if batch < 1:
            raise InputError(f"batch size {batch} is not a positive whole number", "batch size")
        pruned = {"rcp_pass": "pruned_rcps"}
        record = self.checker._find_rcp(batch, **pruned)
        if record is not None:
            return next(point.bar for point in self.points if point.batch == batch)
        low = self.checker._find_top_min_rcp(batch, **pruned)
        high = self.checker._find_bottom_max_rcp(batch, **pruned)
        if low is not None and high is not None:
            _, between = self.checker._create_interp_rcp(batch, low, high)
            return self._bar(between, batch, "interpolated", 2 * self.submission_runs)
        if high is not None:
            smallest = self.checker._find_min_rcp(**pruned)
            return self._bar(smallest, batch, "smallest", len(smallest["Epochs to converge"]) - 2 * self.rejected)
        return None

    def _bar(self, record: dict[str, Any], batch: int, how: How, runs: int) -> Bar:
        return Bar(
            batch=batch,
            how=how,
            mean=float(record["RCP Mean"]),
            stdev=float(record["RCP Stdev"]),
            min_mean=float(record["Min Epochs"]),
            runs=runs,
            leeway=self.leeway,
        )

    def olympic(self, runs: Sequence[float]) -> float:
        """The mean after dropping the extremes, as for reference and submission."""
        kept = sorted(runs)[self.rejected : len(runs) - self.rejected]
        return math.fsum(kept) / len(kept)

    def judge(self, batch: int, runs: Sequence[float]) -> Judgement:
        """The checker's verdict on a set of runs; a run that did not converge is given as infinity.

        Raises:
            InputError: too few runs to drop the extremes.
        """
        if len(runs) <= 2 * self.rejected:
            raise InputError(f"{len(runs)} runs leave nothing after the extremes are dropped", self.benchmark)
        if sum(math.isinf(run) for run in runs) > self.rejected:
            return Judgement(False, "Insufficient convergence", 1.0, None, None)
        mean, bar = self.olympic(runs), self.bar(batch)
        missing = f"Missing RCP, please submit RCP with BS = {batch}"
        if bar is None:
            return Judgement(False, missing, 1.0, mean, None)
        # The checker divides twice; comparing as it does keeps a mean on the very limit on its side.
        passed = mean >= bar.mean / bar.max_speedup
        messages: dict[How, tuple[str, str]] = {
            "point": ("RCP found", "RCP found"),
            "interpolated": ("RCP Interpolation", "RCP Interpolation"),
            "smallest": ("RCP not found but slower convergence on smaller batch size", missing),
        }
        return Judgement(passed, messages[bar.how][0 if passed else 1], max(1.0, bar.mean / mean), mean, bar)

    def frame(self) -> pd.DataFrame:
        """One row a point: the official figures, and beside them (`text_…`) those of the rules' text."""
        import pandas as pd

        from evidence.rounds.rcptext import text_bar, text_keeps

        rows = []
        for point in self.points:
            text = text_bar(self, point)
            rows.append(
                {
                    "global_batch_size": point.batch,
                    "runs": len(point.runs),
                    "mean": point.bar.mean,
                    "stdev": point.bar.stdev,
                    "min_mean": point.bar.min_mean,
                    "max_speedup": point.bar.mean / point.bar.min_mean,
                    "kept": point.kept,
                    "unit": self.unit,
                    "limit_with_leeway": point.bar.limit,
                    "text_stdev": text.stdev,
                    "text_min_mean": text.min_mean,
                    "text_max_speedup": text.max_speedup,
                    "text_kept": text_keeps(self, point.batch),
                }
            )
        return pd.DataFrame(rows)


def rounds() -> list[str]:
    """The training rounds whose tables the installed `mlperf-logging` ships, oldest first."""
    found = (re.fullmatch(r"training_(\d+)\.(\d+)\.\d+", path.name) for path in _folder().iterdir())
    return [f"{major}.{minor}" for major, minor in sorted((int(m[1]), int(m[2])) for m in found if m)]


def benchmarks(round: str) -> list[str]:
    """The benchmarks that have a table in a round.

    Raises:
        InputError: no such round.
    """
    if round not in rounds():
        raise InputError(f"no reference convergence points for round {round!r}", "--round", nearest(round, rounds()))
    return sorted(path.stem.removeprefix("rcps_") for path in _folder().glob(f"training_{round}.0/rcps_*.json"))


@lru_cache(maxsize=128)
def table(benchmark: str, round: str) -> Table:
    """The table of one benchmark in one round.

    Raises:
        InputError: no such round, or no such benchmark in it.
    """
    if benchmark not in benchmarks(round):
        raise InputError(
            f"no reference convergence points for {benchmark!r} in round {round}",
            "BENCHMARK",
            nearest(benchmark, benchmarks(round)),
        )
    with (_folder() / f"training_{round}.0" / f"rcps_{benchmark}.json").open(encoding="utf-8") as file:
        raw = json.load(file)
    return from_checker(benchmark, round, official_checker(benchmark, round), raw)


def official_checker(benchmark: str, round: str, rcp_file: Any = None) -> Any:
    """The package's own `RCP_Checker`.

    It no longer knows how many runs the first DLRM needed (rounds 1.0 to 2.1) and raises KeyError on its own tables;
    the number is still in the package's `benchmark_meta`, and is filled in from there.
    """
    from mlperf_logging import benchmark_meta
    from mlperf_logging.rcp_checker import rcp_checker

    counts = rcp_checker.submission_runs["training"]
    if benchmark not in counts:
        counts[benchmark] = benchmark_meta._ALL_RESULT_FILE_COUNTS["training"][benchmark]
    return rcp_checker.RCP_Checker("training", f"{round}.0", benchmark, False, rcp_file)


def from_checker(benchmark: str, round: str, checker: Any, raw: dict[str, dict[str, Any]]) -> Table:
    """Name what a checker has computed. `raw` is the file it read: who made each point, when and in which format."""
    shell = Table(benchmark, round, unit_of(benchmark, round), int(checker.submission_runs), (), checker)
    kept = {record["BS"] for record in checker.pruned_rcp_data.values()}
    points = []
    for name, record in checker.rcp_data.items():
        runs, batch = tuple(map(float, record["Epochs to converge"])), int(record["BS"])
        bar = shell._bar(record, batch, "point", len(runs) - 2 * shell.rejected)
        said = {key: str(raw[name].get(key, "")) for key in ("Precision", "Creator", "When")}
        points.append(
            Point(
                batch, runs, bar, batch in kept, said["Precision"], said["Creator"], said["When"], record["Hyperparams"]
            )
        )
    return Table(benchmark, round, shell.unit, shell.submission_runs, tuple(points), checker)


def unit_of(benchmark: str, round: str) -> str:
    """In what a benchmark's convergence is counted."""
    if benchmark in EPOCHS or (benchmark == "unet3d" and round not in ("3.1", "4.0")):  # its last two count samples
        return "epochs"
    if benchmark in FRACTIONS:
        return "fraction of an epoch"
    if benchmark == "gpt3":
        return "tokens"
    return "steps" if (benchmark, round) == ("stable_diffusion", "3.1") else "samples"


def _folder() -> Path:
    from mlperf_logging import rcp_checker

    return Path(str(rcp_checker.__file__)).parent
