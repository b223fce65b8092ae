"""`{play}`: what a benchmark's play shows of the data, part by part. Pure functions of the library.

A play reads in one order (fixed, free, levers, size, what others did), so each part can be placed by itself; the
benchmark's own page shows all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from docutils import nodes

from evidence.lab.card import number
from evidence.library.errors import InputError
from evidence.library.facts import known
from evidence.library.load import ENTERABLE
from evidence.library.models import Benchmark, Technique
from evidence.rounds.critical import Fit, fit
from evidence.rounds.points import Point
from evidence.rounds.portrait import Portrait, cached_portrait
from evidence.rounds.rcp import Table
from evidence.rounds.score import unit_samples
from evidence.site import benchmarks as b
from evidence.site import nodes as n
from evidence.site import portraits as p
from evidence.site import tables as t
from evidence.site import where as w
from evidence.site.playlogs import best_table, counted, single_logs
from evidence.site.words import LEVERS, benchmark_name, plural

if TYPE_CHECKING:
    from evidence.library.load import Library

ELSEWHERE = {"Status", "Last round", "Task", "Convergence in", "Batch size", "Origin"}
"""Facts of a benchmark that its play says in its other parts, or leaves to the benchmark's own page."""

Part = Callable[["Library", Benchmark, Sequence[str]], list[nodes.Node]]


def play(library: Library, part: str, name: str, chosen: Sequence[str]) -> list[nodes.Node]:
    """One part of what the data knows of a benchmark; `chosen` names techniques, for the part that shows levers.

    Raises:
        LookupError: no such part, benchmark or technique, or nothing to show; says so in one line.
    """
    made = known(PARTS, part, "part of a play")(library, benchmark_of(library, name), chosen)
    if not made:
        raise LookupError(f"nothing to show of {name!r} as {part!r}")
    found: list[nodes.Node] = made
    return found


def benchmark_of(library: Library, name: str) -> Benchmark:
    """The benchmark as of the current round if it can be entered there, else of the newest round in which it can.

    What no round takes any more (BERT) is shown as the current round knows it.
    """
    everywhere = {key: None for round_ in library.rounds for key in library.benchmarks[round_]}
    known(everywhere, name, "benchmark")
    order = [library.current_round, *library.rounds[::-1]]
    found = [library.benchmarks[round_][name] for round_ in order if name in library.benchmarks[round_]]
    return next((each for each in found if each.status in ENTERABLE), found[0])


def fixed(library: Library, benchmark: Benchmark, _: Sequence[str]) -> list[nodes.Node]:
    """Task, target, schedule and optimiser, and the hyperparameters that are not for choosing."""
    pairs = {label: cell for label, cell in b.benchmark_facts(benchmark).items() if label not in ELSEWHERE}
    rounds = rounds_of(library, benchmark.id)
    pairs["Can be entered in"] = ", ".join(rounds) or f"none; last in {benchmark.last_round}"
    return [n.facts(pairs.items()), *hyperparameters(benchmark, "fixed", tunable=False)]


def free(library: Library, benchmark: Benchmark, _: Sequence[str]) -> list[nodes.Node]:
    """The hyperparameters that a submitter chooses, and what bounds the batch size."""
    bounds = [n.facts([("Batch size", benchmark.gbs_constraints)])] if benchmark.gbs_constraints else []
    return [*bounds, *hyperparameters(benchmark, "free", tunable=True)]


def hyperparameters(benchmark: Benchmark, word: str, *, tunable: bool) -> list[nodes.Node]:
    some = [each for each in benchmark.hyperparameters if each.tunable is tunable]
    if not some:
        return []
    caption = f"What is {word} on {benchmark_name(benchmark)} in round {benchmark.round}: {len(some)} hyperparameters"
    return [b.hyperparameter_table(benchmark.model_copy(update={"hyperparameters": some}), caption)]


def points(library: Library, benchmark: Benchmark, _: Sequence[str]) -> list[nodes.Node]:
    """The reference convergence points as a table and drawn, with the schedule in numbers."""
    found = portrait_of(benchmark)
    caption = f"Reference convergence points of {benchmark_name(benchmark)} in round {found.round}"
    table = [b.rcp_table(benchmark, caption)] if benchmark.rcp else []
    schedule = [p.schedule_table(found, benchmark)] if found.evaluations else []
    return [*table, *p.picture(found), *schedule]


def cost(library: Library, benchmark: Benchmark, _: Sequence[str]) -> list[nodes.Node]:
    """What a larger batch costs in samples and saves in updates, by the reference's own runs, and the law behind it."""
    found = portrait_of(benchmark)
    table, first = found.table, found.table.points[0]
    rows = [
        n.Row([
            f"{point.batch:,}", f"{point.bar.mean / first.bar.mean:.2f}×", counted(updates(point, table), "updates"),
            half_interval(found, point), reference_rate(point),
            f"{100 * (point.bar.max_speedup - 1):.1f} %" if point.kept else "pruned",
        ])
        for point in table.points
    ]  # fmt: skip
    columns: list[n.Head] = ["Batch size", "Samples, relative", "Reference mean", "Half an interval"]
    columns += ["Its base rate", "Lead that passes"]
    caption = f"What a batch size costs on {benchmark_name(benchmark)}, by the reference's runs of round {found.round}"
    law = fit(table)
    said = [n.paragraph(law_text(law))] if law else []
    return [n.table(caption, columns, rows, "ev-sortable"), *said]


