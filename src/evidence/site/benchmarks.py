"""What a page says about a benchmark: target, schedule, hyperparameters, reference points. Pure functions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docutils import nodes

from evidence.lab.card import number
from evidence.library.models import Benchmark
from evidence.site import nodes as n
from evidence.site.portraits import portrait_nodes
from evidence.site.words import benchmark_name

if TYPE_CHECKING:
    from evidence.library.load import Library


def benchmark_body(library: Library, name: str) -> list[nodes.Node]:
    """What is trained to which target and what may be chosen, in every round in which something about it changed."""
    made: list[nodes.Node] = []
    before: Benchmark | None = None
    for round_ in library.rounds:
        here = library.benchmarks[round_].get(name)
        if here is None:
            continue
        if before is not None and here.model_copy(update={"round": before.round}) == before:
            made.append(n.paragraph(n.span(f"In {round_}: ", "ev-label"), f"as in {before.round}."))
        elif before is not None and here.status in ("removed", "retired"):
            made.append(
                n.paragraph(n.span(f"In {round_}: ", "ev-label"), f"{here.status}; it can no longer be entered.")
            )
        else:
            inside = [*benchmark_text(here), *portrait_nodes(library, here)]
            made.append(n.section(f"In round {round_}", f"{name}-{round_.replace('.', '-')}", *inside))
        before = here
    if not made:
        raise KeyError(name)
    # Sections come last on a page: what follows one would belong to it.
    return sorted(made, key=lambda node: isinstance(node, nodes.section))


def benchmark_facts(benchmark: Benchmark) -> dict[str, n.Cell]:
    """What is trained, on what, to which target and how, by name, in reading order."""
    quality = benchmark.quality
    target = " ".join(quality[part] for part in ("metric", "target") if part in quality)
    pairs: list[tuple[str, n.Cell]] = [
        ("Status", benchmark.status), ("Last round", benchmark.last_round),
        ("Task", benchmark.problem or benchmark.area), ("Model", benchmark.model), ("Data", benchmark.dataset),
        ("Target", target), ("About the target", quality.get("note", "")), ("Runs", str(benchmark.runs_required or "")),
        ("Optimiser", benchmark.optimizer), ("Convergence in", benchmark.convergence_unit),
        ("Batch size", benchmark.gbs_constraints), ("Learning rate", formula(benchmark.lr_formula)),
        *[(f"Evaluation: {key.replace('_', ' ')}", formula(value)) for key, value in benchmark.eval.items()],
        ("Origin", benchmark.origin),
    ]  # fmt: skip
    return dict(pairs)


def benchmark_text(benchmark: Benchmark) -> list[nodes.Node]:
    made: list[nodes.Node] = [n.facts(benchmark_facts(benchmark).items())]
    if benchmark.hyperparameters:
        caption = f"Hyperparameters of {benchmark_name(benchmark)} in round {benchmark.round}"
        made.append(hyperparameter_table(benchmark, caption))
    if benchmark.rcp:
        caption = f"Reference convergence points of {benchmark_name(benchmark)} in round {benchmark.round}"
        made.append(rcp_table(benchmark, caption))
    if benchmark.special_rules:
        made += [n.paragraph(n.span("Special rules", "ev-label")), n.bullets(benchmark.special_rules)]
    return made


def formula(text: str) -> n.Cell:
    """An expression over `gbs` as code; words as words."""
    return nodes.literal("", text) if re.fullmatch(r"[\w.+*/(),\s-]*\bgbs\b[\w.+*/(),\s-]*", text) else text


def hyperparameter_table(benchmark: Benchmark, caption: str) -> nodes.table:
    columns: list[n.Head] = ["Hyperparameter", "Must be", n.facet("Free to choose")]
    columns += ["What the checker does"]
    rows = [
        n.Row([
            nodes.literal("", each.name), each.constraint,
            n.span("tunable" if each.tunable else "fixed", "ev-word"), each.verifier or "–",
        ])
        for each in benchmark.hyperparameters
    ]  # fmt: skip
    return n.table(caption, columns, rows, "ev-sortable")


def rcp_table(benchmark: Benchmark, caption: str) -> nodes.table:
    """The reference convergence points with the smallest mean that the official checker lets pass."""
    columns: list[n.Head] = [
        "Global batch size",
        "Runs",
        "Mean",
        "Smallest mean that passes",
        "Largest speed-up",
        "Kept",
    ]
    rows = [
        n.Row([
            f"{point.gbs:,}", f"{point.runs} in {point.precision}", number(point.mean), number(point.min_mean_checker),
            f"{point.max_speedup_checker:.4f}×", "yes" if point.kept_after_pruning else "pruned",
        ])
        for point in benchmark.rcp
    ]  # fmt: skip
    return n.table(caption, columns, rows, "ev-sortable")
