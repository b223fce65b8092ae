"""Interleaved timing: every round times every arm once, so that a slow moment of the machine meets all arms alike.

The statistic is the ratio within a round, never the ratio of means.
"""

from __future__ import annotations

import gc
import os
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch

Arm = Callable[[], object]
Clock = Callable[[], float]

FEW_FAULTS = 64
"""Page faults in a whole round below which memory is taken to be reused; one large temporary costs thousands."""
MOST_DISCARDED = 8
"""Rounds with more faults that do not count; an arm that still makes them makes them always."""


@dataclass(frozen=True)
class Timings:
    """What the rounds gave, by arm: `seconds` per call and `faults` (page faults per call), one entry a round.

    Faults are time spent in the operating system's memory management. An arm that keeps making them while another
    does not is compared with the C library, not with the method: look at them before believing a ratio.
    """

    seconds: Mapping[str, Sequence[float]]
    faults: Mapping[str, Sequence[float]]
    calls: Mapping[str, int]
    told: Mapping[str, Sequence[float]]
    """What an arm that returns a float returned at its last call of each round: seconds of a part of it, say."""

    def ratio(self, a: str, b: str) -> list[float]:
        """Time of `a` over time of `b` in each round: above 1 where `b` is faster."""
        return [x / y for x, y in zip(self.seconds[a], self.seconds[b], strict=True)]

    def median(self, arm: str) -> float:
        """Median seconds per call."""
        return statistics.median(self.seconds[arm])


def interleave(
    arms: Mapping[str, Arm], rounds: int = 9, min_seconds: float = 0.03, device: str = "cpu", threads: int = 1
) -> Timings:
    """Time the arms against each other.

    Each arm is called untimed and then as often in every round as fills `min_seconds`; the order of the arms is
    reversed in every second round. A round in which the C allocator was still fetching memory (many page faults) is
    taken again, up to eight times in all. Python's garbage collector rests meanwhile.

    Args:
        arms: name to function without arguments.
        rounds: at least three, or no verdict can come of it.
        min_seconds: shorter calls are repeated within a round until they last so long.
        device: on `cuda` each reading of the clock waits for the GPU.
        threads: torch threads during the measurement.

    Raises:
        ValueError: no arm, or fewer than one round.
    """
    if not arms or rounds < 1:
        raise ValueError("timing needs at least one arm and one round")
    clock, discarded = _clock(device), 0
    kept: list[dict[str, tuple[float, float, float | None]]] = []
    with _torch_threads(threads), _no_collection():
        calls = {name: _calibrate(arm, min_seconds, clock) for name, arm in arms.items()}
        while len(kept) < rounds:
            order = list(arms)[:: -1 if len(kept) % 2 else 1]
            found = {name: _time(arms[name], calls[name], clock) for name in order}
            faulted = sum(faults * calls[name] for name, (_, faults, _) in found.items())
            if faulted < FEW_FAULTS or discarded == MOST_DISCARDED:
                kept.append(found)
            else:
                discarded += 1
    seconds = {name: [found[name][0] for found in kept] for name in arms}
    faults = {name: [found[name][1] for found in kept] for name in arms}
    told = {name: [last for found in kept if (last := found[name][2]) is not None] for name in arms}
    return Timings(seconds, faults, calls, told)


@contextmanager
def one_core(core: int | None = None) -> Iterator[int]:
    """Pin this thread, and the threads that it starts, to one core, so that what competes for it does so each time.

    Args:
        core: its number; the last one that this process may use by default.

    Raises:
        ValueError: this process may not use that core.
    """
    before = os.sched_getaffinity(0)
    core = max(before) if core is None else core
    if core not in before:
        raise ValueError(f"core {core} is not among {sorted(before)}")
    os.sched_setaffinity(0, {core})
    try:
        yield core
    finally:
        os.sched_setaffinity(0, before)


def _clock(device: str) -> Clock:
    if not device.startswith("cuda"):
        return time.perf_counter

    def clock() -> float:
        torch.cuda.synchronize()
        return time.perf_counter()

    return clock


def _faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def _time(arm: Arm, calls: int, clock: Clock) -> tuple[float, float, float | None]:
    """Seconds and page faults per call, and what the last call returned if that is a float."""
    faults, start = _faults(), clock()
    for _ in range(calls - 1):
        arm()
    last = arm()
    seconds = (clock() - start) / calls
    # Anything else must not be kept: it would hold memory that the next call then has to fetch anew.
    return seconds, (_faults() - faults) / calls, last if isinstance(last, float) else None


def _calibrate(arm: Arm, min_seconds: float, clock: Clock) -> int:
    """One untimed call, then the number of calls that fills `min_seconds`."""
    arm()
    calls = 1
    while (spent := _time(arm, calls, clock)[0] * calls) < min_seconds:
        # At most tenfold at a time: the first readings of a short call are the least certain.
        calls = min(calls * 10, max(calls + 1, round(calls * 1.1 * min_seconds / max(spent, 1e-9))))
    return calls


@contextmanager
def _torch_threads(threads: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _no_collection() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
