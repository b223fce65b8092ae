"""The M>N rule: which N consecutive runs of M to submit, and what picking the best would have gained.

A submitter may launch M runs as one group, order them by an objective measure, score every window of N consecutive
ones and submit the one with the median score (rule `scoring-median-window`). A window with too many runs that did not
converge counts as infinite. With an even number of windows the rules do not say which of the two in the middle it is;
the slower one is taken here, because nobody can call that one picked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evidence.library.errors import InputError
from evidence.rounds.benchmarks import dropped_runs, required_runs
from evidence.rounds.gather import Row
from evidence.rounds.sets import Verdict, judge, olympic_mean


@dataclass(frozen=True)
class Window:
    """N consecutive runs, from the `first` on (counted from 1). `score_min` is infinite for an invalid result."""

    first: int
    files: tuple[str, ...]
    score_min: float

    @property
    def valid(self) -> bool:
        return math.isfinite(self.score_min)


@dataclass(frozen=True)
class Choice:
    """All windows in the order of their runs, the one to submit, and what picking would have gained.

    `best_gain` is the share by which the fastest window beats the median one; `picked_gain` that of the N fastest
    runs whatever their order. Both are forbidden (rule `cherry-picking`); None where the median is invalid.
    """

    needed: int
    order: tuple[str, ...]
    windows: tuple[Window, ...]
    chosen: Window
    other_middle: Window | None
    best_gain: float | None
    picked_gain: float | None
    verdict: Verdict
    notes: tuple[str, ...]


def choose(rows: Sequence[Row], needed: int | None = None) -> Choice:
    """The window to submit of the runs of one benchmark on one system.

    Args:
        rows: the M runs, in any order.
        needed: N; by default what the benchmark requires.

    Raises:
        InputError: runs of several sets, no N to go by, or fewer runs than N.
    """
    n = _needed(rows, needed)
    ordered = sorted(rows, key=lambda row: (row.run.started_ms is None, row.run.started_ms or 0, row.file))
    windows = [_window(ordered, first, n) for first in range(len(ordered) - n + 1)]
    by_score = sorted(windows, key=lambda window: (window.score_min, window.first))
    chosen = by_score[len(by_score) // 2]
    other = by_score[len(by_score) // 2 - 1] if len(by_score) % 2 == 0 else None
    members = ordered[chosen.first - 1 : chosen.first - 1 + n]
    return Choice(
        needed=n,
        order=tuple(row.file for row in ordered),
        windows=tuple(windows),
        chosen=chosen,
        other_middle=other,
        best_gain=_gain(by_score[0].score_min, chosen.score_min),
        picked_gain=_gain(_picked(ordered, n), chosen.score_min),
        verdict=judge(members),
        notes=tuple(_notes(ordered, chosen, other)),
    )


def _needed(rows: Sequence[Row], asked: int | None) -> int:
    """N, after seeing that these rows are one set and enough for it."""
    sets = sorted({row.set for row in rows})
    if len(sets) != 1:
        names = ", ".join("/".join(part for part in key[1:] if part) for key in sets[:4])
        raise InputError(f"{len(sets)} sets of runs: {names}", mend="give the folder of one benchmark")
    benchmark = rows[0].benchmark
    n = asked or required_runs(benchmark)
    if n is None:
        raise InputError(f"no number of runs is known for {benchmark!r}", where="--runs", mend="say it: --runs 10")
    if len(rows) < n:
        raise InputError(f"{len(rows)} runs, and {n} are needed", where=benchmark)
    if n <= 2 * dropped_runs(benchmark):
        raise InputError(f"nothing is left of {n} runs after the extremes are dropped", where="--runs")
    return n


def _minutes(rows: Sequence[Row]) -> list[float]:
    return [row.run.run_s / 60 for row in rows if row.run.converged and row.run.run_s is not None]


def _window(ordered: Sequence[Row], first: int, n: int) -> Window:
    members = ordered[first : first + n]
    times = _minutes(members)
    score = olympic_mean(times, n - len(times), dropped_runs(members[0].benchmark))
    return Window(first + 1, tuple(row.file for row in members), math.inf if score is None else score)


def _picked(ordered: Sequence[Row], n: int) -> float:
    """The score of the N fastest runs, which no order could justify."""
    times = sorted(_minutes(ordered))[:n]
    score = olympic_mean(times, n - len(times), dropped_runs(ordered[0].benchmark))
    return math.inf if score is None else score


def _gain(fast: float, median: float) -> float | None:
    return 1 - fast / median if math.isfinite(median) and math.isfinite(fast) else None


def _notes(ordered: Sequence[Row], chosen: Window, other: Window | None) -> list[str]:
    notes = []
    if not chosen.valid:
        notes.append("the median window is no valid result, and so the whole result is invalid")
    if other is not None:
        notes.append("an even number of windows: the rules do not say which middle one; this is the slower")
    unstarted = sum(row.run.started_ms is None for row in ordered)
    if unstarted:
        notes.append(f"{unstarted} runs log no start and stand last; order them by when they were launched")
    starts = [row.run.started_ms for row in ordered if row.run.started_ms is not None]
    if len(set(starts)) < len(starts):
        notes.append("two runs started in the same millisecond: file names decide their order")
    if len(ordered) == len(chosen.files):
        notes.append("M equals N: there is one window and nothing to choose")
    return notes
