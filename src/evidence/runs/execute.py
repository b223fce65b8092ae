"""One job, and what comes of it on disk.

The executed notebook is written only after every code cell is known to have run; a run that failed is kept aside and
changes nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from evidence.runs.child import Child, Live, watch
from evidence.runs.complete import Failure, failure_at, find_failure
from evidence.runs.plan import Job
from evidence.runs.progress import Progress
from evidence.runs.stale import key_of, parts, prose_of, write_notebook


@dataclass(frozen=True)
class Outcome:
    """What became of a job; `seconds` is the time of the run, 0 where nothing was run."""

    job: Job
    state: Literal["ran", "fresh", "prose", "failed", "stopped"]
    seconds: float = 0.0
    failure: Failure | None = None

    @property
    def ok(self) -> bool:
        return self.state in ("ran", "fresh", "prose")

    def __str__(self) -> str:
        where = self.job.project.relative
        if self.state == "ran":
            return f"ran in {self.seconds:.1f} s -> {where(self.job.destination)}"
        if self.state == "failed":
            return f"FAILED after {self.seconds:.1f} s: {self.failure}; log {where(self.job.log)}"
        return {"fresh": "fresh", "prose": "prose renewed", "stopped": "stopped"}[self.state]


def execute(job: Job, progress: Progress, live: Live) -> Outcome:
    """Run the job in a child process; the earlier executed notebook stays unless every code cell ran."""
    began, found = time.monotonic(), parts(job)
    with _scratch(job) as folder:
        child, failure = watch(job, folder, progress, live)
        seconds = time.monotonic() - began
        written = _read(folder / "out.ipynb")
        if live.stopping and child.ended is None:
            return Outcome(job, "stopped", seconds)
        failure = failure or _judge(job, child, written)
        if failure or written is None:
            failure = failure or Failure("papermill wrote no notebook")
            _keep_failed(job, written, failure)
            return Outcome(job, "failed", seconds, failure)
    _write(job, written, _about(job, found, seconds), job.destination)
    job.failed.unlink(missing_ok=True)
    return Outcome(job, "ran", seconds)


def _about(job: Job, found: Mapping[str, str], seconds: float) -> dict[str, Any]:
    """What the executed notebook says of its run; `found` are the parts of its key, taken before it ran."""
    return {
        "complete": True,
        "key": key_of(found),
        "parts": dict(found),
        "prose": prose_of(job.source),
        "profile": job.profile,
        "device": job.device,
        "parameters": dict(job.values),
        "seconds": round(seconds, 1),
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


@contextmanager
def _scratch(job: Job) -> Iterator[Path]:
    """The run's own folder: what the worker reads and writes, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="evidence-"))
    try:
        (folder / "in.ipynb").write_text(json.dumps(job.source.data), encoding="utf-8")
        spec = {"parent": os.getpid(), "parameters": dict(job.injected)}
        (folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _judge(job: Job, child: Child, written: dict[str, Any] | None) -> Failure | None:
    """What the worker's own account says; where it says that all went well, the notebook has to agree."""
    bad = next((reply for reply in child.replies if reply.status != "ok" or reply.what), None)
    if bad or (child.ended and not child.ended["error"] and written is not None):
        return find_failure(job.source, written or {"cells": []}, child.replies, job.injected_at)
    if child.ended is None:
        what = f"the worker ended early (exit status {child.process.returncode})"
    elif child.ended["error"].startswith("DeadKernelError"):
        what = _how_it_died(child.ended.get("code"))
    else:
        what = child.ended["error"] or "papermill wrote no notebook"
    if child.current is None:
        return Failure(what)
    return failure_at(job.source, child.current, job.injected_at, what)


def _how_it_died(code: int | None) -> str:
    if code == -signal.SIGKILL:
        return "the kernel was killed (SIGKILL; most often the machine ran out of memory)"
    if code is not None and code < 0:
        return f"the kernel died of {signal.Signals(-code).name}"
    return f"the kernel ended in the middle of the cell (exit status {code})"


def _read(path: Path) -> dict[str, Any] | None:
    try:
        data: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return data


def _keep_failed(job: Job, written: dict[str, Any] | None, failure: Failure) -> None:
    """The notebook as far as it came, for whoever looks for the cause; the log is there already."""
    if written is None:
        job.failed.unlink(missing_ok=True)
        return
    about = {"complete": False, "failure": str(failure), "profile": job.profile, "parameters": dict(job.values)}
    _write(job, written, about, job.failed)


def _write(job: Job, data: dict[str, Any], about: dict[str, Any], path: Path) -> None:
    """Add what is known about the run; the scratch folder's paths are nobody's business."""
    papermill = data["metadata"].setdefault("papermill", {})
    papermill |= {"input_path": job.source.name, "output_path": job.project.relative(path)}
    data["metadata"]["evidence"] = about
    write_notebook(data, path)
