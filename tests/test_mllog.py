"""The reader: habits of real logs, at least 25 kinds of broken ones, and any bytes at all."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.rounds import mllog
from evidence.rounds.findings import LogFinding
from evidence.rounds.gather import gather
from evidence.rounds.mllog import Event, read
from evidence.rounds.rejected import check
from evidence.rounds.runtable import run_facts
from evidence.rounds.sets import result_sets
from mllogs import DATA, REAL, write_set


def parsed(data: bytes, *, strict: bool = False) -> tuple[list[Event], list[LogFinding]]:
    items = list(read(io.BytesIO(data), "log", strict=strict))
    return [i for i in items if isinstance(i, Event)], [i for i in items if isinstance(i, LogFinding)]


def record(**fields: object) -> bytes:
    said = {"namespace": "", "time_ms": 1_700_000_000_000, "event_type": "POINT_IN_TIME", "key": "seed", "value": 1}
    return b":::MLLOG " + json.dumps(said | {"metadata": {}} | fields).encode() + b"\n"


def test_habits_of_real_logs() -> None:
    events, findings = parsed((DATA / "habits.txt").read_bytes(), strict=True)
    assert [event.line for event in events] == [1, 2, 3, 5, 6, 8]
    assert [event.key for event in events][3:] == ["run_start", "eval_accuracy", "train_samples"]
    assert [(f.id, f.place) for f in findings] == [("record-damaged", "log:4")]


def test_a_real_log_has_no_findings() -> None:
    events, findings = parsed(REAL, strict=True)
    assert not findings
    assert len(events) == REAL.count(b":::MLLOG")


def test_statistics_are_told_by_their_head_and_not_parsed() -> None:
    """What the fast path skips, it still counts; the strict reading gives the same events with their values."""
    fast, _ = parsed(REAL)
    slow, _ = parsed(REAL, strict=True)
    assert len(fast) == len(slow)
    assert [e for e in fast if e.key not in ("", mllog.STEP_TIME)] == [
        e for e in slow if e.key not in ("tracked_stats", "cache_clear")
    ]


def test_step_times_come_out_of_statistics() -> None:
    line = record(key="tracked_stats", value={"train_step_time": 0.25, "loss": 1.0}, metadata={"step": 3})
    events, _ = parsed(line)
    assert [(event.key, event.value) for event in events] == [(mllog.STEP_TIME, 0.25)]


def test_damage_in_a_statistic_is_found_when_it_matters() -> None:
    line = record(key="tracked_stats", value={"a": 1}).replace(b'"a": 1', b'"a": 1Lambda')
    assert not parsed(line)[1]
    assert [f.id for f in parsed(line, strict=True)[1]] == ["record-damaged", "log-empty"]


def test_a_long_progress_bar_does_not_hide_what_follows() -> None:
    bar = b"\r".join(b" %d%%" % (i % 100) for i in range(400_000))
    assert len(bar) > mllog.BLOCK
    events, findings = parsed(bar + b"\r" + record() + record())
    assert len(events) == 2 and not findings


def test_a_line_without_end_is_a_finding_and_memory_stays_bounded() -> None:
    events, findings = parsed(b"x" * (3 * mllog.BLOCK) + b"\n" + record())
    assert [f.id for f in findings] == ["log-unreadable"] and len(events) == 1


def test_findings_of_one_kind_are_counted_beyond_twenty() -> None:
    _, findings = parsed(b":::MLLOG {\n" * 100 + record())
    assert len(findings) == mllog.MAX_REPEATS + 1
    assert "80 more" in findings[-1].message


def test_an_unreadable_stream_is_a_finding() -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise EOFError("the archive ends here")

    assert [f.id for f in read(Broken(), "log") if isinstance(f, LogFinding)] == ["log-unreadable", "log-empty"]


def without(key: bytes) -> Callable[[bytes], bytes]:
    return lambda log: b"".join(line for line in log.splitlines(keepends=True) if b'"key": "' + key not in line)


def swap(old: bytes, new: bytes, count: int = -1) -> Callable[[bytes], bytes]:
    def edit(log: bytes) -> bytes:
        assert old in log
        return log.replace(old, new, count)

    return edit


def doubled(key: bytes) -> Callable[[bytes], bytes]:
    return lambda log: b"".join(
        line * 2 if b'"key": "' + key + b'"' in line else line for line in log.splitlines(keepends=True)
    )


DEEP = b":::MLLOG " + b"[" * 3000 + b"\n"
BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda log: b"",
    "no records": lambda log: b"bash: python: command not found\n",
    "cut in the middle of a record": lambda log: log[: log.index(b"run_stop") + 4],
    "another rank's output inside a record": swap(b'"key": "opt_base', b'"key": "opt_0: step 3\nbase', 1),
    "text after a record": swap(b'"lineno": 3}}', b'"lineno": 3}} done', 1),
    "two records on one line": lambda log: log.replace(b"\n", b"", 3),
    "token without its blank": swap(b":::MLLOG {", b":::MLLOG{", 6),
    "byte order mark and UTF-16": lambda log: log.decode().encode("utf-16"),
    "NUL bytes": swap(b'"seed"', b'"se\0ed"'),
    "a record that is a list": lambda log: b":::MLLOG [1, 2]\n" + log,
    "a record that is a number": lambda log: b":::MLLOG 7\n" + log,
    "nested without end": lambda log: DEEP + log,
    "no time": swap(b'"time_ms": ', b'"time": ', 8),
    "time as a date": swap(b'"time_ms": 17', b'"time_ms": "2025-10-10", "was": 17', 8),
    "time that is infinite": swap(b'"time_ms": 17', b'"time_ms": 1e999, "was": 17', 8),
    "a number too long to read": swap(b'"time_ms": 17', b'"time_ms": ' + b"9" * 5000 + b', "was": 17', 8),
    "time before 1970": swap(b'"time_ms": 17', b'"time_ms": -17', 8),
    "no key": swap(b'"key": "seed"', b'"name": "seed"'),
    "key that is no text": swap(b'"key": "seed"', b'"key": 5'),
    "no value": swap(b'"key": "seed", "value"', b'"key": "seed", "worth"'),
    "no metadata": swap(b'"metadata"', b'"meta"'),
    "metadata that is text": swap(b'"metadata": {', b'"metadata": "none", "was": {'),
    "no run_start": without(b"run_start"),
    "no run_stop": without(b"run_stop"),
    "no init_stop": without(b"init_stop"),
    "two run_stop": doubled(b"run_stop"),
    "run_stop before run_start": swap(b'"key": "run_stop"', b'"key": "run_later"'),
    "aborted": swap(b'"status": "success"', b'"status": "aborted"'),
    "no status": swap(b'"status": "success"', b'"state": "success"'),
    "no evaluation": without(b"eval_"),
    "no samples_count": swap(b'"samples_count"', b'"epoch_num"'),
    "samples_count as text": swap(b'"samples_count": 3456', b'"samples_count": "3456"'),
    "quality as text": swap(b'"key": "eval_accuracy", "value": 0', b'"key": "eval_accuracy", "value": "0", "was": 0'),
    "quality that is NaN": swap(
        b'"key": "eval_accuracy", "value": 0', b'"key": "eval_accuracy", "value": NaN, "was": 0'
    ),
    "no batch size": without(b"global_batch_size"),
    "batch size as text": swap(b'"global_batch_size", "value": 8', b'"global_batch_size", "value": "8"'),
    "batch size with a half": swap(b'"global_batch_size", "value": 8', b'"global_batch_size", "value": 8.5'),
    "batch size of zero": swap(b'"global_batch_size", "value": 8', b'"global_batch_size", "value": 0'),
    "no seed": without(b"seed"),
    "seed that is a list": swap(b'"key": "seed", "value": ', b'"key": "seed", "value": [], "was": '),
    "another benchmark": swap(b'"value": "llama2_70b_lora"', b'"value": "bert"'),
    "no such benchmark": swap(b'"value": "llama2_70b_lora"', b'"value": "llama9"'),
    "benchmark that is no text": swap(b'"value": "llama2_70b_lora"', b'"value": {"a": 1}'),
    "no such division": swap(b'"value": "closed"', b'"value": "ajar"'),
    "division that names a file": swap(b'"value": "closed"', b'"value": "../../../../tmp/rules"'),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_every_broken_log_gives_findings_and_a_row(kind: str, tmp_path: Path) -> None:
    root = tmp_path / "v5.1"
    write_set(root, [3456], lambda run, log: BROKEN[kind](log))
    found = gather([root])
    assert len(result_sets(found.rows)) == 1
    named = [f for f in check(root) if "result_0.txt" in f.place + f.message]
    assert named, kind
    assert all("Traceback" not in f.message for f in named)


def test_there_are_at_least_25_kinds() -> None:
    assert len(BROKEN) >= 25


def test_some_of_these_stop_the_official_tools(tmp_path: Path) -> None:
    """Otherwise the test above would say little: the crash is what a submitter sees today."""
    stopped = set()
    for kind in ("no key", "no samples_count", "nested without end", "quality as text", "no metadata"):
        root = tmp_path / kind / "v5.1"
        write_set(root, [3456], lambda run, log, kind=kind: BROKEN[kind](log))
        stopped |= {(kind, f.id) for f in check(root) if f.id.endswith("-stops")}
    assert {kind for kind, _ in stopped} >= {"no key", "no samples_count", "nested without end", "no metadata"}
    assert {tool for _, tool in stopped} >= {"compliance-checker-stops", "RCP-checker-stops"}


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
keys = st.sampled_from(
    ["run_start", "run_stop", "init_start", "init_stop", "eval_start", "eval_stop", "eval_accuracy", "block_start",
     "block_stop", "epoch_start", "global_batch_size", "submission_benchmark", "seed", "tracked_stats"]
)  # fmt: skip
records = st.fixed_dictionaries(
    {},
    optional={
        "time_ms": st.integers(0, 10**13) | json_values,
        "key": keys | json_values,
        "value": json_values,
        "metadata": st.dictionaries(
            st.sampled_from(["samples_count", "epoch_num", "status", "metric"]), json_values, max_size=3
        )
        | json_values,
    },
)
lines = st.binary(max_size=60) | records.map(lambda r: b":::MLLOG " + json.dumps(r).encode()) | st.just(REAL[:4000])


@settings(max_examples=250, deadline=None)
@given(st.lists(lines, max_size=30).map(b"\n".join), st.sampled_from(["llama2_70b_lora", "stable_diffusion", "x"]))
def test_any_bytes_give_a_result_or_findings(data: bytes, benchmark: str) -> None:
    for strict in (False, True):
        run, findings = run_facts(read(io.BytesIO(data), "log", strict=strict), benchmark, "log")
        assert run.converged or findings
        json.dumps(vars(run), allow_nan=False)
