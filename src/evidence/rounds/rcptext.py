"""Reference convergence points as the rules' text describes them, and where the official checker does otherwise.

The rules make the verifier decisive (`verifier-precedence`), so these figures judge nobody. They are here because a
team that plans by the text plans with other numbers. Sections 13 and 22 of the rules are the source.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from evidence.rounds.points import Bar, Point
from evidence.rounds.rcp import LEEWAY_SAMPLES, Table

ALPHA = 0.05
Kind = Literal["spread", "pruning", "leeway", "small-batch-scaling", "vacuous"]
RULES: dict[Kind, str] = {
    "spread": "rcp-ttest",
    "pruning": "rcp-pruning",
    "leeway": "rcp-leeway-405b",
    "small-batch-scaling": "rcp-small-batch",
    "vacuous": "rcp-ttest",
}


def smallest_mean(mean: float, stdev: float, reference: int, submission: int) -> float:
    """The smallest mean that a one-sided two-sample t-test at 5 % does not call faster than the reference.

    With equal spreads s on both sides the pooled spread is s, so the limit is mean - t s sqrt(1/n + 1/m) with n + m - 2
    degrees of freedom. The checker finds the same number by bisection between zero and the mean; below zero it has
    nothing to find, and anything passes.

    Args:
        mean: the reference's mean, in any unit; `stdev` in the same.
        reference: runs of the reference that count; `submission` those of the submission.
    """
    if stdev == 0:
        return mean
    t = float(stats.t.ppf(1 - ALPHA, reference + submission - 2))
    return mean - t * stdev * math.sqrt(1 / reference + 1 / submission)


def text_stdev(table: Table, runs: Sequence[float]) -> float:
    """The population standard deviation without the extremes: the text drops them from the spread as from the mean."""
    trimmed = sorted(runs)[table.rejected : len(runs) - table.rejected]
    return float(np.std(trimmed))


def text_bar(table: Table, point: Point) -> Bar:
    """A point as the text would have it."""
    spread, runs = text_stdev(table, point.runs), len(point.runs) - 2 * table.rejected
    low = smallest_mean(point.bar.mean, spread, runs, table.submission_runs - 2)
    return Bar(point.batch, "point", point.bar.mean, spread, low, runs, text_leeway(table))


def text_leeway(table: Table) -> float:
    """The 405B exception was made for round 5.0 alone."""
    return float(LEEWAY_SAMPLES) if (table.benchmark, table.round) == ("llama31_405b", "5.0") else 0.0


def text_keeps(table: Table, batch: int) -> bool:
    """Whether a point lies on the text's envelope: not slower than the line between any two points around it."""
    here = next(point for point in table.points if point.batch == batch)
    return not any(
        here.bar.mean > float(np.interp(batch, [low.batch, high.batch], [low.bar.mean, high.bar.mean]))
        for low in table.points
        for high in table.points
        if low.batch < batch < high.batch
    )


def text_envelope(table: Table) -> tuple[Bar, ...]:
    """The points that the text's pruning leaves, smallest batch first."""
    return tuple(text_bar(table, point) for point in table.points if text_keeps(table, point.batch))


def text_at(table: Table, batch: int) -> Bar | None:
    """What the text compares a batch size with; None where it asks for a new point."""
    kept = text_envelope(table)
    for bar in kept:
        if bar.batch == batch:
            return bar
    if batch > kept[-1].batch:
        return None
    if batch < kept[0].batch:
        low = kept[0]
        return Bar(batch, "smallest", low.mean, low.stdev, low.min_mean, low.runs, low.leeway)
    below = max((bar for bar in kept if bar.batch < batch), key=lambda bar: bar.batch)
    above = min((bar for bar in kept if bar.batch > batch), key=lambda bar: bar.batch)
    mean, spread = (
        float(np.interp(batch, [below.batch, above.batch], [getattr(below, name), getattr(above, name)]))
        for name in ("mean", "stdev")
    )
    runs = 2 * table.submission_runs
    return Bar(
        batch,
        "interpolated",
        mean,
        spread,
        smallest_mean(mean, spread, runs, table.submission_runs - 2),
        runs,
        text_leeway(table),
    )


@dataclass(frozen=True)
class Difference:
    """One place where the checker and the rules' text part.

    `text` and `code` are the smallest mean that passes (for `pruning` and `small-batch-scaling` the mean that the score
    is scaled to), in the table's unit; `rule` decides.
    """

    kind: Kind
    rule: str
    batch: int
    text: float
    code: float
    says: str


def differences(table: Table) -> list[Difference]:
    """Everything in one table that text and code do not read alike, by batch size."""
    found = []
    for point in table.points:
        found += [each for each in (_spread(table, point), _pruning(table, point), _vacuous(table, point)) if each]
        if table.leeway != text_leeway(table) and point.kept:
            says = f"the checker forgives {table.leeway:,.0f} {table.unit}, an exception made for round 5.0 alone"
            found.append(_difference("leeway", point.batch, point.bar.min_mean, point.bar.limit, says))
    smallest = table.kept[0]
    says = (
        f"below batch {smallest.batch:,} the text asks for a pass only; the checker also scales the score to "
        f"{smallest.bar.mean:,.6g} {table.unit}, the mean of the smallest point kept"
    )
    found.append(_difference("small-batch-scaling", smallest.batch - 1, smallest.bar.limit, smallest.bar.mean, says))
    return [each for each in found if each.batch > 0]


def _difference(kind: Kind, batch: int, text: float, code: float, says: str) -> Difference:
    return Difference(kind, RULES[kind], batch, text, code, says)


def _spread(table: Table, point: Point) -> Difference | None:
    text = text_bar(table, point)
    if math.isclose(text.stdev, point.bar.stdev, rel_tol=1e-9):
        return None
    allowed = [f"{100 * (bar.mean / max(bar.min_mean, 1e-9) - 1):.2f} %" for bar in (text, point.bar)]
    says = (
        f"spread {text.stdev:,.4g} without the extremes, {point.bar.stdev:,.4g} with them: {allowed[0]} faster than "
        f"the mean passes by the text, {allowed[1]} by the checker"
    )
    return _difference("spread", point.batch, text.min_mean, point.bar.min_mean, says)


def _pruning(table: Table, point: Point) -> Difference | None:
    if point.kept == text_keeps(table, point.batch):
        return None
    text, code = text_at(table, point.batch), table.bar(point.batch)
    assert text is not None and code is not None  # the largest point is never pruned by either
    verb = "keeps" if point.kept else "drops"
    says = (
        f"the checker {verb} this point, the text does not: the bar's mean is {code.mean:,.6g} by the checker and "
        f"{text.mean:,.6g} by the text"
    )
    return _difference("pruning", point.batch, text.mean, code.mean, says)


def _vacuous(table: Table, point: Point) -> Difference | None:
    limit = smallest_mean(point.bar.mean, point.bar.stdev, point.bar.runs, table.submission_runs - 2)
    if limit > 0:
        return None
    says = "the reference's own runs spread so widely that the test rejects no mean above zero: anything passes"
    return _difference("vacuous", point.batch, text_bar(table, point).min_mean, point.bar.min_mean, says)
