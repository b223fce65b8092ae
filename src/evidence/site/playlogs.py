"""What others did on a benchmark: the best public result at every size, and single logs where there is no more."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from docutils import nodes

from evidence.lab.card import number
from evidence.rounds import published
from evidence.rounds.runtable import Run
from evidence.rounds.sets import ResultSet
from evidence.site import nodes as n
from evidence.site.words import benchmark_name, plural


def best_table(name: str) -> list[nodes.Node]:
    """The best closed set of each round and size; nothing where no whole set was read."""
    best = best_sets(name)
    if not best:
        return []
    columns: list[n.Head] = [n.facet("Round"), "Accelerators", "Score", "Submitter and system", "Batch size"]
    columns += ["Base rate", "Samples to target", "Scaled by", "Evaluating", "Slowest interval"]
    runs = runs_by_set(name)
    rows = [n.Row(set_cells(each, runs[each.round, each.submitter, each.system, name])) for each in best]
    caption = f"The best closed result set of {benchmark_name(name)} at each size, in the public logs we read"
    return [n.table(caption, columns, rows, "ev-sortable", stub=False)]


def best_sets(name: str) -> list[ResultSet]:
    """Closed sets with a score, the best of each round and number of accelerators, newest round first."""
    best: dict[tuple[str, int], ResultSet] = {}
    for each in published.sets():
        if each.benchmark != name or each.division != "closed" or each.score_min is None or not each.accelerators:
            continue
        key = each.round, int(each.accelerators)
        if key not in best or each.score_min < (best[key].score_min or 0.0):
            best[key] = each
    return [best[key] for key in sorted(best, key=lambda key: ([-int(part) for part in key[0].split(".")], key[1]))]


def runs_by_set(name: str) -> dict[tuple[str, str, str, str], list[Run]]:
    """The benchmark's runs, by the set that each belongs to."""
    found: dict[tuple[str, str, str, str], list[Run]] = {}
    for row in published.rows():
        if row.benchmark == name:
            found.setdefault(row.set, []).append(row.run)
    return found


def set_cells(found: ResultSet, runs: Sequence[Run]) -> list[n.Cell]:
    scaled = f"{found.normalisation:.3f}" if found.normalisation and found.normalisation > 1 else "–"
    size = f"{found.global_batch_size:,}" if found.global_batch_size else "–"
    share = f"{100 * found.eval_share:.1f} %" if found.eval_share is not None else "–"
    return [
        n.span(found.round, "ev-word"), f"{found.accelerators:,}", f"{number(found.score_min)} min",
        [n.paragraph(found.submitter), n.paragraph(found.system, classes=["ev-small"])], size, rate(runs),
        counted(found.convergence, found.unit), scaled, share, slowest(runs),
    ]  # fmt: skip


def rate(runs: Sequence[Run]) -> n.Cell:
    """The base learning rate, and the length of the warm-up where it is logged."""
    rates = sorted({run.learning_rate for run in runs if run.learning_rate})
    warm = sorted({int(run.warmup_steps) for run in runs if run.warmup_steps is not None})
    if not rates:
        return "–"
    lines = [n.paragraph(", ".join(f"{each:.3g}" for each in rates))]
    if warm:
        lines.append(n.paragraph(f"warm-up {', '.join(f'{each:,}' for each in warm)}", classes=["ev-small"]))
    return lines


def slowest(runs: Sequence[Run]) -> str:
    """Training time of the slowest interval over the usual one, and where in the run it ended: medians over the set."""
    told = [(run.pace_slowest, run.pace_median, run.pace_slowest_at) for run in runs]
    ratios = [slow / usual for slow, usual, _ in told if slow and usual]
    places = [at for slow, usual, at in told if slow and usual and at is not None]
    if not ratios or not places:
        return "–"
    return f"{median(ratios):.2f}× at {100 * median(places):.0f} %"


def single_logs(name: str) -> list[nodes.Node]:
    """Logs of sets that are no whole result, or of unknown size: what one run says, which is no score."""
    whole = {
        (each.round, each.submitter, each.system)
        for each in published.sets()
        if each.benchmark == name and each.score_min is not None and each.accelerators
    }
    samples = sampled()
    rows = [
        n.Row([
            n.span(row.round, "ev-word"), [n.paragraph(row.submitter), n.paragraph(row.system, classes=["ev-small"])],
            f"{number((run.run_s or 0.0) / 60)} min", f"{run.global_batch_size:,}" if run.global_batch_size else "–",
            f"{run.learning_rate:.3g}" if run.learning_rate else "–", counted(run.convergence, run.unit),
            run.precision_linear or "not said",
        ])
        for row, run in ((each, each.run) for each in published.rows() if each.benchmark == name)
        if row.round in samples and run.division == "closed" and run.converged
        and (row.round, row.submitter, row.system) not in whole
    ]  # fmt: skip
    if not rows:
        return []
    columns: list[n.Head] = [
        "Round",
        "Submitter and system",
        "This run",
        "Batch size",
        "Base rate",
        "Samples to target",
    ]
    columns += ["Lowest precision of linear layers"]
    caption = f"{plural(len(rows), 'single log')} of {benchmark_name(name)} from a sample of a round: runs, no scores"
    return [n.table(caption, columns, rows, "ev-sortable", stub=False)]


def sampled() -> set[str]:
    """The rounds of which there is a sample only."""
    return {name for name, said in published.origin()["rounds"].items() if said["note"].startswith("A sample")}


def counted(value: float | None, unit: str) -> str:
    """Samples and tokens to the last one, fractions of an epoch with four digits."""
    if value is None:
        return "–"
    return f"{value:,.0f} {unit}" if value >= 1000 else f"{number(value)} {unit}"
