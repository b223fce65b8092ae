"""The computed part of a benchmark's page: schedule in numbers, reference points drawn, choices, techniques, traps."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from docutils import nodes

from evidence.library.models import Benchmark
from evidence.rounds.portrait import Choice, Portrait, cached_portrait
from evidence.site import nodes as n
from evidence.site import where as w
from evidence.site.words import LEVERS, benchmark_name

if TYPE_CHECKING:
    from evidence.lab.plot import Picture
    from evidence.library.load import Library


def portrait_nodes(library: Library, benchmark: Benchmark) -> list[nodes.Node]:
    """What is computed about a benchmark; nothing where no reference convergence points are shipped."""
    found = cached_portrait(benchmark)
    if found is None:
        return []
    made: list[nodes.Node] = []
    if found.evaluations:
        made.append(schedule_table(found, benchmark))
    made += picture(found)
    if found.choices:
        made.append(choices_table(found))
    if found.traps:
        made.append(n.paragraph(n.span("Traps: the checker against the text", "ev-label")))
        made.append(n.bullets([[each.says, ". ", w.rule_link(each.rule)] for each in found.traps]))
    if benchmark.status in ("current", "new"):
        made.append(techniques_table(library, benchmark))
    made.append(origin(found))
    return made


def schedule_table(found: Portrait, benchmark: Benchmark) -> nodes.table:
    columns: list[n.Head] = ["Batch size", "Evaluated every", "First at", "Left out before", "Up to the mean"]
    rows = [
        n.Row([
            f"{each.batch:,}", f"{each.interval:,} samples", f"{each.first:,} samples", f"{each.skipped}",
            f"{each.at_mean:.1f} evaluations",
        ])
        for each in found.evaluations
    ]  # fmt: skip
    return n.table(f"The evaluation schedule of {benchmark_name(benchmark)} in numbers", columns, rows)


def picture(found: Portrait) -> list[nodes.Node]:
    """The reference points with their limits, and the planned score where it can be planned."""
    from evidence.lab.plot import drawn

    name, unit, plan = benchmark_name(found.benchmark), found.table.unit, found.plan
    alt = (
        f"Samples to target of {name} against batch size in round {found.round}: every reference run, the mean of each "
        "point and the smallest mean that passes"
        + (f"; beside it the expected score, best at batch {plan.best.batch:,}." if plan else ".")
    )
    xs, ys = ("global batch size", "1"), ("convergence", unit)
    if plan is None:
        with drawn(alt, x=xs, y=ys, size=(5.6, 3.6)) as (shown, ax):
            points_on(ax, found)
        return [html(shown)]
    with drawn(alt, x=xs, y=[ys, ("expected score / best", "1")], panels=2, size=(4.6, 3.6)) as (shown, (left, right)):
        points_on(left, found)
        batches = [each.batch for each in plan.options]
        right.plot(batches, [each.score / plan.best.score for each in plan.options], marker="", label="expected score")
        right.plot([plan.best.batch], [1.0], label=f"best: {plan.best.batch:,}")
        batch_axis(right, batches)
    words = f"Right: the planner's curve for {found.model}. Yours comes from `evidence rcp plan`."
    return [html(shown), n.paragraph(words, classes=["ev-small"])]


def points_on(ax: Any, found: Portrait) -> None:
    """Runs, means and limits of a table on axes of matplotlib."""
    points = found.table.points
    runs = [(point.batch, run) for point in points for run in point.runs]
    ax.plot(*zip(*runs, strict=True), "o", markersize=3, alpha=0.35, label="reference runs")
    kept, pruned = [p for p in points if p.kept], [p for p in points if not p.kept]
    ax.plot([p.batch for p in kept], [p.bar.mean for p in kept], "s-", label="mean: the bar")
    if pruned:
        ax.plot([p.batch for p in pruned], [p.bar.mean for p in pruned], "D", label="mean, pruned")
    limits = [max(p.bar.limit, 0.0) for p in kept]
    ax.plot([p.batch for p in kept], limits, "^:", label="smallest mean that passes")
    batch_axis(ax, [point.batch for point in points])


def batch_axis(ax: Any, batches: list[int]) -> None:
    """A logarithmic axis with ticks at batch sizes that stand far enough apart to be read."""
    apart = (batches[-1] / batches[0]) ** (1 / 8)
    ticks = batches[:1]
    for each in batches[1:]:
        if each >= ticks[-1] * apart:
            ticks.append(each)
    ax.set_xscale("log", base=2)
    ax.set_xticks(ticks, [f"{each:,}" for each in ticks], rotation=30)
    ax.minorticks_off()


def html(shown: list[Picture]) -> nodes.raw:
    return nodes.raw("", shown[0].html(), format="html")


def choices_table(found: Portrait) -> nodes.table:
    columns: list[n.Head] = [n.facet("Round"), "Batch size", "Result sets", "Submitters", "Accelerators"]
    columns += ["Scaled by convergence", "Best score"]
    rows = [choice_row(each) for each in found.choices]
    total = sum(each.sets for each in found.choices)
    caption = (
        f"What submitters chose: {total} closed result sets of {benchmark_name(found.benchmark)} in the public logs"
    )
    return n.table(caption, columns, rows, "ev-sortable", stub=False)


def choice_row(choice: Choice) -> n.Row:
    scaled = f"{choice.scaled} of {choice.judged}" if choice.judged else "–"
    fastest = f"{choice.fastest:.2f} min" if choice.fastest else "–"
    counts = [f"{choice.batch:,}", str(choice.sets), str(choice.submitters), sizes(choice)]
    return n.Row([n.span(choice.round, "ev-word"), *counts, scaled, fastest])


def sizes(choice: Choice) -> str:
    if choice.accelerators is None:
        return "–"
    low, high = choice.accelerators
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def techniques_table(library: Library, benchmark: Benchmark) -> nodes.table:
    """Every technique that can apply here, with its status on this benchmark."""
    here = [(each, library.status(each.id, benchmark.id, benchmark.round)) for each in library.techniques.values()]
    rows = [
        n.Row([
            w.technique_link(each), n.span(LEVERS[library.lever_of[each.id]], "ev-word"), n.badge(status.status),
            status.why + (f" Condition: {status.condition}" if status.condition else ""),
        ])
        for each, status in here
        if status.status != "n/a"
    ]  # fmt: skip
    caption = f"What may be done on {benchmark_name(benchmark)} in round {benchmark.round}: {len(rows)} techniques"
    columns: list[n.Head] = ["Technique", n.facet("Lever"), n.facet("Status"), "Why"]
    return n.table(caption, columns, rows, "ev-sortable")


def origin(found: Portrait) -> nodes.paragraph:
    """Which round the figures are of, who says so, and which logs were read."""
    from evidence.rounds import published

    logs = published.origin()["rounds"]
    rounds = sorted({each.round for each in found.choices}, key=lambda each: [int(part) for part in each.split(".")])
    read = f" Logs of {', '.join(rounds)}, some submitters left out." if rounds else ""
    if "6.0" in rounds:
        read += f" Of 6.0 a sample of {logs['6.0']['logs']} logs from a public fork, not the round."
    whens = sorted({point.when.removeprefix("Reference RCPs ") for point in found.table.points if point.when})
    made = f" Reference runs: {'; '.join(whens)}." if whens else ""
    words = f"Reference points of round {found.round} as shipped with mlperf-logging {version('mlperf-logging')}."
    return n.paragraph(words + made + read, classes=["ev-small"])
