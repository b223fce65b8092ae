"""The critical batch size that reference convergence points imply.

The law of the literature: samples to target grow as E_min (1 + B / B_crit), so that at B_crit a run needs twice the
samples of a tiny batch, and half the updates are saved at most from there on. It is fitted to the means of a table, and
where it does not describe the table, that is said.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import nnls

from evidence.rounds.rcp import Table

CONFIDENCE = 0.95
FITS_WITHIN = 0.05
"""Largest relative residual at which the law counts as describing a table (acceptance of the protocol)."""
WELL_INSIDE = 4.0
"""B_crit is called an extrapolation when it lies outside the tried batch sizes by more than this factor."""
LEAST_POINTS = 3

Says = Literal["fits", "does not fit", "flat", "extrapolated", "floor"]


@dataclass(frozen=True)
class Fit:
    """E(B) = e_min (1 + B / critical), with the 95 % bootstrap interval of `critical`.

    `residual` is the largest relative deviation of a mean from the law, `points` the number of batch sizes, `span` the
    smallest and largest of them. `says` is what may be concluded, `why` in words.
    """

    benchmark: str
    round: str
    e_min: float
    critical: float
    low: float
    high: float
    residual: float
    points: int
    span: tuple[int, int]
    says: Says
    why: str

    def samples(self, batch: float) -> float:
        """What the law expects at a batch size, in the table's unit."""
        return self.e_min * (1 + batch / self.critical)


def solve(means: Mapping[int, float]) -> tuple[float, float, float]:
    """`(e_min, critical, largest relative residual)` of the law through mean convergence by batch size.

    The law is linear in e_min and e_min / critical; least squares of relative errors, because spreads are proportional
    to means, and neither coefficient below zero. `critical` is infinite where samples do not grow, zero where they are
    proportional to the batch.
    """
    batches = np.array(sorted(means), dtype=float)
    counts = np.array([means[int(batch)] for batch in batches])
    design = np.stack([1 / counts, batches / counts], axis=1)
    (e_min, slope), _ = nnls(design, np.ones_like(counts))
    residual = float(np.max(np.abs(design @ np.array([e_min, slope]) - 1)))
    return float(e_min), float(e_min / slope) if slope > 0 else math.inf, residual


def fit(table: Table, *, draws: int = 1000, seed: int = 0) -> Fit | None:
    """The law through all points of a table, pruned ones too; None where there are fewer than three.

    The interval comes from drawing every point's reference runs anew.
    """
    if len(table.points) < LEAST_POINTS:
        return None
    e_min, critical, residual = solve({point.batch: point.bar.mean for point in table.points})
    rng = np.random.default_rng(seed)
    again = []
    for _ in range(draws):
        drawn = {point.batch: table.olympic(rng.choice(point.runs, len(point.runs)).tolist()) for point in table.points}
        again.append(solve(drawn)[1])
    # "nearest" takes a drawn value as it is, where others would subtract infinities.
    low, high = np.quantile(again, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], method="nearest")
    span = (table.points[0].batch, table.points[-1].batch)
    says, why = judge(critical, (float(low), float(high)), residual, span)
    if all(point.bar.stdev == 0 for point in table.points):
        says, why = "floor", "all runs of a point stop at one evaluation: the table shows the schedule, not convergence"
    return Fit(
        table.benchmark,
        table.round,
        e_min,
        critical,
        float(low),
        float(high),
        residual,
        len(table.points),
        span,
        says,
        why,
    )


def judge(critical: float, interval: Sequence[float], residual: float, span: tuple[int, int]) -> tuple[Says, str]:
    """What may be concluded from a fit."""
    if critical > 100 * span[1]:
        return "flat", "samples to target do not grow with the batch over the tried sizes: no critical size shows"
    if residual > FITS_WITHIN:
        return (
            "does not fit",
            f"the law misses a mean by {100 * residual:.1f} %: convergence here follows another course",
        )
    if critical < span[0] / WELL_INSIDE or critical > span[1] * WELL_INSIDE:
        return "extrapolated", (
            f"tried were {span[0]:,} to {span[1]:,} only; {critical:,.3g} lies far outside and is not a finding"
        )
    wide = " (wide interval)" if interval[1] > 3 * interval[0] else ""
    return "fits", f"every mean within {100 * residual:.1f} % of the law{wide}"


def law_from_two(first: tuple[int, float], second: tuple[int, float]) -> tuple[float, float]:
    """`(e_min, critical)` of the law through two points `(batch, epochs)`: exact, so nothing is left to check it by."""
    (b1, e1), (b2, e2) = first, second
    slope = (e2 - e1) / (b2 - b1)
    e_min = e1 - slope * b1
    return e_min, e_min / slope
