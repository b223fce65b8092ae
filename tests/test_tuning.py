"""Steps to a target at the best rate of a grid: the right rate wins, and giving up early changes nothing."""

from __future__ import annotations

import math
from functools import cache

import pytest
import torch
from torch import Tensor

from evidence.lab.data import digits, draws
from evidence.lab.models import MLP
from evidence.lab.training import momentum, replica_loss, train_replicas
from evidence.lab.tuning import Tuned, best_rate, steps_to_target

RATES, SEEDS, TARGET = (0.002, 0.05, 0.1), (3, 4), 0.6


@cache
def swept(rates: tuple[float, ...] = RATES, seeds: tuple[int, ...] = SEEDS, limit: int = 60) -> Tensor:
    data = digits()
    indices = draws(len(data.train_x), batch=64, seeds=seeds)
    return steps_to_target(data, indices, rates, seeds, target=TARGET, limit=limit, hidden=16)


def alone(rate: float, seed: int, limit: int = 60) -> float:
    """The same count without replicas, without a grid and without giving up."""
    data, model = digits(), MLP([64, 16, 16, 10], [seed])
    indices, found = draws(len(data.train_x), batch=64, seeds=[seed]), []

    def look(done: int) -> bool:
        with torch.no_grad():
            found.append(float(replica_loss(model, data.test_x, data.test_y)))
        return found[-1] <= TARGET

    steps = train_replicas(model, data, indices, limit, momentum(torch.tensor([rate])), until=look)
    return steps if found[-1] <= TARGET else math.inf


def test_counts_are_those_of_each_run_alone() -> None:
    found = swept()
    best = int(found.mean(1).argmin())
    assert best in (1, 2)
    assert found[best].tolist() == [alone(RATES[best], seed) for seed in SEEDS]


def test_a_hopeless_rate_is_given_up_and_cannot_win() -> None:
    found = swept()
    assert found[0].isinf().all()
    assert best_rate(RATES, found).rate == RATES[int(found.mean(1).argmin())]
    only_good = swept((RATES[1], RATES[2]))
    assert best_rate(RATES[1:], only_good) == best_rate(RATES, found), "its neighbours in the grid are not disturbed"


def test_the_mean_decides_not_the_luckiest_seed() -> None:
    reached = torch.tensor([[10.0, 90.0], [40.0, 44.0], [5.0, math.inf]])
    tuned = best_rate((0.1, 0.2, 0.4), reached)
    assert tuned == Tuned(0.2, (40, 44))
    assert tuned.mean == 42.0


def test_no_rate_that_reaches_the_target_is_an_error() -> None:
    found = swept(limit=3)
    assert found.isinf().all()
    with pytest.raises(ValueError, match="at no rate"):
        best_rate(RATES, found)
