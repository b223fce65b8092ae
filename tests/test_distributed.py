"""Real processes: results by rank, functions from anywhere, and nothing left behind however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
import torch
import torch.distributed as dist

from evidence.lab.distributed import RankError, run_distributed

LONG = 60.0
"""Longer than any of these tests may take: a rank that sleeps so long was ended, or the test has failed."""


def gone(pids: list[int]) -> bool:
    """Whether the processes end within a few seconds."""
    deadline = time.monotonic() + 10
    while any(psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def wait_for(folder: Path, count: int) -> list[int]:
    """The process ids that ranks left in the folder as file names, once all are there."""
    deadline = time.monotonic() + 30
    while len(found := [int(path.name) for path in folder.iterdir()]) < count:
        assert time.monotonic() < deadline, "the ranks did not start"
        time.sleep(0.02)
    return found


def leave_id_and_sleep(folder: Path) -> None:
    (folder / str(os.getpid())).touch()
    time.sleep(LONG)


def test_ranks_meet_and_results_come_by_rank(capfd: pytest.CaptureFixture[str]) -> None:
    def reduce(scale: int) -> tuple[float, int]:
        total = torch.tensor([float(scale * (dist.get_rank() + 1))])
        dist.all_reduce(total)
        print(f"rank {dist.get_rank()} of {dist.get_world_size()}")
        return float(total), torch.get_num_threads()

    assert run_distributed(reduce, 3, 10) == [(60.0, 1)] * 3
    assert run_distributed(lambda: dist.get_rank(), 2) == [0, 1]
    assert capfd.readouterr().out.splitlines() == [f"rank {rank} of 3" for rank in range(3)]


def test_a_function_of_a_notebook_cell_reaches_the_ranks(tmp_path: Path) -> None:
    """It lives in `__main__`, which the ranks do not have, and uses an import and a helper of another cell."""
    script = tmp_path / "cells.py"
    script.write_text(
        textwrap.dedent("""
            import torch.distributed as dist
            from evidence.lab.distributed import run_distributed
            offset = 5
            def helper(x): return x + offset
            def cell(x): return helper(x) * 10 ** dist.get_rank()
            print(run_distributed(cell, 2, 2))
        """)
    )
    found = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=LONG)
    assert found.stdout.strip() == "[7, 70]"


def test_a_rank_that_raises_ends_the_others_and_shows_its_traceback(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        if dist.get_rank() == 1:
            wait_for(folder, 1)
            raise ZeroDivisionError("the second rank broke")
        leave_id_and_sleep(folder)

    with pytest.raises(RankError, match=r"(?s)rank 1 raised:.*in fail.*ZeroDivisionError: the second rank") as error:
        run_distributed(fail, 2, tmp_path)
    assert error.value.rank == 1 and gone(wait_for(tmp_path, 1))


def test_the_first_error_is_shown_not_what_it_causes_in_the_others() -> None:
    def fail() -> None:
        if dist.get_rank() == 1:
            raise ValueError("the cause")
        dist.all_reduce(torch.zeros(1))

    with pytest.raises(RankError, match="the cause"):
        run_distributed(fail, 2)


@pytest.mark.parametrize(
    ("end", "says"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "rank 0 was ended by signal SIGKILL\nlast words"),
        (lambda: os._exit(3), "rank 0 exited with code 3\nlast words"),
        (lambda: os._exit(0), "rank 0 ended without a result"),
    ],
)
def test_a_rank_that_dies_ends_the_others(end: Callable[[], None], says: str, tmp_path: Path) -> None:
    def die(folder: Path) -> None:
        if dist.get_rank() == 0:
            wait_for(folder, 1)
            print("last words")
            end()
        leave_id_and_sleep(folder)

    with pytest.raises(RankError, match=says):
        run_distributed(die, 2, tmp_path)
    assert gone(wait_for(tmp_path, 1))


def test_a_result_that_cannot_travel_is_said() -> None:
    with pytest.raises(RankError, match=r"(?s)raised.*pickle"):
        run_distributed(lambda: threading.Lock(), 1)


def test_a_run_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    def hang(folder: Path) -> None:
        child = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({LONG})"])
        (folder / str(child.pid)).touch()
        leave_id_and_sleep(folder)

    start = time.monotonic()
    with pytest.raises(TimeoutError, match="rank 0"):
        run_distributed(hang, 1, tmp_path, timeout=10)
    assert time.monotonic() - start < LONG / 2
    assert gone(wait_for(tmp_path, 2))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_rank_outlives_its_parent(how: signal.Signals, tmp_path: Path) -> None:
    """Ctrl-C goes to the whole group of a terminal; a killed kernel cannot clean up at all."""
    ids = tmp_path / "ids"
    ids.mkdir()
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent("""
            import os, sys, time
            from pathlib import Path
            from evidence.lab.distributed import run_distributed
            def sleep(folder):
                (Path(folder) / str(os.getpid())).touch()
                time.sleep(60)
            run_distributed(sleep, 2, sys.argv[1])
        """)
    )
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    parent = subprocess.Popen(
        [sys.executable, str(script), str(ids)],
        env=os.environ | {"TMPDIR": str(meeting)},
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        ranks = wait_for(ids, 2)
        os.killpg(parent.pid, how)
        _, errors = parent.communicate(timeout=20)
    finally:
        parent.kill()
    assert gone(ranks)
    if how == signal.SIGINT:
        assert b"KeyboardInterrupt" in errors
        assert not list(meeting.iterdir()), "the meeting place is removed"


def test_runs_at_the_same_time_do_not_meet() -> None:
    def total(value: float) -> float:
        here = torch.tensor([value])
        dist.all_reduce(here)
        return float(here)

    found: dict[float, list[float]] = {}
    threads = [
        threading.Thread(target=lambda value=value: found.update({value: run_distributed(total, 2, value)}))
        for value in (1.0, 10.0)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {1.0: [2.0] * 2, 10.0: [20.0] * 2}


def test_fewer_than_one_rank_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        run_distributed(print, 0)
