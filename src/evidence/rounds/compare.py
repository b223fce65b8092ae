"""Two collections of results side by side: what became faster, and why.

Sets are paired by name; what is left, by benchmark on as many accelerators of one family, the best of each side. A set
without a benchmark or a score has nothing to be compared by and stays alone. Time to train is convergence times pace:
the first is the optimiser's doing, the second the system's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from evidence.rounds.gather import Gathered
from evidence.rounds.sets import ResultSet, result_sets


@dataclass(frozen=True)
class Pair:
    """One set of A against one of B. Ratios are A over B: above 1, B needs less.

    `speedup` is the ratio of scores; `convergence_ratio` of samples (or epochs) to target, `pace_ratio` of run time per
    unit of convergence. `same_runs` counts runs that both sides hold, by their time stamps.
    """

    benchmark: str
    accelerator: str | None
    accelerators_a: int | None
    accelerators_b: int | None
    a: str
    b: str
    paired_by: str
    score_a_min: float | None
    score_b_min: float | None
    speedup: float | None
    convergence_ratio: float | None
    pace_ratio: float | None
    batch_a: int | None
    batch_b: int | None
    eval_share_a: float | None
    eval_share_b: float | None
    init_a_s: float | None
    init_b_s: float | None
    same_runs: int

    def as_dict(self) -> dict[str, Any]:
        return {key: float(f"{v:.7g}") if isinstance(v, float) else v for key, v in asdict(self).items()}


def compare(a: Gathered, b: Gathered) -> tuple[list[Pair], list[str]]:
    """The pairs of sets, and the names of sets that found no partner."""
    left, right = result_sets(a.rows, a.scaling), result_sets(b.rows, b.scaling)
    stamps = [_stamps(side) for side in (a, b)]
    pairs: list[Pair] = []
    keys: list[tuple[str, Callable[[ResultSet], Hashable]]] = [
        ("name", lambda s: (s.submitter, s.system, s.benchmark)),
        ("accelerators", lambda s: (s.benchmark, s.accelerator, s.accelerators) if s.accelerators else None),
        ("benchmark", lambda s: s.benchmark),
    ]
    if len(left) == len(right) == 1:
        keys = [("given", lambda _: 0)]
    for how, key in keys:
        if how == "benchmark" and max(_crowd(left), _crowd(right)) > 1:
            break
        for mine, other in _matched(left, right, key):
            pairs.append(_pair(mine, other, how, stamps))
            left.remove(mine)
            right.remove(other)
    alone = [f"only in {side}: {_name(s)}" for side, sets in (("A", left), ("B", right)) for s in sets]
    return pairs, alone


def _comparable(one: ResultSet) -> bool:
    return bool(one.benchmark) and one.score_min is not None


def _crowd(sets: Sequence[ResultSet]) -> int:
    names = [s.benchmark for s in sets]
    return max((names.count(name) for name in names), default=0)


def _matched(
    left: Sequence[ResultSet], right: Sequence[ResultSet], key: Callable[[ResultSet], Hashable]
) -> list[tuple[ResultSet, ResultSet]]:
    """The best comparable set of either side under every key that both have."""
    sides = []
    for sets in (left, right):
        best: dict[Hashable, ResultSet] = {}
        for each in filter(_comparable, sets):
            name = key(each)
            if name is not None and (name not in best or _score(each) < _score(best[name])):
                best[name] = each
        sides.append(best)
    return [(mine, sides[1][name]) for name, mine in sides[0].items() if name in sides[1]]


def _score(one: ResultSet) -> float:
    return float("inf") if one.score_min is None else one.score_min


def _name(one: ResultSet) -> str:
    name = "/".join(part for part in (one.submitter, one.system, one.benchmark) if part)
    return name if _comparable(one) else f"{name} (no {'score' if one.benchmark else 'benchmark'})".lstrip()


def _stamps(side: Gathered) -> dict[tuple[str, str, str, str], set[tuple[int | None, int | None]]]:
    found: dict[tuple[str, str, str, str], set[tuple[int | None, int | None]]] = {}
    for row in side.rows:
        if row.run.started_ms is not None:
            found.setdefault(row.set, set()).add((row.run.started_ms, row.run.stopped_ms))
    return found


def _pair(a: ResultSet, b: ResultSet, how: str, stamps: Sequence[dict[Any, set[Any]]]) -> Pair:
    keys = [(s.round, s.submitter, s.system, s.benchmark) for s in (a, b)]
    time = _ratio(a.time_to_train_min, b.time_to_train_min)
    convergence = _ratio(a.convergence, b.convergence) if a.unit == b.unit else None
    return Pair(
        benchmark=a.benchmark,
        accelerator=a.accelerator if a.accelerator == b.accelerator else f"{a.accelerator} / {b.accelerator}",
        accelerators_a=a.accelerators,
        accelerators_b=b.accelerators,
        a=f"{a.submitter}/{a.system}",
        b=f"{b.submitter}/{b.system}",
        paired_by=how,
        score_a_min=a.score_min,
        score_b_min=b.score_min,
        speedup=_ratio(a.score_min, b.score_min),
        convergence_ratio=convergence,
        pace_ratio=_ratio(time, convergence),
        batch_a=a.global_batch_size,
        batch_b=b.global_batch_size,
        eval_share_a=a.eval_share,
        eval_share_b=b.eval_share,
        init_a_s=a.init_s_median,
        init_b_s=b.init_s_median,
        same_runs=len(stamps[0].get(keys[0], set()) & stamps[1].get(keys[1], set())),
    )


def _ratio(a: float | None, b: float | None) -> float | None:
    return a / b if a is not None and b else None
