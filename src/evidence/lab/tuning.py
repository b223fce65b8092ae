"""Steps to a target, with the learning rate tuned for each batch size: every rate and every seed is trained at once.

Comparing batch sizes at one learning rate compares the rates. Here all rates of a grid are copies of the same seeds,
and a rate is given up as soon as it cannot beat the best one any more.

Shapes: C rates of the grid, S seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from evidence.lab.data import Split
from evidence.lab.models import MLP
from evidence.lab.training import Update, momentum, replica_loss, train_replicas


@dataclass(frozen=True)
class Tuned:
    """The rate with the fewest mean steps, and the steps of each seed at that rate."""

    rate: float
    steps: tuple[int, ...]

    @property
    def mean(self) -> float:
        return sum(self.steps) / len(self.steps)


def steps_to_target(
    data: Split,
    indices: Iterator[Tensor],
    rates: Sequence[float],
    seeds: Sequence[int],
    *,
    target: float,
    limit: int,
    hidden: int = 64,
    layers: int = 2,
    update: Callable[[Tensor], Update] = momentum,
) -> Tensor:
    """Steps (C, S) until the held-out loss is at most `target`, looked at after every step; infinite where given up.

    Args:
        indices: sample indices (S, B) of a step, from `lab.data.draws`.
        rates: the grid; each rate is held constant.
        limit: give up after so many steps.
        hidden, layers: width and number of hidden layers.
        update: makes the optimizer from one rate a replica (C × S).
    """
    device, classes = data.train_x.device, int(data.train_y.max()) + 1
    model = MLP([data.train_x.shape[1], *[hidden] * layers, classes], seeds, copies=len(rates)).to(device)
    reached_CS = torch.full((len(rates), len(seeds)), math.inf, device=device)

    def decided(done: int) -> bool:
        with torch.no_grad():
            loss_CS = replica_loss(model, data.test_x, data.test_y).view_as(reached_CS)
        reached_CS[(loss_CS <= target) & reached_CS.isinf()] = done
        # A seed that is still running needs more steps than are done: a lower limit for its rate's mean.
        least_C = reached_CS.clamp(max=done).mean(1)
        running_C = reached_CS.isinf().any(1)
        return not bool((running_C & (least_C < reached_CS.mean(1).min())).any())

    rate_R = torch.tensor(rates, device=device).repeat_interleave(len(seeds))
    train_replicas(model, data, indices, limit, update(rate_R), until=decided)
    return reached_CS.cpu()


def best_rate(rates: Sequence[float], reached_CS: Tensor) -> Tuned:
    """The rate that reaches the target soonest on average, over a grid's `steps_to_target`.

    Raises:
        ValueError: at no rate did all seeds reach the target.
    """
    mean_C = reached_CS.mean(1)
    best = int(mean_C.argmin())
    if math.isinf(float(mean_C[best])):
        raise ValueError("at no rate did all seeds reach the target: raise the limit or widen the grid")
    return Tuned(float(rates[best]), tuple(int(steps) for steps in reached_CS[best].tolist()))
