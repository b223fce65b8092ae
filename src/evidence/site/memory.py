"""`{memory-budget}`: the memory that each model of a benchmark needs, computed while the page is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

from evidence.rounds.architectures import MODELS, Model
from evidence.rounds.memory import GIB, USABLE, Budget, budget
from evidence.site import nodes as n

if TYPE_CHECKING:
    from evidence.library.load import Library

SIZES = (80, 141, 180, 288)
"""GiB of the accelerators compared: H100, H200, B200, and B300 or MI355X."""
HEADS = ("Benchmark", "Rounds", "Trained, billions", "State, GiB", "Activations, GiB", "Recomputed, GiB", "Logits, GiB")


def memory_table(library: Library) -> nodes.table:
    """One row a benchmark: bytes of one replica by what they hold, and the fewest accelerators that hold it."""
    caption = (
        "One replica with one sample in flight, in mixed precision with Adam's 16 bytes a trained parameter, and the "
        f"fewest accelerators of 80 to 288 GiB that hold it, whole layers recomputed and {USABLE:.0%} of memory usable"
    )
    heads = [*HEADS, *(f"at least, of {gib} GiB" for gib in SIZES)]
    return n.table(caption, heads, [n.Row(_cells(library, budget(name))) for name in MODELS])


def memory_notes(library: Library) -> n.disclosure:
    """What was filled in or left out for a model, opened on a click."""
    noted = [f"{_name(library, model)}: {model.note}" for model in MODELS.values() if model.note]
    return n.disclosure("", n.bullets(noted), summary="What was filled in or left out, model by model")


def _name(library: Library, model: Model) -> str:
    known = library.benchmarks.get(model.rounds[0], {}).get(model.benchmark)
    return known.model if known and known.model else model.benchmark


def _cells(library: Library, found: Budget) -> list[n.Cell]:
    model = found.model
    parts = [found.state, found.activations, found.recomputed, found.logits]
    return [
        _name(library, model),
        " and ".join(model.rounds),
        f"{model.trained / 1e9:,.3g}",
        *(f"{part / GIB:,.0f}" if part >= 10 * GIB else f"{part / GIB:,.1f}" for part in parts),
        *(str(found.accelerators(gib)) for gib in SIZES),
    ]
