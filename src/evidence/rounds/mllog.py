"""A streaming reader of MLLOG lines: any bytes give events, or findings with file and line, never an exception.

Real logs carry rank prefixes, progress bars, colour codes, arrow keys, cut characters and lines of other ranks (the
habits are listed in `tests/test_mllog.py`), so the token is looked for anywhere in a line, as the official parser does.
Most lines of a log are statistics that no question here needs: they are told by their head and not parsed.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from evidence.rounds.findings import LogFinding

TOKEN = b":::MLLOG "
BARE_TOKEN = b":::MLLOG"
EXCERPT = b"# ... middle of the log not collected"
"""How an excerpt says that it is one (the v6.0 sample does)."""
BLOCK = 1 << 20
"""Bytes read at once, and the longest line that is still a line: memory does not grow with a log."""
MAX_REPEATS = 20
"""Findings of one kind per file; the rest is counted."""
MAX_TIME_MS = 1e14
"""Later than the year 5000: a time stamp beyond is damage."""

STEP_TIME = "step_time"
"""Key of the events that this reader makes of `tracked_stats` lines with the time of a training step, in seconds."""

_SKIPPED = b"tracked_stats|cache_clear|weights_initialization|train_loss|tflops_per_sec_per_gpu"
_HEAD = re.compile(
    rb'\{"namespace": "[^"\\]*", "time_ms": (\d{12,14}), "event_type": "\w+", "key": "(?:' + _SKIPPED + rb') ?", '
)
_STEP = re.compile(rb'"train_step_tim(?:e|ing in s)": ([0-9.eE+-]+)[,}]')
_DECODER = json.JSONDecoder()


class Event(NamedTuple):
    """One record of a log. `time` is in milliseconds since 1970."""

    line: int
    time: float
    key: str
    value: Any
    metadata: dict[str, Any]


class Stream(Protocol):
    """What the reader needs of a file."""

    def read(self, size: int, /) -> bytes: ...


def read(stream: Stream, name: str, *, strict: bool = False) -> Iterator[Event | LogFinding]:
    """The events of a log in file order, with a finding wherever a line cannot be used.

    Args:
        stream: a file opened for reading bytes.
        name: how findings name the file.
        strict: parse every line, also the statistics that are skipped otherwise, so that no damage goes unseen.

    Yields:
        Events, and findings for: damaged or incomplete records, a token without its blank, two tokens on a line,
        text after a record, a line too long to be one, an unreadable stream, a file without any record.
    """
    seen: Counter[str] = Counter()
    records = 0
    for item in _items(stream, name, strict):
        if isinstance(item, LogFinding):
            seen[item.id] += 1
            if seen[item.id] > MAX_REPEATS:
                continue
        else:
            records += 1
        yield item
    for kind, count in seen.items():
        if count > MAX_REPEATS:
            yield LogFinding(kind, "error", name, f"{count - MAX_REPEATS} more of this kind are not shown")
    if not records:
        yield LogFinding(
            "log-empty",
            "error",
            name,
            "not one usable MLLOG record",
            "was the output of another job, or of no job, saved under this name?",
            "timing-start-stop",
        )


def _items(stream: Stream, name: str, strict: bool) -> Iterator[Event | LogFinding]:
    for number, line in _marked_lines(stream):
        if isinstance(line, str):
            yield LogFinding("log-unreadable", "error", f"{name}:{number}", line)
            continue
        if line.startswith(EXCERPT):
            yield LogFinding(
                "log-excerpt", "warning", f"{name}:{number}", "an excerpt: the middle of the log is missing"
            )
            continue
        start = line.find(TOKEN)
        if not strict and start >= 0:
            head = _HEAD.match(line, start + len(TOKEN))
            if head and line.rstrip().endswith(b"}}") and line.find(BARE_TOKEN, start + 8) < 0:
                step = _STEP.search(line, head.end())
                # A line of another kind: an event so that it counts as a record, without a value.
                yield Event(number, float(head[1]), STEP_TIME if step else "", _number(step), {})
                continue
        yield from _records(line, name, number)


def _number(match: re.Match[bytes] | None) -> float | None:
    try:
        return float(match[1]) if match else None
    except ValueError:
        return None


def _marked_lines(stream: Stream) -> Iterator[tuple[int, bytes | str]]:
    """Lines that hold the token (or say that lines are missing), numbered from 1; a text says what was wrong."""
    number, rest, dropping = 1, b"", False
    while True:
        try:
            block = stream.read(BLOCK)
        except Exception as error:  # a damaged archive raises what its format likes: lzma, zlib, tarfile, OSError
            yield number, f"reading stopped: {type(error).__name__}: {error}"
            block = b""
        if not block:
            break
        lines = (rest + block).split(b"\n")
        rest = lines.pop()
        if dropping and lines:
            lines[0], dropping = b"", False
        for line in lines:
            if BARE_TOKEN in line or line.startswith(EXCERPT):
                yield number, line
            number += 1
        if dropping:
            rest = b""
        elif len(rest) > BLOCK:
            # A progress bar without line feeds is a line for nobody; what follows its last return still counts.
            head, _, rest = rest.rpartition(b"\r")
            if len(rest) > BLOCK or not head:
                yield number, f"a line of more than {BLOCK} bytes"
                rest, dropping = b"", True
            elif BARE_TOKEN in head:
                yield number, head
    if BARE_TOKEN in rest:
        yield number, rest


def _records(line: bytes, name: str, number: int) -> Iterator[Event | LogFinding]:
    """The records of one line. The official parser breaks lines at carriage returns, and so do we."""
    place = f"{name}:{number}"
    for part in line.split(b"\r"):
        if BARE_TOKEN not in part:
            continue
        before, token, payload = part.rpartition(TOKEN)
        if not token:
            yield LogFinding(
                "record-token",
                "error",
                place,
                "':::MLLOG' without the blank that belongs to it, so that no official tool sees the record",
                "write ':::MLLOG ' and then the JSON object",
                "log-disclosure",
            )
            continue
        if TOKEN in before:
            yield LogFinding(
                "record-two-in-line",
                "error",
                place,
                "two records on one line; official tools read only the last one",
                "let one process write, or flush whole lines",
            )
        yield from _parse(payload, place, number)


def _parse(payload: bytes, place: str, number: int) -> Iterator[Event | LogFinding]:
    text = payload.decode("utf-8", "replace").strip()
    try:
        record, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError) as error:
        said = getattr(error, "msg", "") or type(error).__name__
        yield _damaged(place, f"damaged record ({said}): {text[:60]!r}")
        return
    problem = _problem(record)
    if problem:
        yield _damaged(place, f"{problem}: {text[:60]!r}")
        return
    if end != len(text):
        yield _damaged(place, f"text after the record, which official tools take for damage: {text[end : end + 40]!r}")
    # Real logs also write "" or null for no metadata, and no official tool minds.
    metadata = record["metadata"] if isinstance(record["metadata"], dict) else {}
    # Surrounding blanks in a key are a slip ('train_loss '); official tools then know no such key, and neither do we.
    yield Event(number, float(record["time_ms"]), record["key"], record["value"], metadata)


def _problem(record: Any) -> str:
    """What keeps a parsed value from being a record; empty if nothing does."""
    if not isinstance(record, dict):
        return "the record is not a JSON object"
    missing = [field for field in ("time_ms", "key", "value", "metadata") if field not in record]
    if missing:
        return f"the record lacks {', '.join(missing)}"
    time, key = record["time_ms"], record["key"]
    try:
        time = math.nan if isinstance(time, bool) else float(time)
    except (TypeError, ValueError, OverflowError):
        time = math.nan
    if not 0 <= time < MAX_TIME_MS:
        return "time_ms is no time"
    return "" if isinstance(key, str) else "key is not text"


def _damaged(place: str, message: str) -> LogFinding:
    return LogFinding("record-damaged", "error", place, message, "keep other output off the log's lines")
