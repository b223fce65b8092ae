"""Does a technique compute the same thing? Train both ways in double precision and compare all parameters.

The harness is a small transformer on text of unequal lengths, a token-weighted mean loss, a clipped gradient and
AdamW, all on one flat vector, so that a technique can replace any part: gradient, reduction, clipping, update, storage.
Exact techniques stay near 1e-14 after 20 steps, inexact ones lie above 1e-6; what lies between is unclear.

Shapes: P parameters, B sequences, T positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from evidence.lab.data import library_bytes
from evidence.lab.models import ByteGPT

TOLERANCE = 1e-10
"""Of the relative distance after 20 steps: between the largest of an exact technique (7e-15) and the smallest of an
inexact one (1e-6)."""
CHECKPOINTS = (1, 5, 20)
"""At least two steps are needed: a gradient that comes one step late agrees after the first."""

Parameters = Tensor | nn.Module | Mapping[str, Tensor] | Iterable[Tensor]
Parts = Mapping[str, Any]


def flat64(parameters: Parameters) -> Tensor:
    """All numbers of a tensor, module, mapping or sequence as one vector (P,) in double precision."""
    if isinstance(parameters, Tensor):
        parts: Iterable[Tensor] = [parameters]
    elif isinstance(parameters, nn.Module):
        parts = parameters.parameters()
    elif isinstance(parameters, Mapping):
        parts = [parameters[key] for key in sorted(parameters)]
    else:
        parts = parameters
    return torch.cat([part.detach().reshape(-1).double().cpu() for part in parts])


def distance(a: Parameters, b: Parameters) -> float:
    """Relative Frobenius distance ‖a − b‖ / ‖b‖ over all parameters, in double precision.

    Raises:
        ValueError: they hold different numbers of parameters or mappings of different names, or `b` is zero.
    """
    if isinstance(a, Mapping) and isinstance(b, Mapping) and a.keys() != b.keys():
        raise ValueError(f"cannot compare parameters of different names: {sorted(a.keys() ^ b.keys())}")
    flat_a, flat_b = flat64(a), flat64(b)
    if flat_a.shape != flat_b.shape:
        raise ValueError(f"cannot compare {flat_a.numel():,} with {flat_b.numel():,} parameters")
    norm = flat_b.norm()
    if norm == 0:
        raise ValueError("the reference is zero, so a relative distance has no meaning")
    return float((flat_a - flat_b).norm() / norm)


@dataclass(frozen=True)
class Batch:
    """Sequences of unequal length, padded on the right: `tokens` (B, T + 1) int64, `lengths` (B,) in predictions."""

    tokens: Tensor
    lengths: Tensor

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, rows: slice) -> Batch:
        return Batch(self.tokens[rows], self.lengths[rows])

    @property
    def count(self) -> int:
        """Predictions in the batch."""
        return int(self.lengths.sum())

    def split(self, parts: int) -> list[Batch]:
        """Equal numbers of sequences, and so unequal numbers of tokens: what ranks or micro-batches get.

        Raises:
            ValueError: the sequences do not divide evenly.
        """
        size, rest = divmod(len(self), parts)
        if rest:
            raise ValueError(f"{parts} does not divide {len(self)} sequences")
        return [self[first : first + size] for first in range(0, len(self), size)]


def text_batch(generator: torch.Generator, *, size: int = 16, shortest: int = 6, longest: int = 48) -> Batch:
    """Sequences of random length at random places of the library's text."""
    text = library_bytes().train
    lengths = torch.randint(shortest, longest + 1, (size,), generator=generator)
    starts = torch.randint(len(text) - longest - 1, (size,), generator=generator)
    return Batch(text[starts[:, None] + torch.arange(longest + 1)].long(), lengths)


def adamw(
    w: Tensor, g: Tensor, m: Tensor, v: Tensor, t: int, *, rate: float = 1e-3, decay: float = 0.1, eps: float = 1e-8
) -> None:
    """One AdamW step in place on flat tensors or equal slices of them; `t` counts from 1. Betas 0.9 and 0.999.

    `eps` must stay far above rounding noise: gradients that are zero in theory would else be noise over noise.
    """
    m.mul_(0.9).add_(g, alpha=0.1)
    v.mul_(0.999).addcmul_(g, g, value=0.001)
    w.mul_(1 - rate * decay).sub_(rate * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)).sqrt() + eps))


