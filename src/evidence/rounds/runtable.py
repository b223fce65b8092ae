"""From the events of one log to the facts of one run: where the time went, when it converged, how it was set up.

Seconds are wall clock, from the log's own time stamps. What a log does not bracket is unknown (None), never zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evidence.rounds.benchmarks import BENCHMARKS
from evidence.rounds.findings import LogFinding
from evidence.rounds.mllog import Event
from evidence.rounds.phases import phases
from evidence.rounds.progress import progress
from evidence.rounds.seen import Seen, collect, real

NEEDS_WHOLE_LOG = (
    "evals", "first_eval", "interval", "eval_s", "eval_blocking_s", "train_s", "uncovered_s", "overshoot",
    "overshoot_max", "pace_first", "pace_median", "pace_slowest", "pace_slowest_at", "steps", "step_s",
)  # fmt: skip
"""What an excerpt cannot tell."""


@dataclass(frozen=True)
class Run:
    """Facts of one run. Times in seconds; `convergence`, `interval` and overshoot in the benchmark's `unit`.

    `gap_s` lies between the end of initialisation and the start of the clock. `eval_s` is the sum of all evaluations,
    `eval_blocking_s` the part during which no training ran, `eval_each_s` the median of those evaluations of which the
    log shows both ends, `uncovered_s` what neither training nor evaluation brackets. `overshoot_max` is the last
    interval: how far back the target may have been reached at most; `overshoot` the same by linear interpolation of
    the quality. `pace_*` are training seconds per unit of convergence, interval by interval: of the first, the median
    of the others, the slowest of the others and where in the run that one ended.
    """

    benchmark: str
    division: str | None = None
    platform: str | None = None
    logged_benchmark: str | None = None
    global_batch_size: int | None = None
    learning_rate: float | None = None
    warmup_steps: float | None = None
    accumulation: float | None = None
    precision_linear: str | None = None
    precision_attention: str | None = None
    precision_comm: str | None = None
    status: str | None = None
    started_ms: int | None = None
    stopped_ms: int | None = None
    init_s: float | None = None
    gap_s: float | None = None
    run_s: float | None = None
    train_s: float | None = None
    eval_s: float | None = None
    eval_blocking_s: float | None = None
    eval_each_s: float | None = None
    uncovered_s: float | None = None
    evals: int | None = None
    first_eval: float | None = None
    interval: float | None = None
    unit: str = ""
    convergence: float | None = None
    quality: float | None = None
    target: float | None = None
    overshoot_max: float | None = None
    overshoot: float | None = None
    pace_first: float | None = None
    pace_median: float | None = None
    pace_slowest: float | None = None
    pace_slowest_at: float | None = None
    steps: int | None = None
    step_s: float | None = None
    seeds: str | None = None

    @property
    def converged(self) -> bool:
        """Stopped with success, with a time and a count to show for it."""
        return self.status == "success" and self.convergence is not None and self.run_s is not None


def run_facts(items: Iterable[Event | LogFinding], benchmark: str, name: str = "") -> tuple[Run, list[LogFinding]]:
    """The facts of a run from what `mllog.read` yields, with the findings of the reader and of this step.

    Args:
        items: events and findings of one log, in file order.
        benchmark: as the folder says; the log's own name counts where the folder's is no benchmark.
        name: how findings name the file.
    """
    seen, findings = collect(items)
    logged = _text(seen.settings.get("logged_benchmark"))
    if benchmark not in BENCHMARKS and logged in BENCHMARKS:
        benchmark = logged
    facts: dict[str, Any] = {"benchmark": benchmark}
    facts |= _settings(seen, name, findings)
    facts |= _clock(seen, name, findings)
    facts |= progress(seen, facts, name, findings)
    facts |= phases(seen, facts)
    if any(finding.id == "log-excerpt" for finding in findings):
        facts |= dict.fromkeys(NEEDS_WHOLE_LOG)
    return Run(**{key: _finite(value) for key, value in facts.items() if key in Run.__dataclass_fields__}), findings


def _finite(value: Any) -> Any:
    """Sums and ratios of absurd but finite numbers in a damaged log can overflow; such a fact is none."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _settings(seen: Seen, name: str, findings: list[LogFinding]) -> dict[str, Any]:
    values = seen.settings
    facts: dict[str, Any] = {}
    for key in (
        "division",
        "platform",
        "logged_benchmark",
        "precision_linear",
        "precision_attention",
        "precision_comm",
    ):
        facts[key] = _text(values.get(key))
    for key in ("learning_rate", "warmup_steps", "accumulation"):
        facts[key] = real(values.get(key))
    size = real(values.get("global_batch_size"))
    if size is not None and size == int(size) and size > 0:
        facts["global_batch_size"] = int(size)
    else:
        said = "no global_batch_size" if size is None else f"global_batch_size {size} is no count"
        findings.append(
            LogFinding("batch-size", "error", name, said, "log it once, as an integer", "hyperparameters-tunable")
        )
    if facts["precision_linear"] is None and "precision_misnamed" in values:
        facts["precision_linear"] = _text(values["precision_misnamed"])
        findings.append(_misnamed(name))
    facts["logged_target"] = real(values.get("logged_target"))
    facts["seeds"] = " ".join(str(seed) for seed in list(seen.seeds)[:16]) or None
    return facts


def _misnamed(name: str) -> LogFinding:
    said = "logs lowest_numerical_precision_linear, a key that no checker knows"
    mend = "the name is lowest_numerical_precision_in_linear"
    return LogFinding("precision-key", "warning", name, said, mend, "log-disclosure")


def _clock(seen: Seen, name: str, findings: list[LogFinding]) -> dict[str, Any]:
    first = {key: events[0].time if events else None for key, events in seen.marks.items()}
    start, stop, ready = first["run_start"], first["run_stop"], first["init_stop"]
    for key in ("run_start", "run_stop"):
        count = len(seen.marks[key])
        if count != 1:
            said = f"no {key}: the run is incomplete" if not count else f"{count} {key} lines"
            findings.append(LogFinding("run-marks", "error", name, said, "log it exactly once", "timing-start-stop"))
    stops = seen.marks["run_stop"]
    facts: dict[str, Any] = {
        "status": _text(stops[-1].metadata.get("status")) if stops else None,
        "started_ms": None if start is None else int(start),
        "stopped_ms": None if stop is None else int(stop),
        "init_s": None if ready is None or math.isinf(seen.first_init) else (ready - seen.first_init) / 1e3,
        "gap_s": None if start is None or ready is None else (start - ready) / 1e3,
        "run_s": None,
    }
    if start is not None and stop is not None:
        facts["run_s"] = (stop - start) / 1e3 if stop > start else None
        if stop <= start:
            findings.append(
                LogFinding("run-marks", "error", name, "run_stop lies before run_start", "", "timing-start-stop")
            )
    return facts
