"""An emulated link takes its time in the way that it was told to, and in order. No assertion on speed."""

from __future__ import annotations

import os
import threading
import time

import pytest

from evidence.lab.link import Link, open_link
from evidence.lab.timing import one_core


def test_messages_arrive_one_after_another_and_never_early() -> None:
    arrived: list[str] = []
    with open_link() as link:
        start = time.perf_counter()
        for name in "abc":
            link.send(0.005).add_done_callback(lambda _, name=name: arrived.append(name))
        assert not link.send(0.005).done()
        link.wait()
        assert time.perf_counter() - start >= 0.02
    assert arrived == ["a", "b", "c"]


@pytest.mark.parametrize("share, sums", [(0.0, False), (0.5, True), (1.0, True)])
def test_the_share_decides_whether_a_message_works_or_sleeps(share: float, sums: bool) -> None:
    with open_link(share) as link:
        start = float(link._theirs[0])
        before = time.process_time()
        link.send(0.05)
        link.wait()
        worked = time.process_time() - before
        assert (float(link._theirs[0]) > start) is sums
    # Half of the time or all of it is a calibrated amount of work, which no machine does in a tenth of that.
    assert worked > 0.1 * share * 0.05


def test_work_is_an_amount_and_not_a_duration() -> None:
    """Twice the message is twice the sums, whatever the machine does meanwhile."""
    with open_link(1.0) as link:
        done = []
        for seconds in (0.01, 0.02):
            link._theirs.zero_()
            link.send(seconds)
            link.wait()
            done.append(float(link._theirs[0]))
    assert abs(done[1] - 2 * done[0]) <= 1 and done[0] > 0


def test_a_link_stays_on_the_core_of_the_one_that_opened_it() -> None:
    with one_core() as core, open_link() as link:
        assert link._thread.submit(os.sched_getaffinity, 0).result() == {core}


def test_what_goes_wrong_in_a_message_is_raised_to_the_one_who_waits() -> None:
    with open_link() as link:
        link._carry = lambda seconds: 1 / 0  # type: ignore[method-assign]
        link.send(0.001)
        with pytest.raises(ZeroDivisionError):
            link.wait()


def test_no_thread_is_left_after_an_exception() -> None:
    before = threading.active_count()
    with pytest.raises(KeyError), open_link():
        raise KeyError
    assert threading.active_count() == before


def test_a_share_beyond_one_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        Link(1.2)
