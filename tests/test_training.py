"""The shared loops: they learn, they pair, they scale and skip as told, and replicas are independent runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor, nn

from evidence.lab.data import batches, digits, draws, held_out, library_bytes
from evidence.lab.models import MLP, ByteGPT
from evidence.lab.training import (
    adamw,
    evaluate,
    momentum,
    next_symbol_loss,
    plain_backward,
    replica_error,
    replica_loss,
    train,
    train_replicas,
    warmup_cosine,
)

pytestmark = pytest.mark.usefixtures("one_thread")


def run(steps: int = 30, seed: int = 0, **options: object) -> tuple[ByteGPT, list[float]]:
    model = ByteGPT(width=32, length=16, seed=seed)
    stream = batches(library_bytes().train, batch=8, length=16, seed=seed)
    return model, train(model, stream, steps, schedule=warmup_cosine(0.01, steps, 5), **options)  # type: ignore[arg-type]


def test_the_schedule_warms_up_peaks_and_ends_at_its_floor() -> None:
    rate = warmup_cosine(0.3, steps=100, warmup=10, floor=0.1)
    assert [rate(0), rate(9), rate(10)] == pytest.approx([0.03, 0.3, 0.3])
    assert rate(55) == pytest.approx(0.3 * (0.1 + 0.9 / 2)) and rate(100) == pytest.approx(0.03) == rate(1000)
    assert warmup_cosine(0.3, steps=10)(0) == 0.3


def test_training_lowers_the_held_out_loss_and_returns_every_loss() -> None:
    x, y = held_out(library_bytes().test, count=64, length=16)
    model, losses = run()
    assert len(losses) == 30 and losses[-1] < losses[0] - 0.8
    assert evaluate(model, x, y) < evaluate(ByteGPT(width=32, length=16), x, y) - 0.8
    assert evaluate(model, x, y, chunk=10) == pytest.approx(evaluate(model, x, y), rel=1e-5)


def test_equal_seeds_train_to_equal_weights_and_others_do_not() -> None:
    (one, _), (same, _), (other, _) = run(5), run(5), run(5, seed=1)
    assert torch.equal(one.head, same.head) and not torch.equal(one.head, other.head)


def test_loss_divided_and_gradient_multiplied_back_is_the_same_run() -> None:
    def accumulated(loss: Tensor, parameters: Sequence[Tensor]) -> bool:
        (loss / 1024).backward()
        for parameter in parameters:
            parameter.grad.mul_(1024)  # type: ignore[union-attr]
        return True

    assert torch.equal(run(5, backward=accumulated)[0].head, run(5)[0].head)


def test_a_skipped_step_changes_nothing() -> None:
    def never(loss: Tensor, parameters: Sequence[Tensor]) -> bool:
        plain_backward(loss, parameters)
        return False

    model, _ = run(3, backward=never)
    assert torch.equal(model.head, ByteGPT(width=32, length=16).head)


def test_the_gradient_is_clipped_before_the_step() -> None:
    moved = []
    for clip in (1e-3, None):
        model = ByteGPT(width=32, length=16)
        optimizer, start = torch.optim.SGD(model.parameters(), lr=1.0), model.head.detach().clone()
        stream = batches(library_bytes().train, batch=8, length=16, seed=0)
        train(model, stream, 1, schedule=lambda _: 1.0, optimizer=optimizer, clip=clip)
        moved.append(float((model.head - start).detach().norm()))
    assert moved[0] < 1e-3 < moved[1]


def test_adamw_leaves_frozen_weights_alone() -> None:
    model = ByteGPT(width=32, length=16)
    model.head.requires_grad_(False)
    before = model.head.clone()
    stream = batches(library_bytes().train, batch=8, length=16, seed=0)
    train(model, stream, 2, schedule=lambda _: 0.01, optimizer=adamw(model))
    assert torch.equal(model.head, before) and model.head.grad is None


def test_progress_is_reported_and_too_few_batches_are_refused() -> None:
    done: list[int] = []
    run(3, after=done.append)
    assert done == [1, 2, 3]
    pair = next(batches(library_bytes().train, batch=8, length=16, seed=0))
    with pytest.raises(ValueError, match="ended after 2"):
        train(ByteGPT(width=32, length=16), [pair, pair], 3, schedule=lambda _: 0.01)


def test_the_loss_of_a_model_that_knows_nothing_is_the_logarithm_of_the_symbols() -> None:
    class Ignorant(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.zeros(*x.shape, 128)

    x, y = held_out(library_bytes().test, count=4, length=16)
    assert float(next_symbol_loss(Ignorant(), x, y)) == pytest.approx(math.log(128), rel=1e-6)


def replicas(rates: Sequence[float], seeds: Sequence[int], steps: int = 20, **options: bool) -> MLP:
    model = MLP((64, 32, 10), seeds, copies=len(rates))
    per_replica = torch.tensor(rates).repeat_interleave(len(seeds))
    indices = draws(1297, batch=16, seeds=seeds)
    train_replicas(model, digits(), indices, steps, momentum(per_replica, **options))
    return model


def test_replicas_train_as_they_would_alone() -> None:
    together = replicas([0.01, 0.05], seeds=[3, 8])
    for replica, (rate, seed) in enumerate([(0.01, 3), (0.01, 8), (0.05, 3), (0.05, 8)]):
        alone = replicas([rate], seeds=[seed])
        assert torch.allclose(together.weights[0][replica], alone.weights[0][0], atol=1e-5)


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_is_that_of_torch(nesterov: bool) -> None:
    ours = replicas([0.05], seeds=[0], nesterov=nesterov)
    model, split, indices = MLP((64, 32, 10), [0]), digits(), draws(1297, batch=16, seeds=[0])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=nesterov)
    for _ in range(20):
        index = next(indices)
        optimizer.zero_grad()
        replica_loss(model, split.train_x[index], split.train_y[index]).sum().backward()
        optimizer.step()
    assert torch.allclose(ours.weights[1], model.weights[1], atol=1e-6)


def test_replicas_learn_and_stop_when_told() -> None:
    split, model = digits(), MLP((64, 32, 10), [0, 1])
    before = replica_error(model, split.test_x, split.test_y)
    update = momentum(torch.full((2,), 0.05), warmup_cosine(1.0, 200, 10))
    assert train_replicas(model, split, draws(1297, batch=32, seeds=[0, 1]), 200, update) == 200
    after = replica_error(model, split.test_x, split.test_y)
    assert before.min() > 0.5 and after.max() < 0.15
    stopped = train_replicas(model, split, draws(1297, batch=32, seeds=[0, 1]), 9, update, until=lambda n: n == 4)
    assert stopped == 4
    wrong = (model(split.test_x)[0].argmax(-1) != split.test_y).float().mean()
    assert float(replica_error(model, split.test_x, split.test_y)[0]) == pytest.approx(float(wrong))
