"""Stretches of time as sorted lists of (start, stop): union, difference, length."""

from __future__ import annotations

from collections.abc import Iterable

Span = tuple[float, float]


def union(spans: Iterable[Span]) -> list[Span]:
    """Disjoint spans in order that cover the same time. A span that ends before it starts covers nothing."""
    merged: list[Span] = []
    for start, stop in sorted(span for span in spans if span[1] > span[0]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def minus(spans: Iterable[Span], taken: Iterable[Span]) -> list[Span]:
    """What is left of `spans` outside `taken`."""
    left: list[Span] = []
    holes = union(taken)
    for start, stop in union(spans):
        for low, high in holes:
            if high <= start or low >= stop:
                continue
            if low > start:
                left.append((start, low))
            start = max(start, high)
            if start >= stop:
                break
        if start < stop:
            left.append((start, stop))
    return left


def clip(spans: Iterable[Span], low: float, high: float) -> list[Span]:
    """The parts between `low` and `high`."""
    return [(max(a, low), min(b, high)) for a, b in spans if min(b, high) > max(a, low)]


def length(spans: Iterable[Span]) -> float:
    """Time covered, counted once."""
    return sum(stop - start for start, stop in union(spans))
