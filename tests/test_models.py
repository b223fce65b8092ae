"""Models and the products that round: against plain torch, and for what must not leak or change."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from evidence.lab.models import MLP, ByteGPT, FeedForward, parameter_count
from evidence.lab.numerics import Product, both_ways


def tokens(seed: int = 0, rows: int = 3, length: int = 16) -> Tensor:
    return torch.randint(128, (rows, length), generator=torch.Generator().manual_seed(seed))


def gradients(model: ByteGPT, x: Tensor) -> list[Tensor]:
    return list(torch.autograd.grad(model(x).square().mean(), list(model.parameters())))


def test_every_replica_is_the_perceptron_that_it_would_be_alone() -> None:
    sizes, x = (64, 32, 10), torch.randn(7, 64)
    model = MLP(sizes, seeds=[4, 9], copies=3)
    assert model.replicas == 6 and model(x).shape == (6, 7, 10)
    for replica, seed in enumerate([4, 9] * 3):
        assert torch.allclose(model(x)[replica], MLP(sizes, seeds=[seed])(x)[0], atol=1e-5)
    hidden = torch.relu(x @ model.weights[0][1] + model.biases[0][1])
    assert torch.allclose(model(x)[1], hidden @ model.weights[1][1] + model.biases[1][1], atol=1e-5)


def test_replicas_take_their_own_inputs_and_keep_their_gradients_apart() -> None:
    model, x = MLP((4, 8, 3), seeds=range(3)), torch.randn(3, 5, 4)
    model(x)[1].sum().backward()
    touched = [bool(grad.abs().sum()) for grad in model.weights[0].grad]  # type: ignore[union-attr]
    assert touched == [False, True, False]


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_no_position_sees_a_later_symbol(norm: str) -> None:
    model, x = ByteGPT(width=32, length=16, norm=norm), tokens()  # type: ignore[arg-type]
    changed = x.clone()
    changed[:, 9] = (x[:, 9] + 1) % 128
    before, after = model(x), model(changed)
    assert torch.equal(before[:, :9], after[:, :9]) and not torch.allclose(before[:, 9:], after[:, 9:])


def test_norms_differ_and_seeds_fix_the_weights() -> None:
    pre, post = ByteGPT(width=32, norm="pre", seed=1), ByteGPT(width=32, norm="post", seed=1)
    assert torch.equal(pre.blocks[0].qkv, post.blocks[0].qkv)
    assert not torch.allclose(pre(tokens()), post(tokens()))
    assert not torch.equal(pre.head, ByteGPT(width=32, seed=2).head)
    # A post-norm block ends in a norm: its output has mean zero and unit variance at every position.
    out = post.blocks[-1](torch.randn(2, 5, 32))
    assert torch.allclose(out.mean(-1), torch.zeros(2, 5), atol=1e-5)


def test_the_parameters_are_those_of_the_formula() -> None:
    d, layers, length, symbols = 64, 2, 32, 128
    expected = layers * (12 * d * d + 4 * d) + 2 * d + (2 * symbols + length) * d
    model = ByteGPT(d, layers, 4, length, symbols)
    assert parameter_count(model) == expected
    model.head.requires_grad_(False)
    assert parameter_count(model, trainable=True) == expected - symbols * d


def test_packed_sequences_give_what_they_give_alone() -> None:
    model, a, b = ByteGPT(width=32, length=16).double(), tokens(1, 1, 6), tokens(2, 1, 10)
    packed = torch.cat([a, b], dim=1)
    positions = torch.cat([torch.arange(6), torch.arange(10)])
    row = torch.cat([torch.zeros(6), torch.ones(10)])
    mask = (row[:, None] == row) & torch.ones(16, 16).tril().bool()
    alone = torch.cat([model(a), model(b)], dim=1)
    assert torch.allclose(model(packed, positions, mask), alone, atol=1e-12)
    assert not torch.allclose(model(packed, positions), alone, atol=1e-3)
    assert not torch.allclose(model(packed, None, mask), alone, atol=1e-3)


def test_a_feed_forward_of_ones_own_takes_its_place() -> None:
    made = ByteGPT(width=32, feed_forward=lambda index: FeedForward(32, 8 + index))
    assert [block.feed_forward.up.shape[0] for block in made.blocks] == [8, 9]
    assert parameter_count(ByteGPT(width=32, hidden=8)) < parameter_count(ByteGPT(width=32))
    assert bool(made.blocks[0].feed_forward.up.std() > 0.1), "its weights are initialised with the others"


@pytest.mark.parametrize(("arguments", "says"), [({"width": 30}, "multiple"), ({"norm": "prenorm"}, "pre or post")])
def test_an_impossible_model_is_refused(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        ByteGPT(**arguments)  # type: ignore[arg-type]


def test_products_without_rounding_change_nothing() -> None:
    plain = Product()
    parts = {"linear": plain.linear, "head": plain.linear, "attend": plain.attend, "stream": both_ways(lambda x: x)}
    ours, theirs = ByteGPT(width=32, **parts).double(), ByteGPT(width=32).double()  # type: ignore[arg-type]
    assert torch.allclose(ours(tokens()), theirs(tokens()), atol=1e-13)
    for a, b in zip(gradients(ours, tokens()), gradients(theirs, tokens()), strict=True):
        assert torch.allclose(a, b, atol=1e-13)


class Calls:
    """Marks which tensors a rounding was given, by their shapes, and shifts them so that its effect can be traced."""

    def __init__(self, factor: float) -> None:
        self.factor, self.shapes = factor, []  # type: tuple[float, list[tuple[int, ...]]]

    def __call__(self, x: Tensor) -> Tensor:
        self.shapes.append(tuple(x.shape))
        return x * self.factor


def test_a_linear_product_rounds_both_operands_the_gradient_and_all_three_results() -> None:
    operand, gradient, result = Calls(2.0), Calls(3.0), Calls(5.0)
    x, w = torch.randn(2, 4, 3, requires_grad=True), torch.randn(6, 3, requires_grad=True)
    y = Product(operand, gradient, result).linear(x, w)
    assert torch.allclose(y, 20 * functional.linear(x, w), atol=1e-5)
    g = torch.randn_like(y)
    y.backward(g)
    # 3 from the gradient, 2 from the operand that was saved rounded, 5 from the result.
    assert torch.allclose(x.grad, 30 * (g @ w), atol=1e-4)  # type: ignore[arg-type]
    assert torch.allclose(w.grad, 30 * torch.einsum("bto,bti->oi", g, x), atol=1e-4)  # type: ignore[arg-type]
    assert operand.shapes == [(8, 3), (6, 3)] and gradient.shapes == [(8, 6)]
    assert result.shapes == [(8, 6), (8, 3), (6, 3)]


def test_a_product_of_its_own_for_the_weight_gradient_may_ask_for_it_unrounded() -> None:
    for raw, expected in ((False, 3.0), (True, 1.0)):
        seen: list[Tensor] = []

        def look(g_NO: Tensor, x_NI: Tensor, seen: list[Tensor] = seen) -> Tensor:
            seen.append(g_NO)
            return g_NO.mT @ x_NI

        x, w = torch.randn(4, 3), torch.randn(6, 3, requires_grad=True)
        product = Product(gradient=lambda g: 3 * g, weight_gradient=look, raw_weight_gradient=raw)
        product.linear(x, w).sum().backward()
        assert torch.equal(seen[0], torch.full((4, 6), expected))


def test_gradients_are_rounded_like_operands_unless_said_otherwise() -> None:
    x = torch.randn(4, 3, requires_grad=True)
    Product(operand=lambda t: t.bfloat16().float()).linear(x, torch.eye(3)).backward(torch.full((4, 3), 1.001))
    assert torch.equal(x.grad, torch.ones(4, 3))  # type: ignore[arg-type]


def test_attention_rounds_and_stays_causal_and_masked() -> None:
    q, k, v = (torch.randn(2, 4, 8, 16) for _ in range(3))
    exact = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert torch.allclose(Product().attend(q, k, v), exact, atol=1e-5)
    rounded = Product(operand=lambda t: t.bfloat16().float()).attend(q, k, v)
    assert 1e-4 < float((rounded - exact).norm() / exact.norm()) < 2e-2
    mask = torch.eye(8, dtype=torch.bool)
    assert torch.allclose(Product().attend(q, k, v, mask), v, atol=1e-6)


def test_the_stream_is_rounded_both_ways() -> None:
    x = torch.tensor([1.001], requires_grad=True)
    y = both_ways(lambda t: t.bfloat16().float())(x)
    y.backward(torch.tensor([2.002]))
    assert y.item() == 1.0 and x.grad is not None and x.grad.item() == 2.0


def test_a_model_in_bf16_moves_away_from_fp32_less_than_one_with_fewer_bits() -> None:
    def coarse(x: Tensor) -> Tensor:
        step = torch.exp2(x.abs().clamp(min=1e-30).log2().floor() - 2)
        return (x / step).round() * step

    x, far = tokens(), []
    for rounding in (lambda t: t, lambda t: t.bfloat16().float(), coarse):
        product = Product(operand=rounding, result=rounding)
        far.append(float((ByteGPT(linear=product.linear)(x) - ByteGPT()(x)).detach().norm()))
    assert far[0] < 1e-3 and all(a < b for a, b in pairwise(far))
