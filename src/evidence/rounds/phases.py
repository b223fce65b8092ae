"""Where the time of a run went: training, evaluation, the rest, and the pace from one evaluation to the next."""

from __future__ import annotations

from statistics import median
from typing import Any

from evidence.rounds import spans
from evidence.rounds.benchmarks import BENCHMARKS
from evidence.rounds.mllog import Event
from evidence.rounds.seen import Seen, real
from evidence.rounds.spans import Span

ONE_BLOCK_PER_EVALUATION = {"unet3d"}
"""Here a block brackets the evaluation that runs inside it, at scale on accelerators of its own: the brackets do not
tell whether training waited."""


def phases(seen: Seen, facts: dict[str, Any]) -> dict[str, Any]:
    """Training, evaluation and the rest, and the pace of training from evaluation to evaluation."""
    found: dict[str, Any] = {"steps": len(seen.steps), "step_s": median(seen.steps) if seen.steps else None}
    start, stop = facts.get("started_ms"), facts.get("stopped_ms")
    if facts.get("run_s") is None or start is None or stop is None:
        return found
    events = sorted(seen.brackets, key=lambda event: event.time)
    found["eval_each_s"] = _each(events)
    training = _pairs(events, "block_start", "block_stop", stop)
    if not training:
        training = _pairs(events, "epoch_start", "epoch_stop", stop)
    evaluation = _pairs(events, "eval_start", "eval_stop", stop)
    if evaluation is not None:
        evaluation = spans.clip(evaluation, start, stop)
        found["eval_s"] = sum(b - a for a, b in evaluation) / 1e3
        if not evaluation and not _offline(events, stop):
            found["eval_s"] = None
    if not training:
        return found
    training = spans.clip(training, start, stop)
    if found.get("eval_s") is None or evaluation is None:
        return found
    waiting = _waiting(training, evaluation)
    found["train_s"] = spans.length(spans.minus(training, waiting)) / 1e3
    found["uncovered_s"] = facts["run_s"] - spans.length([*training, *evaluation]) / 1e3
    if facts["benchmark"] not in ONE_BLOCK_PER_EVALUATION:
        found["eval_blocking_s"] = spans.length(waiting) / 1e3
    if facts["benchmark"] in BENCHMARKS:
        found |= _pace(seen, spans.minus(training, waiting), float(start), BENCHMARKS[facts["benchmark"]].progress)
    return found


def _each(events: list[Event]) -> float | None:
    """Median seconds of the evaluations of which both ends are there and name one place: an excerpt tells these too."""
    begun: dict[float, float] = {}
    lasted = []
    for event in events:
        place = _place(event)
        if place is not None and event.key == "eval_start":
            begun[place] = event.time
        elif place is not None and event.key == "eval_stop" and place in begun:
            lasted.append((event.time - begun.pop(place)) / 1e3)
    return median(lasted) if lasted else None


def _offline(events: list[Event], stop: float) -> bool:
    """Whether evaluations were bracketed, but all after the clock: then none of the run's time went there."""
    return any(event.key == "eval_start" and event.time >= stop for event in events)


def _pairs(events: list[Event], opening: str, closing: str, stop: float) -> list[Span] | None:
    """Spans from opening to closing events, by progress where both log it, otherwise the innermost open one.

    An interval still open at the end of the run ends there. None if brackets are missing otherwise: a closing without
    an opening, or more than one left open.
    """
    open_: list[Event] = []
    pairs: list[Span] = []
    for event in events:
        if event.key == opening:
            open_.append(event)
        elif event.key == closing:
            if not open_:
                if event.time > stop:
                    continue
                return None
            same = [o for o in open_ if _place(o) is not None and _place(o) == _place(event)]
            begun = same[0] if same and opening == "eval_start" else open_[-1]
            open_.remove(begun)
            pairs.append((begun.time, event.time))
    left = [event for event in open_ if event.time < stop]
    if len(left) > 1:
        return None
    return pairs + [(event.time, stop) for event in left]


def _place(event: Event) -> float | None:
    for key in ("samples_count", "epoch_num", "step_num", "step"):
        value = real(event.metadata.get(key))
        if value is not None:
            return value
    return None


def _waiting(training: list[Span], evaluation: list[Span]) -> list[Span]:
    """The evaluation time during which training stood still.

    Training brackets that begin or end within an evaluation ran beside it; those around all of it only group it.
    """
    waiting: list[Span] = []
    for begun, done in evaluation:
        beside = [span for span in training if not (span[0] <= begun and span[1] >= done)]
        waiting += spans.minus([(begun, done)], beside)
    return spans.union(waiting)


def _pace(seen: Seen, training: list[Span], start: float, progress: str) -> dict[str, Any]:
    """Training seconds per unit of convergence between evaluations (the time stamps of the quality lines)."""
    paces: list[tuple[float, float]] = []
    done, since = 0.0, start
    for event in sorted(seen.quality, key=lambda event: event.time):
        place = real(event.metadata.get(progress))
        if place is None or place <= done or event.time <= since:
            continue
        seconds = spans.length(spans.clip(training, since, event.time)) / 1e3
        paces.append((place, seconds / (place - done)))
        done, since = place, event.time
    if not paces or not all(pace > 0 for _, pace in paces):
        return {}
    found = {"pace_first": paces[0][1]}
    later = paces[1:]
    if later:
        slowest = max(later, key=lambda item: item[1])
        found |= {
            "pace_median": median(pace for _, pace in later),
            "pace_slowest": slowest[1],
            "pace_slowest_at": slowest[0] / paces[-1][0],
        }
    return found
