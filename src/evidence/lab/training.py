"""The training loops that notebooks of several levers share: one model over bytes, and many replicas at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from evidence.lab.data import Split
from evidence.lab.models import MLP

Schedule = Callable[[int], float]
"""The learning rate of a step, counted from 0."""
Backward = Callable[[Tensor, Sequence[Tensor]], bool]
"""`backward(loss, parameters)` fills the gradients and says whether the optimizer may step."""
Update = Callable[[int, Sequence[Tensor], Sequence[Tensor]], None]
"""`update(step, parameters, gradients)` changes the parameters in place."""


def warmup_cosine(peak: float, steps: int, warmup: int = 0, floor: float = 0.1) -> Schedule:
    """Linear from `peak / warmup` to `peak` over `warmup` steps, then a cosine down to `floor × peak` at the end."""

    def rate(step: int) -> float:
        if step < warmup:
            return peak * (step + 1) / warmup
        done = (step - warmup) / max(1, steps - warmup)
        return peak * (floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * min(1.0, done))))

    return rate


def adamw(
    model: nn.Module, *, betas: tuple[float, float] = (0.9, 0.95), decay: float = 0.1, eps: float = 1e-8
) -> torch.optim.Optimizer:
    """AdamW over the trainable parameters, decay on all of them; `train` sets its rate at every step."""
    trainable = [p for p in model.parameters() if p.requires_grad]
    return torch.optim.AdamW(trainable, lr=0.0, betas=betas, weight_decay=decay, eps=eps, fused=True)


def plain_backward(loss: Tensor, parameters: Sequence[Tensor]) -> bool:
    loss.backward()  # type: ignore[no-untyped-call]
    return True


def next_symbol_loss(model: nn.Module, x_BT: Tensor, y_BT: Tensor) -> Tensor:
    """Mean cross-entropy of the next symbol, in nats."""
    logits_BTV: Tensor = model(x_BT)
    return functional.cross_entropy(logits_BTV.flatten(0, 1), y_BT.flatten())


def train(
    model: nn.Module,
    batches: Iterable[tuple[Tensor, Tensor]],
    steps: int,
    *,
    schedule: Schedule,
    optimizer: torch.optim.Optimizer | None = None,
    loss: Callable[[nn.Module, Tensor, Tensor], Tensor] = next_symbol_loss,
    backward: Backward = plain_backward,
    clip: float | None = 1.0,
    after: Callable[[int], None] | None = None,
) -> list[float]:
    """Train in place for `steps` steps and return the training loss of each, in nats.

    Args:
        batches: inputs and targets; `lab.data.batches` pairs arms by seed.
        schedule: the learning rate of each step.
        optimizer: made by `adamw(model)` if not given.
        backward: fills gradients from the loss; loss scaling enters here, and a skipped step returns False.
        clip: limit of the global gradient norm; None leaves it alone.
        after: called with the number of steps done, after each.

    Raises:
        ValueError: fewer batches than steps.
    """
    optimizer = optimizer or adamw(model)
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    losses = []
    for step, (x, y) in zip(range(steps), batches, strict=False):
        for group in optimizer.param_groups:
            group["lr"] = schedule(step)
        optimizer.zero_grad()
        value = loss(model, x, y)
        if backward(value, parameters):
            if clip is not None:
                nn.utils.clip_grad_norm_(parameters, clip)
            optimizer.step()
        losses.append(value.detach())
        if after is not None:
            after(step + 1)
    if len(losses) < steps:
        raise ValueError(f"{steps} steps were asked for and the batches ended after {len(losses)}")
    return [float(value) for value in torch.stack(losses).tolist()]


@torch.no_grad()
def evaluate(model: nn.Module, x_BT: Tensor, y_BT: Tensor, chunk: int = 512) -> float:
    """Mean cross-entropy of the next symbol over held-out windows, in nats."""
    total = 0.0
    for first in range(0, len(x_BT), chunk):
        x, y = x_BT[first : first + chunk], y_BT[first : first + chunk]
        total += float(next_symbol_loss(model, x, y)) * len(x)
    return total / len(x_BT)


def replica_loss(model: MLP, x: Tensor, y: Tensor) -> Tensor:
    """Mean cross-entropy of each replica (R,), in nats; `y` is (B,) or (R, B)."""
    logits_RBC = model(x)
    targets_RB = y.expand(logits_RBC.shape[:2])
    return (
        functional.cross_entropy(logits_RBC.flatten(0, 1), targets_RB.flatten(), reduction="none")
        .view_as(targets_RB)
        .mean(1)
    )


@torch.no_grad()
def replica_error(model: MLP, x: Tensor, y: Tensor) -> Tensor:
    """Share of samples that each replica gets wrong (R,)."""
    wrong_RB: Tensor = model(x).argmax(-1) != y
    return wrong_RB.float().mean(1)


def train_replicas(
    model: MLP,
    data: Split,
    indices: Iterator[Tensor],
    steps: int,
    update: Update,
    *,
    until: Callable[[int], bool] | None = None,
) -> int:
    """Train all replicas at once on their own batches; returns the number of steps done.

    Args:
        indices: sample indices (S, B) of a step, from `lab.data.draws` or `epochs`; copies of a seed share them.
        update: the optimizer, for example `momentum(…)`.
        until: called with the number of steps done, after each; True ends the run.
    """
    parameters = list(model.parameters())
    for step in range(steps):
        index_RB = next(indices).repeat(model.copies, 1)
        # The sum keeps every replica's gradient its own.
        loss = replica_loss(model, data.train_x[index_RB], data.train_y[index_RB]).sum()
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            update(step, parameters, gradients)
        if until is not None and until(step + 1):
            return step + 1
    return steps


def momentum(rates_R: Tensor, scale: Schedule = lambda _: 1.0, *, beta: float = 0.9, nesterov: bool = False) -> Update:
    """SGD with momentum and one learning rate per replica, times `scale(step)`."""
    rate_R11 = rates_R.view(-1, 1, 1)
    velocity: list[Tensor] = []

    def update(step: int, parameters: Sequence[Tensor], gradients: Sequence[Tensor]) -> None:
        if not velocity:
            velocity.extend(torch.zeros_like(p) for p in parameters)
        for p, g, v in zip(parameters, gradients, velocity, strict=True):
            v.mul_(beta).add_(g)
            p.sub_((g + beta * v if nesterov else v) * (rate_R11 * scale(step)))

    return update
