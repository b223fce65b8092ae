"""The child process that runs a notebook, watched to its end.

It leads a process group of its own, so that ending it takes along everything that it started.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evidence.runs.cells import first_line
from evidence.runs.complete import Failure, Reply, failure_at, in_source
from evidence.runs.environment import child_environment, signal_group
from evidence.runs.plan import Job
from evidence.runs.progress import Progress

PATIENCE = 15.0
"""Seconds that a child has to end by itself after its last word."""


@dataclass
class Child:
    """A running worker, as far as it is known from its events."""

    job: Job
    process: subprocess.Popen[bytes]
    started: float
    kernel: int | None = None
    current: int | None = None
    current_since: float = 0.0
    replies: list[Reply] = field(default_factory=list)
    ended: dict[str, Any] | None = None
    cells: int = 0

    def take(self, event: dict[str, Any], progress: Progress) -> None:
        """Note what the worker tells."""
        match event["event"]:
            case "kernel":
                self.kernel = event["pid"]
            case "cells":
                progress.begin(self.job.label, event["total"])
            case "start":
                index, injected = event["index"], self.job.injected_at
                self.current, self.current_since = index, time.monotonic()
                self.cells += 1
                cell = self.job.source.cells[in_source(index, injected)]
                line = "injected parameters" if index == injected else first_line(cell)
                progress.cell(self.job.label, self.cells, line)
            case "done":
                self.replies.append(Reply(event["index"], event["count"], event["status"], event["what"]))
                self.current = None
            case "end":
                self.ended = event

    def time_left(self) -> tuple[float, str]:
        """Seconds until a limit is reached, and what to say then."""
        now, job = time.monotonic(), self.job
        whole = job.limit - (now - self.started)
        if job.cell_limit is not None and self.current is not None:
            cell = job.cell_limit - (now - self.current_since)
            if cell < whole:
                return cell, f"ran past the limit of {job.cell_limit:g} s for a cell"
        return whole, f"the notebook ran past its limit of {job.limit:g} s"

    def stop(self) -> None:
        """End worker and kernel, with everything that they started."""
        signal_group(self.kernel, signal.SIGKILL)
        signal_group(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Live:
    """The children that run now, so that whoever ends this process can end them."""

    def __init__(self) -> None:
        self.children: set[int] = set()
        self.stopping = False

    def stop(self) -> None:
        """Ask every worker to end; each takes its kernel along, and the thread that watches it sees it go."""
        self.stopping = True
        for pid in tuple(self.children):
            signal_group(pid, signal.SIGTERM)


def watch(job: Job, folder: Path, progress: Progress, live: Live) -> tuple[Child, Failure | None]:
    """Start the worker and follow it until it closes its pipe or reaches a limit."""
    reading, writing = os.pipe()
    job.log.parent.mkdir(parents=True, exist_ok=True)
    try:
        with job.log.open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "evidence.runs.worker", str(folder), str(writing)],
                cwd=job.project.notebooks,
                env=child_environment(job.project, folder),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=(writing,),
                start_new_session=True,
            )
    finally:
        os.close(writing)
    child = Child(job, process, time.monotonic())
    live.children.add(process.pid)
    try:
        if live.stopping:
            live.stop()
        late = _follow(child, reading, progress)
        if not late:
            process.wait(PATIENCE)
        return child, late
    except subprocess.TimeoutExpired:
        return child, Failure(f"the worker did not end within {PATIENCE:g} s of its last cell")
    finally:
        live.children.discard(process.pid)
        os.close(reading)
        child.stop()


def _follow(child: Child, reading: int, progress: Progress) -> Failure | None:
    """Take the worker's events until it closes the pipe; a failure if a time limit is reached first."""
    rest = b""
    while True:
        left, what = child.time_left()
        if left <= 0 or not select.select([reading], [], [], left)[0]:
            left, what = child.time_left()
            if left > 0:
                continue
            if child.current is None:
                return Failure(what)
            return failure_at(child.job.source, child.current, child.job.injected_at, what)
        chunk = os.read(reading, 1 << 16)
        if not chunk:
            return None
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            child.take(json.loads(line), progress)
