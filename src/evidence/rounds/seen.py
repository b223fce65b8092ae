"""What one pass over a log collects: settings, marks, brackets, qualities, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from evidence.rounds.findings import LogFinding
from evidence.rounds.mllog import STEP_TIME, Event

SETTINGS = {
    "submission_benchmark": "logged_benchmark",
    "submission_division": "division",
    "submission_platform": "platform",
    "global_batch_size": "global_batch_size",
    "opt_base_learning_rate": "learning_rate",
    "opt_learning_rate_warmup_steps": "warmup_steps",
    "gradient_accumulation_steps": "accumulation",
    "target_accuracy": "logged_target",
    "lowest_numerical_precision_in_linear": "precision_linear",
    "lowest_numerical_precision_linear": "precision_misnamed",
    "lowest_numerical_precision_in_attn": "precision_attention",
    "lowest_numerical_precision_in_comm": "precision_comm",
}
"""Log key -> fact. The last line counts, as it does for the official RCP checker."""

MARKS = ("init_start", "init_stop", "run_start", "run_stop")
BRACKETS = ("block_start", "block_stop", "epoch_start", "epoch_stop", "eval_start", "eval_stop")
QUALITY = ("eval_accuracy", "eval_error")


@dataclass
class Seen:
    """What one pass over a log collects; its size is that of the brackets, not of the log."""

    settings: dict[str, Any] = field(default_factory=dict)
    marks: dict[str, list[Event]] = field(default_factory=lambda: {name: [] for name in MARKS})
    first_init: float = math.inf
    brackets: list[Event] = field(default_factory=list)
    quality: list[Event] = field(default_factory=list)
    quality_at_stop: int | None = None
    seeds: dict[Any, None] = field(default_factory=dict)
    steps: list[float] = field(default_factory=list)


def collect(items: Iterable[Event | LogFinding]) -> tuple[Seen, list[LogFinding]]:
    """Sort what `mllog.read` yields into what the run table needs, and the reader's findings."""
    seen, findings = Seen(), []
    for item in items:
        if isinstance(item, LogFinding):
            findings.append(item)
        else:
            _take(seen, item)
    return seen, findings


def _take(seen: Seen, event: Event) -> None:
    key = event.key
    if key == STEP_TIME:
        if event.value is not None and math.isfinite(event.value):
            seen.steps.append(event.value)
    elif key in BRACKETS:
        seen.brackets.append(event)
    elif key in QUALITY:
        seen.quality.append(event)
    elif key in SETTINGS:
        seen.settings[SETTINGS[key]] = event.value
    elif key == "init_start":
        seen.first_init = min(seen.first_init, event.time)
    elif key in MARKS:
        seen.marks[key].append(event)
        if key == "run_stop":
            seen.quality_at_stop = len(seen.quality)
    elif key == "seed" and isinstance(event.value, int | float | str):
        seen.seeds[event.value] = None


def real(value: Any) -> float | None:
    """The value as a finite number; text, truth values and what is too large are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
