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


def test_a_rank_that_raises_between_collectives_ends_those_that_wait_in_one(tmp_path: Path) -> None:
    """What is shown is the cause, not what it causes in the others; the next call finds nothing left."""

    def fail(folder: Path) -> None:
        (folder / str(os.getpid())).touch()
        for step in range(1_000_000):
            if (dist.get_rank(), step) == (1, 20):
                raise ValueError("the cause")
            dist.all_reduce(torch.ones(1 << 16))

    with pytest.raises(RankError, match=r"(?s)rank 1 raised.*the cause"):
        run_distributed(fail, 2, tmp_path)
    assert gone(wait_for(tmp_path, 2))
    assert run_distributed(lambda: dist.get_rank(), 2) == [0, 1]


@pytest.mark.parametrize(
    ("end", "says"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "rank 0 was ended by signal SIGKILL\nlast words"),
        (lambda: os._exit(3), "rank 0 exited with code 3\nlast words"),
        (lambda: sys.exit(4), "rank 0 raised"),
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


PARENT = """
import os, signal, sys, torch
import torch.distributed as dist
from pathlib import Path
from evidence.lab.distributed import run_distributed

# Who starts the tests in the background of a shell has Ctrl-C ignored, and every child of theirs too.
signal.signal(signal.SIGINT, signal.default_int_handler)

def reduce_until_told(folder):
    stop = torch.zeros(1 << 16)
    while not stop.any():
        stop.fill_(Path(folder, "stop").exists())
        dist.all_reduce(stop)
        Path(folder, "ids", str(os.getpid())).touch()
    return dist.get_rank()

try:
    print(run_distributed(reduce_until_told, 2, sys.argv[1]))
except KeyboardInterrupt:
    print("interrupted", run_distributed(dist.get_rank, 2))
"""
"""A run whose ranks are always in a collective, and one run more after Ctrl-C."""


def start_parent(folder: Path, name: str) -> tuple[subprocess.Popen[str], list[int]]:
    """The script in a group of its own, as a terminal gives it, and its ranks once they are reducing."""
    (folder / name / "ids").mkdir(parents=True)
    (folder / "meeting").mkdir(exist_ok=True)
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(folder / name)],
        env=os.environ | {"TMPDIR": str(folder / "meeting")},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    return parent, wait_for(folder / name / "ids", 2)


def test_ctrl_c_in_a_collective_leaves_nothing_and_another_run_alone(tmp_path: Path) -> None:
    """Two runs at once; a terminal sends Ctrl-C to the whole group of one, which can start anew at once."""
    stopped, its_ranks = start_parent(tmp_path, "stopped")
    other, other_ranks = start_parent(tmp_path, "other")
    try:
        os.killpg(stopped.pid, signal.SIGINT)
        assert stopped.communicate(timeout=LONG)[0] == "interrupted [0, 1]\n"
        assert gone(its_ranks)
        assert all(psutil.pid_exists(pid) for pid in other_ranks)
        (tmp_path / "other" / "stop").touch()
        assert other.communicate(timeout=LONG)[0] == "[0, 1]\n"
        assert gone(other_ranks) and not list((tmp_path / "meeting").iterdir())
    finally:
        stopped.kill()
        other.kill()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_no_rank_outlives_a_parent_that_is_killed_in_a_collective(how: signal.Signals, tmp_path: Path) -> None:
    """A killed kernel cannot clean up at all."""
    parent, ranks = start_parent(tmp_path, "killed")
    os.killpg(parent.pid, how)
    parent.communicate(timeout=LONG)
    assert gone(ranks)


def test_runs_at_the_same_time_do_not_meet() -> None:
    def total(value: float) -> float:
        here = torch.tensor([value])
        dist.all_reduce(here)
        return float(here)

    found: dict[float, list[float]] = {}
    threads = [
        threading.Thread(target=lambda value=value: found.update({value: run_distributed(total, 2, value)}))
        for value in (1.0, 10.0, 100.0)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {1.0: [2.0] * 2, 10.0: [20.0] * 2, 100.0: [200.0] * 2}


def test_fewer_than_one_rank_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        run_distributed(print, 0)
