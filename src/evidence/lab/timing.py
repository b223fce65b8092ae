"""Interleaved timing: every round times every arm once, so that a slow moment of the machine meets all arms alike.

The statistic is the ratio within a round, never the ratio of means.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

Arm = Callable[[], object]


@dataclass(frozen=True)
class Timings:
    """Seconds per call: `seconds[arm]` has one entry a round."""

    seconds: Mapping[str, list[float]]
    calls: Mapping[str, int]

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

    Each arm is called once untimed, then as often within a round as fills `min_seconds`. The order is reversed in
    every second round. The garbage collector rests meanwhile.

    Args:
        arms: name to function without arguments.
        rounds: at least three, or no verdict can come of it.
        min_seconds: shorter calls are repeated within a round until they last so long.
        device: on `cuda` each clock reading waits for the GPU.
        threads: torch threads during the measurement.

    Raises:
        ValueError: no arm, or fewer than one round.
    """
    if not arms or rounds < 1:
        raise ValueError("timing needs at least one arm and one round")
    clock = _clock(device)
    names = list(arms)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    with _torch_threads(threads), _no_collection():
        calls = {name: _calibrate(arms[name], min_seconds, clock) for name in names}
        for index in range(rounds):
            for name in reversed(names) if index % 2 else names:
                seconds[name].append(_time(arms[name], calls[name], clock))
    return Timings(seconds, calls)


def _clock(device: str) -> Callable[[], float]:
    if not device.startswith("cuda"):
        return time.perf_counter
    import torch

    def clock() -> float:
        torch.cuda.synchronize()
        return time.perf_counter()

    return clock


def _time(arm: Arm, calls: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(calls):
        arm()
    return (clock() - start) / calls


def _calibrate(arm: Arm, min_seconds: float, clock: Callable[[], float]) -> int:
    """One untimed call, then the number of calls that fills `min_seconds`."""
    arm()
    calls = 1
    while (spent := _time(arm, calls, clock) * calls) < min_seconds:
        # At most tenfold at a time: the first readings of a short call are the least certain.
        calls = min(calls * 10, max(calls + 1, round(calls * 1.1 * min_seconds / max(spent, 1e-9))))
    return calls


@contextmanager
def _torch_threads(threads: int) -> Iterator[None]:
    import torch

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
