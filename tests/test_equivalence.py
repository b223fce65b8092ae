"""The equivalence test tells exact techniques from inexact ones with orders of magnitude between them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from evidence.lab.equivalence import (
    TOLERANCE,
    Batch,
    Trainee,
    adamw,
    clip,
    distance,
    distances,
    flat64,
    plain,
    text_batch,
    trajectory,
)
from evidence.lab.models import MLP, ByteGPT

RANKS = 4
Step = Callable[[Trainee, Batch], None]


pytestmark = pytest.mark.usefixtures("one_thread")


def shares(trainee: Trainee, batch: Batch) -> list[Tensor]:
    """What each rank adds to the gradient of the token-weighted mean."""
    return [trainee.gradient(trainee.loss_sum(part) / batch.count) for part in batch.split(RANKS)]


def accumulation(trainee: Trainee, batch: Batch) -> None:
    trainee.update(clip(sum(shares(trainee, batch))))  # type: ignore[arg-type]


def recomputation(trainee: Trainee, batch: Batch) -> None:
    loss = checkpoint(trainee.loss_sum, batch, use_reentrant=False) / batch.count
    trainee.update(clip(trainee.gradient(loss)))


def sharded(trainee: Trainee, batch: Batch) -> None:
    """Every rank owns a quarter of the gradient's sum, of AdamW's state and of the update."""
    owned = [sum(pieces) for pieces in zip(*(g.chunk(RANKS) for g in shares(trainee, batch)), strict=True)]
    scale = torch.clamp(1.0 / sum(g.square().sum() for g in owned).sqrt(), max=1.0)  # type: ignore[union-attr]
    trainee.t += 1
    states = zip(owned, *(each.chunk(RANKS) for each in (trainee.w, trainee.m, trainee.v)), strict=True)
    for g, w, m, v in states:
        adamw(w, g * scale, m, v, trainee.t)


def packing(masked: bool = True, restarted: bool = True) -> Step:
    """All sequences in one row after each other, as long as that row may be."""

    def step(trainee: Trainee, batch: Batch) -> None:
        loss = torch.zeros((), dtype=trainee.w.dtype)
        rows = [(tokens[: n + 1], int(n)) for tokens, n in zip(batch.tokens, batch.lengths, strict=True)]
        for packed in fill(rows, 48):
            inputs = torch.cat([tokens[:-1] for tokens, _ in packed])[None]
            targets = torch.cat([tokens[1:] for tokens, _ in packed])
            owner = torch.cat([torch.full((n,), index) for index, (_, n) in enumerate(packed)])
            positions = torch.cat([torch.arange(n) for _, n in packed]) if restarted else None
            mask = (owner[:, None] == owner) & torch.ones(len(owner), len(owner)).tril().bool() if masked else None
            logits = trainee.model(inputs, positions, mask)[0]
            loss = loss + functional.cross_entropy(logits, targets, reduction="sum")
        trainee.update(clip(trainee.gradient(loss / batch.count)))

    return step


def fill(rows: list[tuple[Tensor, int]], capacity: int) -> list[list[tuple[Tensor, int]]]:
    """First-fit packing."""
    packed: list[list[tuple[Tensor, int]]] = []
    for row in rows:
        for bin_ in packed:
            if sum(n for _, n in bin_) + row[1] <= capacity:
                bin_.append(row)
                break
        else:
            packed.append([row])
    return packed


def mean_of_means(trainee: Trainee, batch: Batch) -> None:
    """The classic bug: ranks hold unequal numbers of tokens and their means are averaged."""
    parts = [trainee.gradient(trainee.loss_sum(part) / part.count) for part in batch.split(RANKS)]
    trainee.update(clip(sum(parts) / RANKS))  # type: ignore[arg-type]


def clip_per_rank(trainee: Trainee, batch: Batch) -> None:
    trainee.update(sum(clip(RANKS * g) for g in shares(trainee, batch)) / RANKS)  # type: ignore[arg-type]


def bf16_reduce(trainee: Trainee, batch: Batch) -> None:
    trainee.update(clip(sum(g.bfloat16() for g in shares(trainee, batch)).double()))  # type: ignore[union-attr]


def bf16_weights(trainee: Trainee, batch: Batch) -> None:
    plain(trainee, batch)
    trainee.w.copy_(trainee.w.bfloat16())


def delayed(trainee: Trainee, batch: Batch) -> None:
    g = clip(trainee.gradient(trainee.loss_sum(batch) / batch.count))
    trainee.update(trainee.memory.get("g", g))
    trainee.memory["g"] = g


@pytest.mark.parametrize("step", [accumulation, recomputation, sharded, packing()])
def test_exact_techniques_stay_at_rounding_error(step: Step) -> None:
    found = distances(step, [0], (1, 20))
    assert max(found[1] + found[20]) < 1e-12


INEXACT = [
    mean_of_means,
    clip_per_rank,
    bf16_reduce,
    bf16_weights,
    delayed,
    packing(masked=False),
    packing(restarted=False),
]


@pytest.mark.parametrize("step", INEXACT)
def test_inexact_techniques_go_elsewhere(step: Step) -> None:
    assert min(distances(step, [0], (5,))[5]) > 1e-6 > 100 * TOLERANCE


def test_one_step_does_not_show_a_delay_and_so_is_not_enough() -> None:
    found = distances(delayed, [0], (1, 2))
    assert found[1] == [0.0] and found[2][0] > TOLERANCE


def test_one_distance_per_seed_and_checkpoint_and_none_for_the_reference() -> None:
    found = distances(plain, [0, 1], (1, 2))
    assert found == {1: [0.0, 0.0], 2: [0.0, 0.0]}
    assert not torch.equal(trajectory(plain, 0, (1,))[1], trajectory(plain, 1, (1,))[1])


def test_the_flat_vector_is_what_the_model_computes_with() -> None:
    trainee = Trainee(seed=0)
    assert torch.equal(trainee.w, flat64(trainee.model))
    trainee.w.zero_()
    assert float(trainee.model(torch.zeros(1, 4, dtype=torch.int64)).detach().abs().max()) == 0.0


@torch.no_grad()
def test_padding_does_not_reach_the_loss() -> None:
    trainee, batch = Trainee(seed=0), text_batch(torch.Generator().manual_seed(0))
    loss, changed = float(trainee.loss_sum(batch)), batch.tokens.clone()
    alone = 0.0
    for row, length in enumerate(batch.lengths.tolist()):
        changed[row, length + 1 :] = 0
        logits = trainee.model(batch.tokens[row : row + 1, :length])[0]
        alone += float(functional.cross_entropy(logits, batch.tokens[row, 1 : length + 1], reduction="sum"))
    assert float(trainee.loss_sum(Batch(changed, batch.lengths))) == pytest.approx(loss, rel=1e-12)
    assert alone == pytest.approx(loss, rel=1e-12)


def test_batches_are_of_unequal_length_and_split_without_loss() -> None:
    batch = text_batch(torch.Generator().manual_seed(3))
    assert len(batch) == 16 and len(set(batch.lengths.tolist())) > 5 and int(batch.lengths.min()) >= 6
    assert int(batch.lengths.max()) <= 48
    parts = batch.split(4)
    assert [len(part) for part in parts] == [4] * 4 and sum(part.count for part in parts) == batch.count
    with pytest.raises(ValueError, match="does not divide"):
        batch.split(5)


def test_adamw_and_clip_are_those_of_torch() -> None:
    w = torch.randn(50, dtype=torch.float64)
    theirs = w.clone().requires_grad_()
    optimizer = torch.optim.AdamW([theirs], lr=1e-3, weight_decay=0.1)
    m, v = torch.zeros_like(w), torch.zeros_like(w)
    for t in range(1, 6):
        g = torch.randn(50, dtype=torch.float64) * 10
        theirs.grad = g.clone()
        torch.nn.utils.clip_grad_norm_([theirs], 1.0)
        optimizer.step()
        adamw(w, clip(g), m, v, t)
    assert torch.allclose(w, theirs.detach(), atol=1e-7)
    small = torch.full((4,), 1e-3)
    assert torch.equal(clip(small), small) and torch.equal(clip(torch.zeros(3)), torch.zeros(3))


def test_distance_is_relative_over_all_parameters_in_double_precision() -> None:
    a, b = [torch.tensor([3.0]), torch.tensor([[4.0]])], [torch.tensor([3.0]), torch.tensor([[5.0]])]
    assert distance(a, b) == pytest.approx(1 / 34**0.5, rel=1e-12)
    assert distance({"x": a[0], "y": a[1]}, {"y": b[1], "x": b[0]}) == distance(a, b)
    tiny = torch.tensor([1.0, 1e-30])
    assert distance(torch.tensor([1.0, 2e-30]), tiny) == pytest.approx(1e-30, rel=1e-3)
    model = ByteGPT(width=32)
    assert distance(model, model) == 0.0 and distance(model, ByteGPT(width=32, seed=1)) > 0.1


@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        (torch.ones(3), torch.ones(4), "cannot compare 3 with 4"),
        (torch.ones(3), torch.zeros(3), "reference is zero"),
        (MLP((4, 2), [0]), ByteGPT(width=32), "cannot compare"),
        ({"x": torch.ones(2)}, {"y": torch.ones(2)}, "different names"),
    ],
)
def test_what_cannot_be_compared_is_refused(a: object, b: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        distance(a, b)  # type: ignore[arg-type]
