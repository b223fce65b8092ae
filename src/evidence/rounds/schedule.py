"""Evaluation schedules: the rules give them as formulas in the batch size, and this evaluates those formulas.

A formula is data from a YAML file, so it is not run as Python: only arithmetic over `gbs`, numbers, `math.ceil`,
`math.floor`, `math.sqrt`, `max`, `min` and `round` is understood, anything else is refused.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from evidence.library.errors import InputError
from evidence.library.models import Benchmark

BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
FUNCTIONS: dict[str, Callable[..., float]] = {
    "math.ceil": math.ceil,
    "math.floor": math.floor,
    "math.sqrt": math.sqrt,
    "max": max,
    "min": min,
    "round": round,
}


def evaluate(formula: str, gbs: int) -> float:
    """The value of a formula over the global batch size.

    Raises:
        InputError: not a formula of the kind described above, or one without a value at this batch size.
    """
    try:
        return _value(_parse(formula), gbs)
    except (ArithmeticError, ValueError, TypeError) as error:
        raise InputError(f"{formula!r} has no value at batch size {gbs}: {error}", "formula") from None


@lru_cache(maxsize=256)
def _parse(formula: str) -> ast.expr:
    try:
        return ast.parse(formula, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(
            f"{formula[:60]!r} is not a formula", "formula", "write arithmetic over gbs and math"
        ) from None


def _value(node: ast.expr, gbs: int) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    if isinstance(node, ast.Name) and node.id == "gbs":
        return gbs
    if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
        left, right = _value(node.left, gbs), _value(node.right, gbs)
        if isinstance(node.op, ast.Pow) and abs(right) > 8:
            raise ValueError("powers above 8 are not meant here")  # else a typing error could run for hours
        return BINARY[type(node.op)](left, right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, gbs)
    if isinstance(node, ast.Call) and not node.keywords and ast.unparse(node.func) in FUNCTIONS:
        return FUNCTIONS[ast.unparse(node.func)](*(_value(each, gbs) for each in node.args))
    raise InputError(
        f"{ast.unparse(node)!r} is not allowed in a formula", "formula", "arithmetic over gbs, math.ceil, math.floor, …"
    )


@dataclass(frozen=True)
class Schedule:
    """When a benchmark is evaluated, in training samples: at `first`, and then every `interval`. Both are formulas."""

    interval: str
    first: str

    def interval_at(self, gbs: int) -> int:
        """Samples from one evaluation to the next."""
        return _positive(self.interval, gbs)

    def first_at(self, gbs: int) -> int:
        """Samples at the first evaluation."""
        return _positive(self.first, gbs)

    def skipped(self, gbs: int) -> int:
        """How many leading evaluations of the plain grid are left out."""
        return max(0, round(self.first_at(gbs) / self.interval_at(gbs)) - 1)

    def evaluations(self, gbs: int, samples: float) -> float:
        """How many evaluations a run has made that stops at `samples`; fractional between two of them."""
        return 1 + max(0.0, (samples - self.first_at(gbs)) / self.interval_at(gbs))

    def stop(self, gbs: int, converged: float) -> int:
        """The evaluation at which a run stops that reaches its target after `converged` samples."""
        first, interval = self.first_at(gbs), self.interval_at(gbs)
        return first + max(0, math.ceil((converged - first) / interval)) * interval

    def on_grid(self, gbs: int, samples: float) -> bool:
        """Whether an evaluation falls on this count of samples."""
        return samples >= self.first_at(gbs) and (samples - self.first_at(gbs)) % self.interval_at(gbs) == 0


def _positive(formula: str, gbs: int) -> int:
    value = evaluate(formula, gbs)
    if not math.isfinite(value) or value < 1:
        raise InputError(f"{formula!r} gives {value:g} samples at batch size {gbs}", "schedule")
    return int(value)


def schedule_of(benchmark: Benchmark) -> Schedule:
    """The schedule that the rules give a benchmark.

    Raises:
        InputError: the rules give none in samples (the older vision benchmarks evaluate by epochs).
    """
    interval = benchmark.eval.get("interval_samples", "")
    if not interval:
        raise InputError(
            f"the rules give {benchmark.id} no evaluation interval in samples", benchmark.id, "give --interval SAMPLES"
        )
    return Schedule(interval, benchmark.eval.get("first_eval_samples", "") or interval)
