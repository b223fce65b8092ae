"""Ending `evidence` itself, however it happens: finished notebooks are kept, and no kernel is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from conftest import MiniBook
from evidence.runs.plan import run_of

pytestmark = pytest.mark.notebook

PARAMETERS = ("parameters", 'device = "auto"\nprofile = "ci"\nseed = 0')
READS = ("code", "print(device, profile, seed)")
HANGS = """
import os, pathlib, subprocess, time
child = subprocess.Popen(["sleep", "300"])
pathlib.Path("pids.part").write_text(f"{os.getpid()} {os.getppid()} {child.pid}")
os.replace("pids.part", "pids")
time.sleep(300)
"""


def wait_for(what: Callable[[], bool], seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.05)
    return what()


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_killing_the_command_loses_nothing_and_leaves_nothing(
    mini_book: MiniBook, tmp_path: Path, number: signal.Signals
) -> None:
    project = mini_book.project
    mini_book.notebook("a-done", [PARAMETERS, READS])
    mini_book.notebook("b-hangs", [PARAMETERS, READS, ("code", HANGS)])
    earlier = mini_book.write("notebooks/_executed/b-hangs.ipynb", "earlier")
    (tmp_path / "scratch").mkdir()
    command = subprocess.Popen(
        [sys.executable, "-c", "from evidence.cli import main; main()", "run", "a-done", "b-hangs"],
        env={**os.environ, "EVIDENCE_ROOT": str(mini_book.root), "TMPDIR": str(tmp_path / "scratch")},
        stderr=subprocess.PIPE,
        text=True,
    )
    pids = project.notebooks / "pids"
    try:
        assert wait_for(pids.exists)
        command.send_signal(number)
        _, said = command.communicate(timeout=30)
    finally:
        command.kill()
    assert command.returncode == (-number if number == signal.SIGKILL else 128 + number)
    for pid in map(int, pids.read_text().split()):
        assert wait_for(lambda pid=pid: gone(pid), 20), f"process {pid} is left"
    assert run_of(project.executed_notebook("a-done"))["complete"] is True
    assert "a-done: ran in" in said
    assert earlier.read_text() == "earlier"
    assert wait_for(lambda: not list((tmp_path / "scratch").iterdir()), 20)
    assert [path.name for path in project.executed.glob(".*.part")] == []
