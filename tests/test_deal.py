"""Jobs dealt to processes, variables given to ranks, and techniques that live inside the model."""

from __future__ import annotations

import os

import pytest
import torch

from evidence.lab.distributed import RankError, deal, run_distributed
from evidence.lab.equivalence import TOLERANCE, distances, plain, trajectory
from evidence.lab.models import ByteGPT
from evidence.lab.numerics import Product


def test_results_come_in_the_order_of_the_jobs_from_more_than_one_process() -> None:
    found = deal(lambda a, b: (a - b, os.getpid()), [(10, 1), (20, 2), (30, 3)])
    assert [value for value, _ in found] == [9, 18, 27]
    assert len({process for _, process in found}) == 2
    assert os.getpid() not in {process for _, process in found}


def test_one_worker_computes_here() -> None:
    assert deal(os.getpid, [(), ()], workers=1) == [os.getpid()] * 2


def test_a_job_that_raises_ends_the_deal_with_its_traceback() -> None:
    with pytest.raises(RankError, match="no such arm"):
        deal(lambda arm: {"bf16": 1}[arm] if arm == "bf16" else _raise(), [("bf16",), ("fp3",)])


def _raise() -> int:
    raise KeyError("no such arm")


def test_ranks_see_the_environment_they_were_given_and_we_do_not() -> None:
    assert run_distributed(lambda: os.environ.get("EV_ISA"), 1, environment={"EV_ISA": "plain"}) == ["plain"]
    assert "EV_ISA" not in os.environ


def test_a_part_that_computes_the_same_product_is_equivalent_and_one_that_rounds_is_not() -> None:
    same = distances(plain, [0], (1, 2), parts={"linear": Product().linear})
    assert max(same[2]) < TOLERANCE
    rounded = Product(operand=lambda x: x.bfloat16().to(x.dtype)).linear
    assert min(distances(plain, [0], (1, 2), parts={"linear": rounded})[2]) > 1e-6


def test_single_precision_shows_as_a_distance_of_rounding_size() -> None:
    (double,), (single,) = (trajectory(plain, 0, (2,), dtype=d).values() for d in (torch.float64, torch.float32))
    assert 1e-9 < float((double - single.double()).norm() / double.norm()) < 1e-4


@pytest.mark.parametrize("width", [64, 256])
def test_a_fresh_model_keeps_the_size_of_its_input_at_every_width(width: int) -> None:
    """Else small models start on a plateau, where paired runs part ways."""
    block = ByteGPT(width=width).blocks[0]
    x = torch.randn(256, width, generator=torch.Generator().manual_seed(0))
    assert float((x @ block.qkv.detach().mT).std()) == pytest.approx(1.0, rel=0.1)
