"""Bytes, peaks and collectives are counted as a reader would count them by hand."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from evidence.lab.counting import collectives, held_bytes, peak_bytes
from evidence.lab.distributed import run_distributed


def test_a_storage_counts_once_however_many_tensors_share_it() -> None:
    a = torch.zeros(10)
    assert held_bytes([a, a[:5], a.view(2, 5)]) == 40
    assert held_bytes([a, torch.zeros(3, dtype=torch.float64)]) == 40 + 24
    assert held_bytes([]) == 0


def test_the_peak_is_the_most_held_at_once_not_the_sum() -> None:
    one = 4 * 65536

    def in_turn() -> None:
        for _ in range(5):
            torch.ones(65536)

    def together() -> list[torch.Tensor]:
        return [torch.ones(65536) for _ in range(5)]

    assert one <= peak_bytes(in_turn) < 2.1 * one
    assert 5 * one <= peak_bytes(together) < 5.1 * one


def every_kind() -> list[Any]:
    whole, shard = torch.ones(8), torch.ones(4)
    with collectives() as calls:
        dist.all_reduce(whole)
        dist.all_gather_into_tensor(whole, shard)
        dist.reduce_scatter_tensor(shard, whole)
        dist.broadcast(whole, 0)
        torch.ones(3) + 1
    dist.all_reduce(whole)
    return [(call.name, call.bytes) for call in calls]


def test_collectives_are_counted_with_the_whole_tensor_and_only_inside() -> None:
    expected = [("all-reduce", 32), ("all-gather", 32), ("reduce-scatter", 32), ("broadcast", 32)]
    assert run_distributed(every_kind, 2) == [expected, expected]


def wrapped() -> tuple[int, int]:
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4, bias=False))
    with collectives() as calls:
        model(torch.ones(1, 4)).sum().backward()
    return len(calls), calls[0].bytes


def test_the_reducer_inside_ddp_is_seen() -> None:
    assert run_distributed(wrapped, 2) == [(1, 64), (1, 64)]
