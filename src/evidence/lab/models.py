"""Small real models: a perceptron that trains many replicas at once, and a byte-level transformer.

Shapes: R replicas, B sequences or samples, T positions, D width, H heads, K head size, V symbols,
I and O a matrix's input and output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

Linear = Callable[[Tensor, Tensor], Tensor]
"""`linear(x_BTI, w_OI) -> y_BTO`: what a block computes its products with."""
Attend = Callable[[Tensor, Tensor, Tensor, Tensor | None], Tensor]
"""`attend(q_BHTK, k_BHTK, v_BHTK, mask) -> y_BHTK`; no mask means causal."""
Stream = Callable[[Tensor], Tensor]
"""What happens to the residual stream after each addition."""

EMBEDDING_DEVIATION = 0.02


class MLP(nn.Module):
    """A ReLU perceptron in `len(seeds) × copies` replicas, trained together as batched matrix products.

    Replica `c × len(seeds) + s` starts from `seeds[s]`: copies of one seed start equal, so that they can differ in
    one setting (a learning rate, say) and stay paired. He initialisation, biases zero.

    Args:
        sizes: pixels, hidden widths …, classes.
        seeds: one initial model each.
        copies: how often each seed is repeated.
    """

    def __init__(
        self, sizes: Sequence[int], seeds: Sequence[int], *, copies: int = 1, dtype: torch.dtype = torch.float32
    ) -> None:
        super().__init__()
        generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self.seeds, self.copies = tuple(seeds), copies
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        for inner, outer in pairwise(sizes):
            each = [torch.randn(inner, outer, generator=g, dtype=dtype) * math.sqrt(2 / inner) for g in generators]
            self.weights.append(nn.Parameter(torch.stack(each).repeat(copies, 1, 1)))
            self.biases.append(nn.Parameter(torch.zeros(self.replicas, 1, outer, dtype=dtype)))

    @property
    def replicas(self) -> int:
        return len(self.seeds) * self.copies

    def forward(self, x: Tensor) -> Tensor:
        """Logits (R, B, classes) of `x`, either (B, D), the same for all replicas, or (R, B, D)."""
        last = len(self.weights) - 1
        for index, (w_RIO, b_R1O) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = torch.matmul(x, w_RIO) + b_R1O
            x = x if index == last else torch.relu(x)
        return x


def causal_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Exact attention by torch; `mask` (boolean, true where a query may look) replaces the causal one."""
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)


def unchanged(x: Tensor) -> Tensor:
    return x


class FeedForward(nn.Module):
    """Two matrices with a GELU between them, without biases."""

    def __init__(self, width: int, hidden: int, linear: Linear = functional.linear) -> None:
        super().__init__()
        self.up, self.down = _matrix(hidden, width), _matrix(width, hidden)
        self.linear = linear

    def forward(self, x_BTD: Tensor) -> Tensor:
        return self.linear(functional.gelu(self.linear(x_BTD, self.up)), self.down)


