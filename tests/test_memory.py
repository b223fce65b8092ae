"""The memory budget: totals that the models' publishers state, sums that a reader can check, bad input refused."""

from __future__ import annotations

import pytest

from evidence.library.errors import InputError
from evidence.library.load import ENTERABLE, load
from evidence.library.project import find_project
from evidence.rounds.architectures import MODELS
from evidence.rounds.memory import FP32_GRADIENTS, GIB, MIXED, Precision, budget

PUBLISHED = {
    "llama31_8b": 8.03e9,
    "flux1": 11.9e9,
    "llama31_405b": 405.85e9,
    "deepseekv3_671b": 671.0e9,
    "qwen35_397b_grpo": 397e9,
}


@pytest.mark.parametrize(("benchmark", "total"), PUBLISHED.items())
def test_the_dimensions_give_the_published_number_of_parameters(benchmark: str, total: float) -> None:
    assert MODELS[benchmark].trained == pytest.approx(total, rel=0.003)


def test_gpt_oss_has_the_published_number_but_for_the_vocabulary_that_the_benchmark_does_not_use() -> None:
    unused = 2 * 2880 * (201_088 - 128_256)
    assert MODELS["gpt_oss_20b"].trained + unused == pytest.approx(20.9e9, rel=0.003)
    assert MODELS["gpt_oss_20b"].vocab == MODELS["llama31_8b"].vocab


def test_adapters_and_their_frozen_model() -> None:
    assert MODELS["llama2_70b_lora"].frozen == pytest.approx(68.98e9, rel=1e-4)
    assert MODELS["llama2_70b_lora"].trained == 44_564_480


def test_tables_are_as_large_as_their_rows() -> None:
    assert MODELS["dlrm_dcnv2"].tables == 204_184_588 * 128 * 8
    assert MODELS["dlrmv4"].tables == 293_051_712 * (512 * 4 + 4)


def test_every_benchmark_of_the_two_rounds_has_a_model_and_no_other() -> None:
    for round, benchmarks in load(find_project()).benchmarks.items():
        enterable = {name for name, each in benchmarks.items() if each.status in ENTERABLE}
        assert enterable == {name for name, model in MODELS.items() if round in model.rounds}


def test_state_is_sixteen_bytes_a_trained_parameter() -> None:
    found = budget("llama31_8b")
    assert found.state == 16 * MODELS["llama31_8b"].trained
    assert budget("llama31_8b", FP32_GRADIENTS).state == 18 * MODELS["llama31_8b"].trained
    assert MIXED.trained == 16


def test_activations_grow_with_samples_and_recomputation_keeps_boundaries_and_one_layer() -> None:
    one, two = budget("llama31_8b"), budget("llama31_8b", samples=2)
    assert (two.activations, two.recomputed, two.logits) == (2 * one.activations, 2 * one.recomputed, 2 * one.logits)
    assert two.state == one.state
    assert one.recomputed == one.activations / 32 + 32 * 4096 * 8192 * 2
    assert one.total(recompute=True) < one.total(recompute=False)


def test_accelerators_hold_what_they_are_given() -> None:
    model = budget("llama31_405b")
    n = model.accelerators(80)
    assert (n - 1) * 0.9 * 80 * GIB < model.total(recompute=True) <= n * 0.9 * 80 * GIB
    assert model.accelerators(80, recompute=False) > n
    assert budget("llama31_8b", Precision(optimizer=0, gradients=0)).accelerators(180) == 1


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda: budget("llama31_8B"), "llama31_8b"),
        (lambda: budget("llama31_8b", samples=0), "at least 1"),
        (lambda: budget("llama31_8b").accelerators(0), "more than 0 GiB"),
        (lambda: budget("llama31_8b").accelerators(float("nan")), "more than nan GiB"),
    ],
)
def test_bad_input_is_refused_in_one_line(act: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        act()  # type: ignore[operator]
