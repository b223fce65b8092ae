"""A reference convergence point, the bar that it sets, and what the checker says of a set of runs: plain values."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

How = Literal["point", "interpolated", "smallest"]
"""How a batch size is judged: by a point of its own, by the line between two, or by the smallest point."""


@dataclass(frozen=True)
class Bar:
    """What a submission at one batch size is compared with.

    `min_mean` is the smallest mean that passes the t-test; `leeway` is what the checker forgives below it. `runs` is
    the number of reference runs that the test counts.
    """

    batch: int
    how: How
    mean: float
    stdev: float
    min_mean: float
    runs: int
    leeway: float = 0.0

    @property
    def limit(self) -> float:
        """The smallest olympic mean that passes, in the table's unit."""
        return self.min_mean - self.leeway

    @property
    def max_speedup(self) -> float:
        """Mean over limit; infinite where even a mean of zero would pass."""
        return self.mean / self.limit if self.limit > 0 else math.inf


@dataclass(frozen=True)
class Point:
    """One reference convergence point; `runs` are the counts of the reference's own runs, sorted."""

    batch: int
    runs: tuple[float, ...]
    bar: Bar
    kept: bool
    precision: str = ""
    creator: str = ""
    when: str = ""
    hyperparameters: dict[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Judgement:
    """What the official checker says of a set of runs. `factor` multiplies the score of a set that passes."""

    passed: bool
    message: str
    factor: float
    mean: float | None
    bar: Bar | None
