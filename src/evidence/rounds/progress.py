"""How a run came to its target: evaluations, convergence as the official checker counts it, overshoot."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import median
from typing import Any

from evidence.rounds.benchmarks import BENCHMARKS, Benchmark
from evidence.rounds.findings import LogFinding
from evidence.rounds.seen import Seen, real

Point = tuple[float, float | None, str]
"""Progress, quality (None if it is no number) and the metric's name of one evaluation."""
FID, CLIP = 90.0, 0.15
"""Stable Diffusion converges at the first checkpoint with FID <= 90 and CLIP >= 0.15."""


def progress(seen: Seen, facts: dict[str, Any], name: str, findings: list[LogFinding]) -> dict[str, Any]:
    """Convergence as the official checker counts it, evaluations and their spacing, overshoot."""
    known = BENCHMARKS.get(facts["benchmark"])
    if known is None:
        findings.append(
            LogFinding("benchmark-unknown", "error", name, f"{facts['benchmark']!r} is no benchmark that we know")
        )
        return {}
    target = known.target if known.target is not None else facts.get("logged_target")
    found: dict[str, Any] = {"unit": known.unit, "target": target}
    points = _points(seen, known, name, findings)
    if not points:
        findings.append(LogFinding("eval-none", "error", name, "no evaluation before run_stop", "", "quality-metric"))
        return found
    places = sorted({place for place, _, _ in points})
    distances = [b - a for a, b in pairwise(places)]
    found |= {
        "evals": len(places) if facts["benchmark"] == "stable_diffusion" else len(points),
        "first_eval": places[0],
        "interval": median(distances) if distances else None,
    }
    if facts.get("status") == "success":
        found |= _convergence(points, facts["benchmark"], target)
    return found


def _points(seen: Seen, known: Benchmark, name: str, findings: list[LogFinding]) -> list[Point]:
    """The evaluations before the last run_stop, in file order, as the official checker takes them."""
    counted = seen.quality[: seen.quality_at_stop]
    points = [
        (place, real(event.value), str(event.metadata.get("metric")))
        for event in counted
        if (place := real(event.metadata.get(known.progress))) is not None
    ]
    if len(points) < len(counted):
        said = f"{len(counted) - len(points)} evaluations without a number under {known.progress!r}"
        findings.append(
            LogFinding(
                "eval-progress",
                "error",
                name,
                f"{said}, which the RCP checker reads",
                f"put the {known.unit} so far into the metadata of eval_accuracy",
                "epoch-reporting",
            )
        )
    return points


def _convergence(points: list[Point], benchmark: str, target: float | None) -> dict[str, Any]:
    known = BENCHMARKS[benchmark]
    if benchmark == "stable_diffusion":
        scores: dict[float, dict[str, float]] = {}
        for place, value, metric in points:
            if value is not None:
                scores.setdefault(place, {})[metric] = value
        passing = [
            place
            for place, score in scores.items()
            if score.get("FID", math.inf) <= FID and score.get("CLIP", 0.0) >= CLIP
        ]
        return {"convergence": min(passing) if passing else None}
    place, quality, _ = points[-1]
    found: dict[str, Any] = {
        "convergence": round(place, 3) if known.progress == "epoch_num" else place,
        "quality": quality,
    }
    before = [point for point in points if point[0] < place]
    if quality is None or target is None or not before or not known.reached(quality, target):
        return found
    last_place, last_quality, _ = max(before, key=lambda point: point[0])
    if last_quality is not None and not known.reached(last_quality, target):
        found["overshoot_max"] = place - last_place
        found["overshoot"] = (place - last_place) * ((quality - target) / (quality - last_quality))
    return found
