"""What a run says while it goes on, on stderr: bars on a terminal, one line a cell elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID


class Progress(Protocol):
    """Called from the threads that watch the runs; `label` names the run, cells count from 1."""

    def begin(self, label: str, cells: int) -> None: ...

    def cell(self, label: str, number: int, line: str) -> None:
        """Cell `number` starts; `line` is its first line."""

    def end(self, label: str, message: str) -> None:
        """The run is over, well or not; `message` says it in one line."""

    def say(self, message: str) -> None: ...


class Lines:
    """Plain lines, for logs: a cell is named when it is done, with the seconds that it took."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cells: dict[str, int] = {}
        self._current: dict[str, tuple[int, str, float]] = {}

    def begin(self, label: str, cells: int) -> None:
        self._cells[label] = cells

    def cell(self, label: str, number: int, line: str) -> None:
        self._finish(label)
        self._current[label] = (number, line, time.monotonic())

    def end(self, label: str, message: str) -> None:
        self._finish(label)
        self.say(f"{label}: {message}")

    def say(self, message: str) -> None:
        with self._lock:
            print(message, file=sys.stderr, flush=True)

    def _finish(self, label: str) -> None:
        if label in self._current:
            number, line, since = self._current.pop(label)
            seconds = time.monotonic() - since
            self.say(f"{label}: code cell {number}/{self._cells.get(label, '?')}  {seconds:6.1f} s  {line}")


class Bars:
    """A line a notebook that moves: bar, cell, seconds, what the cell begins with."""

    def __init__(self, bars: RichProgress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def begin(self, label: str, cells: int) -> None:
        self._tasks[label] = self._bars.add_task(label, total=cells, line="")

    def cell(self, label: str, number: int, line: str) -> None:
        if label in self._tasks:
            self._bars.update(self._tasks[label], completed=number - 1, line=line)

    def end(self, label: str, message: str) -> None:
        if label in self._tasks:
            self._bars.remove_task(self._tasks.pop(label))
        self.say(f"{label}: {message}")

    def say(self, message: str) -> None:
        self._bars.console.print(message, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def progress() -> Iterator[Progress]:
    """Bars if stderr is a terminal, lines otherwise."""
    if not sys.stderr.isatty():
        yield Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    # The line of a cell is code, so its brackets are not markup.
    line = TextColumn("{task.fields[line]}", style="dim", markup=False)
    columns = (TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), line)
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as bars:
        yield Bars(bars)