def reference_rate(point: Point) -> str:
    """The base learning rate of the reference's runs, where its record tells it."""
    rate = point.hyperparameters.get("opt_base_learning_rate")
    return f"{rate:.3g}" if isinstance(rate, int | float) else "–"


def half_interval(found: Portrait, point: Point) -> str:
    """What a run overshoots its target by on average, as a share of the mean."""
    interval = next((each.interval for each in found.evaluations if each.batch == point.batch), None)
    if interval is None:
        return "–"
    return f"{50 * interval / (point.bar.mean * unit_samples(found.table)):.1f} %"


def updates(point: Point, table: Table) -> float | None:
    """Updates of a run that needs the mean; None where the table counts something else than samples."""
    try:
        return point.bar.mean * unit_samples(table) / point.batch
    except InputError:
        return None


def law_text(law: Fit) -> str:
    """The critical batch size in words, or why there is none."""
    if law.says != "fits":
        return f"No critical batch size can be read off these points: {law.why}."
    return (
        f"The law of a critical batch size puts it at {number(law.critical)} ({number(law.low)} to {number(law.high)}; "
        f"{law.why}): there a run needs twice the samples of a tiny batch."
    )


def levers(library: Library, benchmark: Benchmark, chosen: Sequence[str]) -> list[nodes.Node]:
    """The chosen techniques: what may be done on this benchmark, and what was measured about it here.

    A choice is a technique, or `technique=effect|effect` where only some of its effects bear on the benchmark.
    """
    if not chosen:
        raise LookupError(f"{benchmark.id}: name the techniques to show with :techniques:")
    rows = [n.Row(lever_cells(library, benchmark, each)) for each in chosen]
    columns: list[n.Head] = ["Technique", n.facet("Status"), "Why here", "Measured in this book"]
    caption = f"{plural(len(rows), 'lever')} on {benchmark_name(benchmark)} in round {benchmark.round}"
    return [n.table(caption, columns, rows, "ev-sortable")]


def lever_cells(library: Library, benchmark: Benchmark, choice: str) -> list[n.Cell]:
    name, _, some = choice.partition("=")
    technique: Technique = known(library.techniques, name, "technique")
    here = library.status(technique.id, benchmark.id, benchmark.round)
    lever = library.lever_of[technique.id]
    named: list[nodes.Node] = [n.paragraph(w.technique_link(technique))]
    named.append(n.paragraph(n.page(w.chapter(library, lever), LEVERS[lever]), classes=["ev-small"]))
    why = here.why + (f" Condition: {here.condition}" if here.condition else "")
    effects = some.split("|") if some else [e.id for e in library.records.values() if name in e.techniques]
    return [named, n.badge(here.status), why, [effect_line(library, each) for each in effects] or "–"]


def effect_line(library: Library, effect: str) -> nodes.Node:
    """What was measured, in words and as judged; an effect that has not run here still says its name."""
    record = library.records.get(effect)
    title = f"{record.title}: " if record else f"{effect}: "
    return n.paragraph(title, *t.measured_inline(library, effect), classes=["ev-small"])


def others(library: Library, benchmark: Benchmark, _: Sequence[str]) -> list[nodes.Node]:
    """What the public logs hold of it."""
    return best_table(benchmark.id) + single_logs(benchmark.id)


def traps(library: Library, benchmark: Benchmark, _: Sequence[str]) -> list[nodes.Node]:
    """Special rules, and where the checker, the text and the reference part."""
    items: list[n.Cell] = [*benchmark.special_rules]
    found = cached_portrait(benchmark)
    items += [[each.says, ". ", w.rule_link(each.rule)] for each in (found.traps if found else ())]
    return [n.bullets(items)] if items else []


def dates(library: Library, benchmark: Benchmark, _: Sequence[str]) -> list[nodes.Node]:
    """Which rounds the rules are of and when they were dated; which reference points and logs stand behind the page."""
    rounds = rounds_of(library, benchmark.id) or [benchmark.round]
    dated = "; ".join(f"{each} ({library.rulefiles[each].dated})" for each in rounds)
    words = n.paragraph(n.span("Data of this page. ", "ev-label"), f"Rules of round {dated}. ", classes=["ev-small"])
    whole = n.page(w.benchmark_doc(benchmark.id), f"everything known of {benchmark_name(benchmark)}")
    found = cached_portrait(benchmark)
    if found is not None:
        words += n.inline([p.origin(found).astext(), " "])
    words += n.inline(["More: ", whole, "."])
    return [words]


def rounds_of(library: Library, name: str) -> list[str]:
    """The rounds in which a benchmark can be entered."""

    def there(round_: str) -> bool:
        found = library.benchmarks[round_].get(name)
        return found is not None and found.status in ENTERABLE

    return [each for each in library.rounds if there(each)]


def portrait_of(benchmark: Benchmark) -> Portrait:
    found = cached_portrait(benchmark)
    if found is None:
        raise LookupError(f"no reference convergence points of {benchmark.id} are shipped")
    return found


PARTS: Mapping[str, Part] = {
    "fixed": fixed,
    "free": free,
    "points": points,
    "cost": cost,
    "levers": levers,
    "others": others,
    "traps": traps,
    "dates": dates,
}
"""What `{play} PART BENCHMARK` can show."""
