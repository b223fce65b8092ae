"""How much memory a benchmark's model needs, and how many accelerators that forces, at a stated precision.

Bytes are arithmetic on the dimensions of `architectures`, not a measurement: no fragmentation, no communication
buffers, no workspace, no framework.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from evidence.library.errors import InputError, nearest
from evidence.rounds.architectures import MODELS, Model

GIB = 2**30
USABLE = 0.9
"""Share of an accelerator's memory that a plan may count on; the rest is for buffers, workspace and fragments."""


@dataclass(frozen=True)
class Precision:
    """Bytes a parameter costs while it is trained; the default is mixed precision with Adam, 16 as in ZeRO's paper."""

    weights: float = 2
    gradients: float = 2
    optimizer: float = 12
    frozen: float = 2
    activation: float = 2
    logits: float = 4

    @property
    def trained(self) -> float:
        return self.weights + self.gradients + self.optimizer


MIXED = Precision()
"""bf16 weights and gradients, fp32 master weights and both Adam moments, bf16 activations, fp32 logits."""
FP32_GRADIENTS = Precision(gradients=4)
"""The same with gradients accumulated in fp32, as Megatron does by default."""


@dataclass(frozen=True)
class Budget:
    """Bytes of one replica with one sample in flight, by what they hold."""

    model: Model
    weights: float
    gradients: float
    optimizer: float
    frozen: float
    tables: float
    activations: float
    recomputed: float
    logits: float

    @property
    def state(self) -> float:
        """What is held between steps."""
        return self.weights + self.gradients + self.optimizer + self.frozen + self.tables

    def total(self, *, recompute: bool) -> float:
        """Bytes at the peak of a step."""
        return self.state + (self.recomputed if recompute else self.activations) + self.logits

    def accelerators(self, gib: float, *, recompute: bool = True) -> int:
        """Fewest accelerators of `gib` GiB that hold one replica when everything is split evenly over them.

        A lower bound: a real split is uneven, and ZeRO's shards are gathered again a layer at a time.

        Raises:
            InputError: no memory.
        """
        if not gib > 0:
            raise InputError(f"an accelerator has more than {gib} GiB", "gib", "give the memory of one accelerator")
        return max(1, math.ceil(self.total(recompute=recompute) / (USABLE * gib * GIB)))


def budget(benchmark: str, precision: Precision = MIXED, *, samples: int = 1) -> Budget:
    """The memory that one replica of a benchmark's model needs.

    Args:
        benchmark: id of a benchmark of round 6.0 or 6.1, `llama31_8b` for example.
        precision: bytes a parameter and an activation cost.
        samples: samples whose activations are held at once (the micro-batch; a pipeline holds several of them).

    Raises:
        InputError: no such benchmark, or less than one sample.
    """
    if benchmark not in MODELS:
        raise InputError(f"no model of benchmark {benchmark!r}", "benchmark", nearest(benchmark, list(MODELS)))
    if samples < 1:
        raise InputError(f"samples must be at least 1, not {samples}", "samples", "write samples=1")
    model = MODELS[benchmark]
    tokens = model.tokens * samples
    layer = model.per_token * tokens * precision.activation
    kept = model.boundary * tokens * precision.activation
    return Budget(
        model,
        weights=model.trained * precision.weights,
        gradients=model.trained * precision.gradients,
        optimizer=model.trained * precision.optimizer,
        frozen=model.frozen * precision.frozen,
        tables=model.tables,
        activations=model.layers * layer,
        # The boundaries of all layers, and one layer in full while it is computed again.
        recomputed=model.layers * kept + layer,
        logits=model.vocab * tokens * precision.logits,
    )
