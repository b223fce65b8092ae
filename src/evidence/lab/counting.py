"""Count what does not depend on the clock: bytes held, the allocator's peak, collectives and what they carry."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

NAMESPACES = ("c10d", "_c10d_functional")
NAMES = {
    "allreduce_": "all-reduce",
    "all_reduce": "all-reduce",
    "broadcast_": "broadcast",
    "_allgather_base_": "all-gather",
    "allgather_": "all-gather",
    "all_gather_into_tensor": "all-gather",
    "_reduce_scatter_base_": "reduce-scatter",
    "reduce_scatter_tensor": "reduce-scatter",
    "alltoall_base_": "all-to-all",
    "all_to_all_single": "all-to-all",
}
"""Operator of torch -> collective. What is not named here (waiting, wrapping) moves nothing."""


@dataclass(frozen=True)
class Collective:
    """One collective as this rank called it: `bytes` of the largest tensor handed to it, the whole one."""

    name: str
    bytes: int


class _Counter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.calls: list[Collective] = []

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = NAMES.get(op._opname) if op.namespace in NAMESPACES else None
        if name is not None:
            # A gather's output and a scatter's input are the whole tensor, the other side a shard.
            self.calls.append(Collective(name, max(map(_bytes, args))))
        return op(*args, **(kwargs or {}))


def _bytes(value: Any) -> int:
    if isinstance(value, Tensor):
        return value.numel() * value.element_size()
    return sum(map(_bytes, value)) if isinstance(value, list | tuple) else 0


@contextmanager
def collectives() -> Iterator[list[Collective]]:
    """The collectives that this rank calls inside, in order, those that DDP, FSDP and DTensor call among them."""
    with _Counter() as counter:
        yield counter.calls


def held_bytes(tensors: Iterable[Tensor]) -> int:
    """Bytes of the storages behind the tensors on this rank: each storage once, of a DTensor its local shard."""
    storages = {}
    for tensor in tensors:
        local = tensor.to_local() if hasattr(tensor, "to_local") else tensor
        storages[local.untyped_storage().data_ptr()] = local.untyped_storage().nbytes()
    return sum(storages.values())


def peak_bytes(step: Callable[[], object]) -> int:
    """Most bytes that `step` holds at once beyond what was held before, from the CPU allocator's own events.

    A hook on saved tensors would miss what a checkpoint keeps, because the checkpoint's own hook takes its place.
    """
    # The profiler announces itself on standard error otherwise.
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as seen:
        step()
    events = seen.profiler.kineto_results.events()
    held = peak = 0
    for event in sorted((e for e in events if e.name() == "[memory]"), key=lambda e: e.start_ns()):
        held += event.nbytes()
        peak = max(peak, held)
    return peak
