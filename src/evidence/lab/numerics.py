"""Emulated number formats: matrix products whose operands, results and gradients are rounded on the way.

The rounding itself (cast and back, a scale, random bits) is what a notebook shows, so it comes in as a function.
Sums stay in the tensors' own precision, as they do in the hardware's accumulators.

Shapes: I inputs, O outputs, N tokens (all leading dimensions flattened), H heads, T positions, K head size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Rounding = Callable[[Tensor], Tensor]
"""Maps a tensor to one of equal shape whose values the format can hold."""


def unrounded(x: Tensor) -> Tensor:
    return x


def plain_weight_gradient(g_NO: Tensor, x_NI: Tensor) -> Tensor:
    return g_NO.mT @ x_NI


@dataclass(frozen=True)
class Product:
    """Where a format enters one product `y = x wᵀ` and its two backward products `g w` and `gᵀ x`.

    Args:
        operand: rounds `x` and `w`; the backward products use the rounded ones.
        gradient: rounds the output gradient `g` before the backward products; `operand` by default.
        result: rounds what each of the three products gives.
        weight_gradient: computes `gᵀ x` of a linear layer from the rounded operands (N, O) and (N, I), for recipes
            that treat this product apart (a Hadamard rotation along the tokens, say). It gets `gradient(g)` unless
            `raw_weight_gradient`, and rounds for itself then.
        raw_weight_gradient: hand `weight_gradient` the gradient before rounding.
    """

    operand: Rounding = unrounded
    gradient: Rounding | None = None
    result: Rounding = unrounded
    weight_gradient: Callable[[Tensor, Tensor], Tensor] = plain_weight_gradient
    raw_weight_gradient: bool = False

    def round_gradient(self, g: Tensor) -> Tensor:
        return (self.gradient or self.operand)(g)

    def linear(self, x: Tensor, w_OI: Tensor) -> Tensor:
        """`x wᵀ` for `x` (…, I); give it to `ByteGPT(linear=…)` or `head=…`."""
        y_NO: Tensor = _Linear.apply(x.reshape(-1, x.shape[-1]), w_OI, self)  # type: ignore[no-untyped-call]
        return y_NO.view(*x.shape[:-1], -1)

    def matmul(self, a: Tensor, b: Tensor) -> Tensor:
        """`a b` for batches of matrices of equal leading dimensions."""
        y: Tensor = _Matmul.apply(a, b, self)  # type: ignore[no-untyped-call]
        return y

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
        """Attention whose two products round; the softmax does not. Give it to `ByteGPT(attend=…)`."""
        T = q.shape[-2]
        if mask is None:
            mask = torch.ones(T, T, dtype=torch.bool, device=q.device).tril()
        scores = self.matmul(q, k.mT) / math.sqrt(q.shape[-1])
        return self.matmul(scores.masked_fill(~mask, -math.inf).softmax(-1), v)


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x_NI: Tensor, w_OI: Tensor, how: Product) -> Tensor:
        x_NI, w_OI = how.operand(x_NI), how.operand(w_OI)
        ctx.save_for_backward(x_NI, w_OI)
        ctx.how = how
        return how.result(x_NI @ w_OI.mT)

    @staticmethod
    def backward(ctx: Any, g_NO: Tensor) -> tuple[Tensor, Tensor, None]:
        x_NI, w_OI = ctx.saved_tensors
        how: Product = ctx.how
        rounded_NO = how.round_gradient(g_NO)
        grad_x = how.result(rounded_NO @ w_OI)
        grad_w = how.result(how.weight_gradient(g_NO if how.raw_weight_gradient else rounded_NO, x_NI))
        return grad_x, grad_w, None


class _Matmul(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, how: Product) -> Tensor:
        a, b = how.operand(a), how.operand(b)
        ctx.save_for_backward(a, b)
        ctx.how = how
        return how.result(a @ b)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor, None]:
        a, b = ctx.saved_tensors
        how: Product = ctx.how
        g = how.round_gradient(g)
        return how.result(g @ b.mT), how.result(a.mT @ g), None


class _BothWays(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, rounding: Rounding) -> Tensor:
        ctx.rounding = rounding
        return rounding(x)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        return ctx.rounding(g), None


def both_ways(rounding: Rounding) -> Rounding:
    """Rounds a value on the way forward and its gradient on the way back; give it to `ByteGPT(stream=…)`."""

    def apply(x: Tensor) -> Tensor:
        y: Tensor = _BothWays.apply(x, rounding)  # type: ignore[no-untyped-call]
        return y

    return apply