class Block(nn.Module):
    """Attention and a feed-forward network, each added to the residual stream.

    Pre-norm normalises what a branch reads; post-norm (as in BERT) normalises the sum.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        feed_forward: nn.Module,
        *,
        norm: Literal["pre", "post"],
        linear: Linear,
        attend: Attend,
        stream: Stream,
    ) -> None:
        super().__init__()
        self.heads, self.norm = heads, norm
        self.linear, self.attend, self.stream = linear, attend, stream
        self.qkv, self.out = _matrix(3 * width, width), _matrix(width, width)
        self.norm_attention, self.norm_feed_forward = nn.LayerNorm(width), nn.LayerNorm(width)
        self.feed_forward = feed_forward

    def attention(self, x_BTD: Tensor, mask: Tensor | None) -> Tensor:
        B, T, D = x_BTD.shape
        qkv = self.linear(x_BTD, self.qkv).view(B, T, 3, self.heads, D // self.heads)
        q_BHTK, k_BHTK, v_BHTK = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        y_BHTK = self.attend(q_BHTK, k_BHTK, v_BHTK, mask)
        return self.linear(y_BHTK.transpose(1, 2).reshape(B, T, D), self.out)

    def forward(self, x_BTD: Tensor, mask: Tensor | None = None) -> Tensor:
        if self.norm == "pre":
            x_BTD = self.stream(x_BTD + self.attention(self.norm_attention(x_BTD), mask))
            return self.stream(x_BTD + self.feed_forward(self.norm_feed_forward(x_BTD)))
        x_BTD = self.stream(self.norm_attention(x_BTD + self.attention(x_BTD, mask)))
        return self.stream(self.norm_feed_forward(x_BTD + self.feed_forward(x_BTD)))


class ByteGPT(nn.Module):
    """A decoder-only transformer over bytes, with learned positions and an output head of its own.

    Args:
        width: of the residual stream; must be a multiple of `heads`.
        length: the longest sequence.
        hidden: width of the feed-forward network; 4 × `width` by default.
        norm: `pre` or `post`.
        seed: fixes the initial weights.
        linear: computes the products of the blocks; `lab.numerics` makes one that rounds.
        head: computes the product of the output head.
        attend: computes attention from queries, keys, values and the mask.
        stream: applied to the residual stream after the embedding and after each branch.
        feed_forward: makes the feed-forward network of a block, given its index; default `FeedForward`.
    """

    def __init__(
        self,
        width: int = 64,
        layers: int = 2,
        heads: int = 4,
        length: int = 32,
        vocab: int = 128,
        *,
        hidden: int | None = None,
        norm: Literal["pre", "post"] = "pre",
        seed: int = 0,
        linear: Linear = functional.linear,
        head: Linear = functional.linear,
        attend: Attend = causal_attention,
        stream: Stream = unchanged,
        feed_forward: Callable[[int], nn.Module] | None = None,
    ) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"width {width} is not a multiple of {heads} heads")
        if norm not in ("pre", "post"):
            raise ValueError(f"norm must be pre or post, not {norm!r}")
        make = feed_forward or (lambda _: FeedForward(width, hidden or 4 * width, linear))
        self.head_linear, self.stream = head, stream
        self.symbols = nn.Parameter(torch.empty(vocab, width))
        self.positions = nn.Parameter(torch.empty(length, width))
        self.blocks = nn.ModuleList(
            Block(width, heads, make(index), norm=norm, linear=linear, attend=attend, stream=stream)
            for index in range(layers)
        )
        self.norm = nn.LayerNorm(width) if norm == "pre" else nn.Identity()
        self.head = _matrix(vocab, width)
        self._initialise(seed, layers)

    def _initialise(self, seed: int, layers: int) -> None:
        """Normal: matrices with deviation 1/sqrt(inputs), what writes into the stream 1/sqrt(2 layers) of that.

        GPT-2's constant deviation of 0.02 suits its width; at width 64 it spends the first hundred steps on a plateau,
        and paired runs part ways there.
        """
        generator = torch.Generator().manual_seed(seed)
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                embedding = name in ("symbols", "positions")
                deviation = EMBEDDING_DEVIATION if embedding else 1 / math.sqrt(parameter.shape[-1])
                if name.endswith(("out", "down")):
                    deviation /= math.sqrt(2 * layers)
                with torch.no_grad():
                    parameter.copy_(torch.randn(parameter.shape, generator=generator) * deviation)

    def forward(self, tokens_BT: Tensor, positions_BT: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        """Logits (B, T, V) of the next symbol.

        Args:
            tokens_BT: symbols, int64.
            positions_BT: which position each symbol holds; counted from 0 by default. Packing restarts them.
            mask: boolean, broadcastable to (B, H, T, T), true where a query may look; causal by default.
        """
        if positions_BT is None:
            positions_BT = torch.arange(tokens_BT.shape[1], device=tokens_BT.device)
        x_BTD = self.stream(
            functional.embedding(tokens_BT, self.symbols) + functional.embedding(positions_BT, self.positions)
        )
        for block in self.blocks:
            x_BTD = block(x_BTD, mask)
        return self.head_linear(self.norm(x_BTD), self.head)


def _matrix(outer: int, inner: int) -> nn.Parameter:
    return nn.Parameter(torch.empty(outer, inner))


def parameter_count(model: nn.Module, *, trainable: bool = False) -> int:
    """How many numbers the model holds; only those that training changes if `trainable`."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad or not trainable)
