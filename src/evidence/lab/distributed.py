"""Run one function in several real processes that talk through torch.distributed (gloo), from a notebook or a test.

Functions defined in a notebook cell travel by cloudpickle. The ranks meet in a file of a fresh folder, so that runs at
the same time cannot clash and no port has to be guessed. Whatever ends the call ends every rank.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import cloudpickle

POLL_SECONDS = 0.02
SHOWN_LINES = 20

T = TypeVar("T")


class RankError(RuntimeError):
    """A rank raised or died; the message holds its traceback or the end of what it printed."""

    def __init__(self, rank: int, what: str) -> None:
        self.rank = rank
        super().__init__(f"rank {rank} {what}")


def run_distributed(
    fn: Callable[..., Any],
    world_size: int,
    *args: Any,
    timeout: float = 120.0,
    environment: Mapping[str, str] | None = None,
) -> list[Any]:
    """Call `fn(*args)` in `world_size` processes with an initialised gloo group; the results by rank.

    Inside, `torch.distributed.get_rank()` tells the ranks apart; each has one torch thread. What the ranks print
    appears here, rank by rank, once all are done.

    Args:
        fn: may be defined in a notebook cell or be a closure; it and `args` must survive cloudpickle.
        timeout: seconds for everything, start of the processes included; also the limit of one collective.
        environment: variables of the ranks beside our own, for what a library reads only at its start.

    Raises:
        RankError: a rank raised (with its traceback) or died (with the end of its output); the others are ended.
        TimeoutError: not done in time; all ranks are ended.
        ValueError: fewer than one rank.
    """
    if world_size < 1:
        raise ValueError("world_size must be at least 1")
    with tempfile.TemporaryDirectory(prefix="evidence-ranks-") as name:
        folder = Path(name)
        (folder / "task").write_bytes(cloudpickle.dumps((fn, args)))
        (folder / "setting").write_bytes(cloudpickle.dumps((sys.path, world_size, timeout)))
        ranks: list[subprocess.Popen[bytes]] = []
        try:
            for rank in range(world_size):
                ranks.append(_start(folder, rank, environment or {}))
            _wait(folder, ranks, time.monotonic() + timeout)
        finally:
            _end(ranks)
        for rank in range(world_size):
            sys.stdout.write((folder / f"{rank}.log").read_text(errors="replace"))
        return [cloudpickle.loads((folder / f"{rank}.result").read_bytes()) for rank in range(world_size)]


def deal(fn: Callable[..., T], jobs: Sequence[tuple[Any, ...]], *, workers: int = 2, timeout: float = 600.0) -> list[T]:
    """`[fn(*job) for job in jobs]` with the jobs dealt to processes in turn: for training, never for timing.

    Args:
        fn: independent of what other jobs do; may be defined in a notebook cell.
        workers: one computes here, without another process (on a GPU, which the processes would fight over).
    """
    if workers <= 1 or len(jobs) <= 1:
        return [fn(*job) for job in jobs]
    hands = [jobs[first::workers] for first in range(min(workers, len(jobs)))]

    def play() -> list[T]:
        import torch.distributed as dist

        return [fn(*job) for job in hands[dist.get_rank()]]

    played = run_distributed(play, len(hands), timeout=timeout)
    return [played[index % len(hands)][index // len(hands)] for index in range(len(jobs))]


def _start(folder: Path, rank: int, more: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """One rank in a session of its own: Ctrl-C reaches only the parent, which ends the rank with all it started."""
    environment = os.environ | {"PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"} | dict(more)
    if sys.platform == "linux":
        # Without it gloo looks up the host's own name, which in a container often leads nowhere.
        environment.setdefault("GLOO_SOCKET_IFNAME", "lo")
    with (folder / f"{rank}.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-c", "from evidence.lab.distributed import worker; worker()", str(folder), str(rank)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )


def _wait(folder: Path, ranks: Sequence[subprocess.Popen[bytes]], deadline: float) -> None:
    """Return when every rank has ended well; raise as soon as one has not."""
    while True:
        codes = [process.poll() for process in ranks]
        failed = [rank for rank, code in enumerate(codes) if code]
        if failed:
            raise _first_error(folder, failed, codes)
        silent = [rank for rank, code in enumerate(codes) if code == 0 and not (folder / f"{rank}.result").exists()]
        if silent:
            raise RankError(silent[0], "ended without a result")
        if all(code == 0 for code in codes):
            return
        if time.monotonic() > deadline:
            running = ", ".join(str(rank) for rank, code in enumerate(codes) if code is None)
            raise TimeoutError(f"rank {running} not done in time")
        time.sleep(POLL_SECONDS)


def _first_error(folder: Path, failed: Sequence[int], codes: Sequence[int | None]) -> RankError:
    """The error that came first: a rank that dies makes the others' collectives fail after it."""

    def when(rank: int) -> float:
        error = folder / f"{rank}.error"
        return error.stat().st_mtime if error.exists() else 0.0

    rank = min(failed, key=when)
    error, code = folder / f"{rank}.error", codes[rank] or 0
    if error.exists():
        return RankError(rank, f"raised:\n{error.read_text()}")
    how = f"was ended by signal {signal.Signals(-code).name}" if code < 0 else f"exited with code {code}"
    printed = (folder / f"{rank}.log").read_text(errors="replace").splitlines()[-SHOWN_LINES:]
    return RankError(rank, "\n".join([how, *printed]))


def _end(ranks: Sequence[subprocess.Popen[bytes]]) -> None:
    """End every rank with the processes that it started, and reap it."""
    for process in ranks:
        if process.stdin is not None:
            process.stdin.close()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def worker() -> None:
    """What a rank runs: meet the others, call the function, leave the result or the traceback in the folder."""
    folder, rank = Path(sys.argv[1]), int(sys.argv[2])
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        result = _call(folder, rank)
    except BaseException:
        (folder / f"{rank}.part").write_text(traceback.format_exc())
        (folder / f"{rank}.part").rename(folder / f"{rank}.error")
        os._exit(1)
    (folder / f"{rank}.result").write_bytes(result)


def _end_with_parent() -> None:
    """The parent holds our standard input open: if it goes, however it goes, this rank goes too."""
    os.read(0, 1)
    os.killpg(os.getpid(), signal.SIGKILL)


def _call(folder: Path, rank: int) -> bytes:
    import torch
    import torch.distributed as dist

    # The path first: a function of a module is only named in the task, and imported when that is read.
    sys.path[:], world_size, timeout = cloudpickle.loads((folder / "setting").read_bytes())
    fn, args = cloudpickle.loads((folder / "task").read_bytes())
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder / 'meeting'}",
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout),
    )
    result = bytes(cloudpickle.dumps(fn(*args)))
    # Nobody leaves while another may still be reading from it.
    dist.barrier()
    dist.destroy_process_group()
    return result