def clip(g: Tensor, limit: float = 1.0) -> Tensor:
    """The gradient, scaled down if its norm exceeds `limit`."""
    return g * torch.clamp(limit / g.norm(), max=1.0)


class Trainee:
    """A model with its parameters as one flat vector `w`, and AdamW's state `m`, `v`, `t` beside it.

    `w` is what the model computes with: changing it in place changes the model. `memory` is the technique's own, for
    what it carries from step to step (a delayed gradient, the error that is fed back). `parts` are keyword arguments of
    `ByteGPT`, for a technique that lives inside the model.
    """

    def __init__(
        self, seed: int, dtype: torch.dtype = torch.float64, device: str = "cpu", parts: Parts | None = None
    ) -> None:
        model = ByteGPT(width=32, layers=2, heads=4, length=48, seed=seed, **(parts or {}))
        self.model = model.to(device, dtype)
        self.parameters = list(self.model.parameters())
        self.w = torch.cat([p.detach().reshape(-1) for p in self.parameters])
        first = 0
        for p in self.parameters:
            p.data = self.w[first : first + p.numel()].view_as(p)
            first += p.numel()
        self.m, self.v, self.t = torch.zeros_like(self.w), torch.zeros_like(self.w), 0
        self.memory: dict[str, Tensor] = {}

    def loss_sum(self, batch: Batch) -> Tensor:
        """Sum of the cross-entropy over all predictions of the batch; divide by `batch.count` for the mean."""
        device = self.w.device
        inputs, targets = batch.tokens[:, :-1].to(device), batch.tokens[:, 1:].to(device)
        real = torch.arange(inputs.shape[1]) < batch.lengths[:, None]
        targets = targets.masked_fill(~real.to(device), -100)
        logits = self.model(inputs)
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum")

    def gradient(self, loss: Tensor) -> Tensor:
        """The gradient of a loss as one flat vector (P,)."""
        return torch.cat([g.reshape(-1) for g in torch.autograd.grad(loss, self.parameters)])

    def update(self, g: Tensor) -> None:
        """One AdamW step with the gradient as given: clip it before."""
        self.t += 1
        adamw(self.w, g, self.m, self.v, self.t)


Step = Callable[[Trainee, Batch], None]


def plain(trainee: Trainee, batch: Batch) -> None:
    """The reference step: the whole batch at once, token-weighted mean, clipped, AdamW."""
    trainee.update(clip(trainee.gradient(trainee.loss_sum(batch) / batch.count)))


def trajectory(
    step: Step,
    seed: int,
    checkpoints: Sequence[int] = CHECKPOINTS,
    *,
    dtype: torch.dtype = torch.float64,
    device: str = "cpu",
    parts: Parts | None = None,
) -> dict[int, Tensor]:
    """Train with `step` from this seed's weights on its batches; the parameters after each checkpoint.

    Args:
        dtype: of everything; single precision shows how much of a distance is rounding.
        parts: keyword arguments of `ByteGPT`, for a technique inside the model (`linear`, `attend`, …).
    """
    trainee, generator, found = Trainee(seed, dtype, device, parts), torch.Generator().manual_seed(seed), {}
    for done in range(1, max(checkpoints) + 1):
        step(trainee, text_batch(generator))
        if done in checkpoints:
            found[done] = trainee.w.clone()
    return found


def distances(
    step: Step,
    seeds: Iterable[int],
    checkpoints: Sequence[int] = CHECKPOINTS,
    reference: Step = plain,
    *,
    dtype: torch.dtype = torch.float64,
    device: str = "cpu",
    parts: Parts | None = None,
) -> dict[int, list[float]]:
    """Relative distance of a technique's parameters from the reference's after each checkpoint, one per seed.

    `parts` enter the technique's model alone.
    """
    found: dict[int, list[float]] = {done: [] for done in checkpoints}
    for seed in seeds:
        ours = trajectory(step, seed, checkpoints, dtype=dtype, device=device, parts=parts)
        theirs = trajectory(reference, seed, checkpoints, dtype=dtype, device=device)
        for done in checkpoints:
            found[done].append(distance(ours[done], theirs[done]))
    return found
