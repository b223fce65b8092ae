"""The order and number of calls, what is divided by what, and that everything is put back. No assertion on speed."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch

from evidence.lab.device import PINNED_ALLOCATOR
from evidence.lab.timing import MOST_DISCARDED, interleave, one_core


def test_rounds_take_every_arm_once_and_reverse_every_second_time() -> None:
    order: list[str] = []
    # 3 ms per call and no repetition: each round calls each arm exactly once.
    arms = {name: lambda name=name: (order.append(name), time.sleep(0.003)) for name in "abc"}
    found = interleave(arms, rounds=4, min_seconds=0.001)
    assert found.calls == {"a": 1, "b": 1, "c": 1}
    assert "".join(order[-12:]) == "abccbaabccba"
    assert [len(found.seconds[name]) for name in "abc"] == [4, 4, 4]


def test_seconds_are_those_of_one_call_however_often_it_is_repeated() -> None:
    calls = 0

    def sleep() -> None:
        nonlocal calls
        calls += 1
        time.sleep(0.002)

    start = time.perf_counter()
    found = interleave({"sleep": sleep}, rounds=3, min_seconds=0.01)
    elapsed = time.perf_counter() - start
    assert 2 <= found.calls["sleep"] <= 6
    assert calls >= 1 + 3 * found.calls["sleep"]
    # A sleep never ends early, and what was timed cannot exceed what went by.
    assert all(seconds >= 0.002 for seconds in found.seconds["sleep"])
    assert sum(found.seconds["sleep"]) * found.calls["sleep"] <= elapsed


def test_ratios_are_taken_within_a_round() -> None:
    found = interleave({"a": lambda: None, "b": lambda: sum(range(100))}, rounds=3, min_seconds=0.001)
    assert found.ratio("a", "b") == [x / y for x, y in zip(found.seconds["a"], found.seconds["b"], strict=True)]
    assert found.ratio("a", "a") == [1.0, 1.0, 1.0]
    assert sorted(found.seconds["a"])[1] == found.median("a")


def test_an_arm_may_tell_the_seconds_of_a_part_of_it() -> None:
    told = iter(float(number) for number in range(100))
    found = interleave({"a": lambda: next(told), "b": lambda: torch.ones(1)}, rounds=3, min_seconds=0.0)
    assert found.told == {"a": [2.0, 3.0, 4.0], "b": []}


def test_threads_and_garbage_collection_are_set_and_put_back() -> None:
    seen: set[tuple[int, bool]] = set()
    before = torch.get_num_threads()
    interleave({"a": lambda: seen.add((torch.get_num_threads(), gc.isenabled()))}, 1, 0.0, threads=before + 1)
    assert seen == {(before + 1, False)}
    assert torch.get_num_threads() == before and gc.isenabled()

    def fail() -> None:
        raise RuntimeError("arm broke")

    with pytest.raises(RuntimeError, match="arm broke"):
        interleave({"a": fail}, threads=before + 1)
    assert torch.get_num_threads() == before and gc.isenabled()


def test_an_arm_that_keeps_fetching_memory_is_discarded_for_a_while_and_then_shown() -> None:
    calls = 0
    page = os.sysconf("SC_PAGE_SIZE")

    def fresh() -> None:
        nonlocal calls
        import mmap

        calls += 1
        with mmap.mmap(-1, 200 * page) as memory:
            for index in range(200):
                memory[index * page] = 1

    found = interleave({"fresh": fresh, "calm": lambda: None}, rounds=2, min_seconds=0.0)
    assert calls == 2 + MOST_DISCARDED + 2
    assert min(found.faults["fresh"]) >= 200 > max(found.faults["calm"])


def test_the_pinned_allocator_reuses_memory_where_the_default_does_not(tmp_path: Path) -> None:
    script = (
        "import torch\n"
        "from evidence.lab.timing import interleave\n"
        "print(sum(interleave({'a': lambda: torch.ones(16 << 20)}, 3, 0.0).faults['a']))\n"
    )
    bare = {key: value for key, value in os.environ.items() if not key.startswith("MALLOC_")}
    outputs = [
        float(subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, check=True).stdout)
        for env in (bare, bare | PINNED_ALLOCATOR)
    ]
    assert outputs[0] > 10_000 > 1_000 > outputs[1]


def test_one_core_pins_this_thread_and_those_it_starts() -> None:
    before = os.sched_getaffinity(0)
    seen: list[set[int]] = []
    with one_core() as core:
        thread = threading.Thread(target=lambda: seen.append(os.sched_getaffinity(0)))
        thread.start()
        thread.join()
        assert os.sched_getaffinity(0) == {core} == seen[0]
    assert os.sched_getaffinity(0) == before
    with pytest.raises(ValueError, match="not among"), one_core(10_000):
        pass


@pytest.mark.parametrize(("arms", "rounds"), [({}, 3), ({"a": lambda: None}, 0)])
def test_nothing_to_time_is_refused(arms: dict[str, object], rounds: int) -> None:
    with pytest.raises(ValueError, match="at least one"):
        interleave(arms, rounds)  # type: ignore[arg-type]
