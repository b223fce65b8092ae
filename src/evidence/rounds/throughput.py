"""A system's throughput against the batch size: what was measured, and the line of step times through it."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from scipy.optimize import nnls

from evidence.library.errors import InputError

From = Literal["measured", "fitted", "extrapolated"]
LEAST_RATE, MOST_RATE = 1e-9, 1e15
"""Samples a second: one in thirty years, and more than all machines together; far beyond, no score is finite."""
MOST_SAMPLES = 10**12
"""In a batch or between evaluations: more than any benchmark trains on."""


@dataclass(frozen=True)
class Throughput:
    """Samples a second by global batch size.

    With two or more points the step time is fitted as `latency + batch * per_sample` (seconds), both not negative, by
    least squares of relative errors; `residual` is the largest relative error of a step time. Measured points answer
    for themselves, the line for everything else.
    """

    points: Mapping[int, float]
    latency: float = 0.0
    per_sample: float = 0.0
    residual: float = 0.0

    @property
    def fitted(self) -> bool:
        return len(self.points) > 1

    def at(self, batch: int) -> float | None:
        """Samples a second at a batch size; None where nothing is known."""
        if batch in self.points:
            return self.points[batch]
        return batch / (self.latency + self.per_sample * batch) if self.fitted else None

    def known_from(self, batch: int) -> From:
        """Whether the figure at a batch size was measured, lies between measurements, or beyond them."""
        if batch in self.points:
            return "measured"
        return "fitted" if min(self.points) < batch < max(self.points) else "extrapolated"


def throughput(points: Mapping[int, float]) -> Throughput:
    """A law from measured points.

    Raises:
        InputError: no points, or one that no machine can have.
    """
    if not points:
        raise InputError("no throughput given", "--throughput", "give GBS=SAMPLES_PER_S, once for every point")
    for batch, rate in points.items():
        if not (1 <= batch <= MOST_SAMPLES and LEAST_RATE <= rate <= MOST_RATE):
            mend = f"batch sizes lie from 1 to {MOST_SAMPLES:g}, rates from {LEAST_RATE:g} to {MOST_RATE:g}"
            raise InputError(f"{str(batch)[:20]}={rate:g} is no throughput", "--throughput", mend)
    if len(points) == 1:
        return Throughput(dict(points))
    batches = np.array(sorted(points), dtype=float)
    times = np.array([batch / points[int(batch)] for batch in batches])
    # Dividing by the time itself makes the residuals relative, so that short steps count as much as long ones.
    design = np.stack([np.ones_like(batches), batches], axis=1) / times[:, None]
    (latency, per_sample), _ = nnls(design, np.ones_like(times))
    residual = float(np.max(np.abs(design @ np.array([latency, per_sample]) - 1)))
    return Throughput(dict(sorted(points.items())), float(latency), float(per_sample), residual)


def parse_throughput(pairs: Sequence[str], where: str = "--throughput") -> dict[int, float]:
    """`["128=950", "256=1700"]` as numbers.

    Raises:
        InputError: not of that form, or one batch size with two rates.
    """
    found: dict[int, float] = {}
    for pair in pairs:
        batch, _, rate = pair.partition("=")
        try:
            key, value = int(batch), float(rate)
        except ValueError:
            raise InputError(f"{pair!r} is not GBS=SAMPLES_PER_S", where, "for example 128=950.5") from None
        if not math.isfinite(value):
            raise InputError(f"{pair!r} has no finite rate", where, "for example 128=950.5")
        if found.setdefault(key, value) != value:
            raise InputError(f"two rates for batch size {key}: {found[key]:g} and {value:g}", where)
    return found


def read_throughput(path: Path) -> dict[int, float]:
    """A CSV with the columns `global_batch_size` and `samples_per_second`.

    Raises:
        InputError: no such file, no such columns, or a cell that is not a number.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows = list(reader)
            names = [name.strip() for name in reader.fieldnames or []]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot be read: {error}", str(path)) from None
    if not {"global_batch_size", "samples_per_second"} <= set(names):
        raise InputError(
            f"columns {', '.join(names) or 'none'}", f"{path}:1", "write global_batch_size,samples_per_second"
        )
    pairs = [f"{row['global_batch_size']}={row['samples_per_second']}" for row in rows]
    return parse_throughput(pairs, str(path))
