"""Several jobs: what is fresh is left alone, the rest runs one after the other or side by side."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import FrameType

from evidence.runs.child import Live
from evidence.runs.execute import Outcome, execute
from evidence.runs.plan import Job
from evidence.runs.progress import Progress
from evidence.runs.stale import freshness, republish


def run_jobs(jobs: Sequence[Job], progress: Progress, *, at_once: int = 1, force: bool = False) -> list[Outcome]:
    """Run the jobs that are stale (all with `force`), `at_once` of them side by side; a failure stops no other.

    One at a time by default, because timings count only alone on their machine.

    Raises:
        SystemExit: SIGINT or SIGTERM came; running notebooks were ended, finished ones are kept.
    """
    live = Live()

    def one(job: Job) -> Outcome:
        outcome = _bring_up_to_date(job, progress, live, force)
        progress.end(job.label, str(outcome))
        return outcome

    with _stopped_by_signals(live), ThreadPoolExecutor(at_once) as threads:
        futures = [threads.submit(one, job) for job in jobs]
        try:
            return [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()


def _bring_up_to_date(job: Job, progress: Progress, live: Live, force: bool) -> Outcome:
    if live.stopping:
        return Outcome(job, "stopped")
    state = "stale" if force else freshness(job).state
    if state == "fresh":
        return Outcome(job, "fresh")
    if state == "prose":
        republish(job)
        return Outcome(job, "prose")
    return execute(job, progress, live)


@contextmanager
def _stopped_by_signals(live: Live) -> Iterator[None]:
    """Within, SIGINT and SIGTERM end what runs and then this process; a no-op outside the main thread."""

    def stop(number: int, frame: FrameType | None) -> None:
        live.stop()
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
