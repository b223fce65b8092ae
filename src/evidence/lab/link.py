"""An emulated link: a thread that takes as long over a message as a link would, asleep or at work on our core.

What is emulated is time alone; nothing is sent. An effect that stands on it says `how="emulated"`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import torch

NUMBERS = 1 << 16
"""Of one unit of summing: 256 KiB, so that two operands stay in a core's own cache and leave memory alone."""
SLICES = 10
"""Turns between the engine and the core within one message."""


class Link:
    """Sends messages one after another while the caller computes, as a network's queue does.

    Args:
        share: of a message's time that is spent summing on the cores that this process may use; the rest is spent
            asleep, as if an engine of its own moved and summed the message. The summing is a fixed amount of work,
            calibrated here: where it must share a core with the caller, both take longer.
    """

    def __init__(self, share: float = 0.0) -> None:
        if not 0 <= share <= 1:
            raise ValueError(f"a share lies between 0 and 1, not at {share}")
        self.share = share
        self._mine, self._theirs = torch.ones(NUMBERS), torch.zeros(NUMBERS)
        self._unit = min(self._timed(100) for _ in range(5)) / 100 if share else 0.0
        # One thread, started here, so that it may run where this thread may (see `timing.one_core`).
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._sent: list[Future[None]] = [self._thread.submit(lambda: None)]

    def send(self, seconds: float) -> Future[None]:
        """Queue a message that takes so long on an idle machine; the future is done when it has arrived."""
        self._sent.append(self._thread.submit(self._carry, seconds))
        return self._sent[-1]

    def wait(self) -> None:
        """Return when everything sent has arrived."""
        for message in self._sent:
            message.result()
        self._sent.clear()

    def close(self) -> None:
        self._thread.shutdown()

    def _carry(self, seconds: float) -> None:
        slices = SLICES if 0 < self.share < 1 else 1
        asleep = 0.0
        for done in range(1, slices + 1):
            asleep += _sleep((1 - self.share) * seconds * done / slices - asleep)
            if self.share:
                self._sum(round(self.share * seconds / slices / self._unit))

    def _sum(self, units: int) -> None:
        for _ in range(units):
            self._theirs.add_(self._mine)

    def _timed(self, units: int) -> float:
        start = time.perf_counter()
        self._sum(units)
        return time.perf_counter() - start


@contextmanager
def open_link(share: float = 0.0) -> Iterator[Link]:
    """A link that is closed when the block ends."""
    link = Link(share)
    try:
        yield link
    finally:
        link.close()


def _sleep(seconds: float) -> float:
    """Sleep and say how long it was: what a sleep runs over is taken off the next one."""
    start = time.perf_counter()
    if seconds > 0:
        time.sleep(seconds)
    return time.perf_counter() - start
