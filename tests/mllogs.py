"""Logs for tests: a real LoRA log (`data/mllog/`), shifted in time and edited, as one run or as a whole submission."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

DATA = Path(__file__).parent / "data" / "mllog"
HOUR_MS = 3_600_000
REAL = (DATA / "llama2_70b_lora.txt").read_bytes()
Edit = Callable[[int, bytes], bytes]

SYSTEM: dict[str, object] = json.loads((DATA / "system.json").read_text())
"""A description with every field that the official checker wants, of 2 nodes with 4 GB200 each."""


def lora(run: int = 0, converged: int = 3072, **values: object) -> bytes:
    """The real log as run number `run` of a set: an hour later each, with a seed of its own.

    Args:
        converged: samples at the last evaluation.
        values: log key -> another value for it.
    """
    text = REAL.decode()
    text = re.sub(r'(?<="time_ms": )\d+', lambda match: str(int(match[0]) + run * HOUR_MS), text)
    text = text.replace('"samples_count": 3072', f'"samples_count": {converged}')
    for key, value in {"seed": 1000 + run, **values}.items():
        text = re.sub(rf'("key": "{key}", "value": )[^,]+', lambda m, v=value: m[1] + json.dumps(v), text)
    return text.encode()


def write_set(
    root: Path,
    counts: list[int] | None = None,
    edit: Edit = lambda run, log: log,
    system: dict[str, object] | None = None,
) -> Path:
    """A submission below `root` with one set; returns the folder of the set.

    Args:
        counts: samples to convergence, one a run; default ten runs of 3456.
        edit: changes the log of a run.
        system: the description; `{}` writes none.
    """
    folder = root / "Acme" / "results" / "box" / "llama2_70b_lora"
    folder.mkdir(parents=True)
    for run, converged in enumerate(counts or [3456] * 10):
        (folder / f"result_{run}.txt").write_bytes(edit(run, lora(run, converged)))
    said = SYSTEM if system is None else system
    if said:
        (root / "Acme" / "systems").mkdir()
        (root / "Acme" / "systems" / "box.json").write_text(json.dumps(said))
    return folder
