"""Did every code cell run, in order, to the last? And if not, which cell, and what happened to it?

Pure functions of what the kernel answered and of the notebook that papermill wrote.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evidence.library.harvest import Notebook
from evidence.runs.cells import first_line, runs, tags


@dataclass(frozen=True)
class Reply:
    """The kernel's answer to one code cell: `index` in the executed notebook, `count` as in `In [count]`."""

    index: int
    count: int | None
    status: str
    what: str = ""


@dataclass(frozen=True)
class Failure:
    """What kept a run from being complete; `cell` is the index in the source notebook, None before the first."""

    what: str
    cell: int | None = None
    line: str = ""

    def __str__(self) -> str:
        return self.what if self.cell is None else f"cell {self.cell + 1} ({self.line}): {self.what}"


def in_source(index: int, injected: int | None) -> int:
    """The index in the source of a cell of the executed notebook, into which papermill put one at `injected`.

    The injected cell itself stands for the parameters cell before it.
    """
    return index if injected is None or index < injected else index - 1


def failure_at(source: Notebook, index: int, injected: int | None, what: str) -> Failure:
    """A failure at a cell of the executed notebook, named as a reader of the source would."""
    cell = in_source(index, injected)
    return Failure(what, cell, first_line(source.cells[cell]))


def find_failure(
    source: Notebook, executed: Mapping[str, Any], replies: Sequence[Reply], injected: int | None
) -> Failure | None:
    """What keeps a run that papermill ended from being complete; None if nothing does.

    Args:
        source: the notebook that was run.
        executed: the notebook that papermill wrote, as JSON.
        replies: what the kernel answered, in order.
        injected: index of the injected parameters in `executed`, if there are any.
    """
    for reply in replies:
        if reply.status != "ok" or reply.what:
            return failure_at(source, reply.index, injected, reply.what or f"the kernel answered {reply.status}")
    cells = executed["cells"]
    wanted = [index for index, cell in enumerate(cells) if runs(cell)]
    answered = [reply.index for reply in replies]
    for place, index in enumerate(wanted):
        if place >= len(answered) or answered[place] != index:
            skipped = "is tagged skip-execution" if "skip-execution" in tags(cells[index]) else "did not run in order"
            return failure_at(source, index, injected, skipped)
        count = cells[index].get("execution_count")
        if not count == replies[place].count == place + 1:
            return failure_at(source, index, injected, f"ran as number {count} instead of {place + 1}")
        if any(output.get("output_type") == "error" for output in cells[index].get("outputs", [])):
            return failure_at(source, index, injected, "shows an error")
    if len(answered) > len(wanted):
        return Failure(f"{len(answered)} cells ran, {len(wanted)} are there")
    if executed.get("metadata", {}).get("papermill", {}).get("exception"):
        return Failure("papermill reports an exception")
    return None
