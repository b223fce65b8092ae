"""`evidence rcp`: reference convergence points of a round, and the batch size that suits them best."""

from __future__ import annotations

import json
import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evidence.library.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from evidence.rounds.planner import Plan


class Format(StrEnum):
    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"


Benchmark = Annotated[str, typer.Argument(metavar="BENCHMARK", help="As in the rules, for example llama31_8b.")]
Round = Annotated[str, typer.Option("--round", metavar="R", help="1.0 to 6.1.")]
PlanRound = Annotated[
    str, typer.Option("--round", metavar="R", help="A round whose rules the book has: 6.0 or 6.1; `show` knows more.")
]
FormatOption = Annotated[Format, typer.Option("--format", help="How to print.")]

SHOWN = (
    "batch", "how", "throughput", "throughput_from", "samples", "evaluations", "eval_share", "minutes", "normalisation",
    "pass_probability", "score", "score_low", "score_high", "runs",
)  # fmt: skip
"""What of a plan fits on a terminal; the other formats give everything."""

app = typer.Typer(help="Reference convergence points (RCPs) and the batch-size planner.", no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    parent.add_typer(app, name="rcp")


@app.command()
def show(benchmark: Benchmark, round: Round = "6.0", format: FormatOption = Format.table) -> None:
    """The official checker's figures at every reference point, and what the rules' text would give (text_…)."""
    from evidence.rounds.rcp import table
    from evidence.rounds.rcptext import differences

    found = table(benchmark, round)
    frame, parted = found.frame(), differences(found)
    if format is Format.json:
        rows = frame.to_dict("records")
        for row in rows:
            # What happens below the smallest point stands with the smallest point.
            here = (row["global_batch_size"], row["global_batch_size"] - 1)
            row["differences"] = [vars(each) for each in parted if each.batch in here]
        _json(rows)
        return
    _print(frame, format)
    if format is Format.table:
        typer.echo("\nWhere the checker and the rules' text part (the checker decides, rule verifier-precedence):")
        for each in parted:
            typer.echo(f"  {each.batch:>9,}  {each.kind}: {each.says}  [{each.rule}]")


@app.command()
def plan(
    benchmark: Benchmark,
    throughput: Annotated[
        list[str] | None,
        typer.Option(metavar="GBS=SAMPLES_PER_S", help="Measured throughput; two or more points are fitted."),
    ] = None,
    throughput_csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Columns global_batch_size, samples_per_second.")
    ] = None,
    round: PlanRound = "6.0",
    eval_seconds: Annotated[float, typer.Option(help="One evaluation on the clock.")] = 0.0,
    init_seconds: Annotated[float, typer.Option(help="Initialisation; what exceeds 30 minutes is timed.")] = 0.0,
    interval: Annotated[
        int | None, typer.Option(min=1, metavar="SAMPLES", help="Your own evaluation interval; default: the rule's.")
    ] = None,
    convergence: Annotated[float, typer.Option(help="Your samples to target over the reference's.")] = 1.0,
    failure_rate: Annotated[float, typer.Option(help="Share of runs that never reach the target.")] = 0.0,
    multiple_of: Annotated[int | None, typer.Option(min=1, help="Batch sizes must be multiples of this.")] = None,
    draws: Annotated[int, typer.Option(min=100, max=100_000, help="Sets of runs in the bootstrap.")] = 4000,
    format: FormatOption = Format.table,
) -> None:
    """The expected score at every batch size that the rules allow, the best of them, and what holds it there."""
    from evidence.rounds.planner import make_plan
    from evidence.rounds.rcp import table
    from evidence.rounds.schedule import Schedule, schedule_of
    from evidence.rounds.score import Terms
    from evidence.rounds.throughput import parse_throughput, read_throughput
    from evidence.rounds.throughput import throughput as make_law

    points = parse_throughput(throughput or [])
    if throughput_csv is not None:
        points |= read_throughput(throughput_csv)
    law = make_law(points)
    terms = Terms(eval_seconds, init_seconds, interval, convergence, failure_rate)
    found, (rules, deadline) = table(benchmark, round), _rules(benchmark, round)
    try:
        schedule = schedule_of(rules)
    except InputError:
        if interval is None:
            raise
        schedule = Schedule(f"math.ceil({interval}/gbs)*gbs", f"math.ceil({interval}/gbs)*gbs")
    made = make_plan(found, rules, schedule, law, terms, multiple=multiple_of, deadline=deadline, draws=draws)
    _show_plan(made, format)


def _rules(benchmark: str, round: str) -> tuple[Any, Any]:
    """The benchmark's rules and the round's deadline, from the book."""
    from datetime import date

    from evidence.library.load import load
    from evidence.library.project import find_project

    library = load(find_project())
    if round not in library.rounds:
        mend = f"a plan needs the round's rules, and the book has those of {' and '.join(library.rounds)}"
        raise InputError(f"the book holds no rules of round {round}", "--round", mend)
    said = str(library.rulefiles[round].origin.get("deadline", ""))
    return library.benchmarks[round][benchmark], date.fromisoformat(said) if said else None


def _show_plan(made: Plan, format: Format) -> None:
    import pandas as pd

    if format is Format.json:
        _json(
            {
                "options": [vars(each) for each in made.options],
                "best": vars(made.best),
                "flat": list(made.flat),
                "limited_by": made.limited_by,
                "requests": list(made.requests),
                "notes": list(made.notes),
            }
        )
        return
    frame = pd.DataFrame([vars(each) for each in made.options])
    if format is not Format.table:
        _print(frame, format)
        return
    _print(frame[list(SHOWN)], format)
    best = made.best
    lines = [
        f"best: batch {best.batch:,}, expected score {best.score:.2f} minutes (90 % of sets: {best.score_low:.2f} to "
        f"{best.score_high:.2f}), passes with probability {best.pass_probability:.2f}",
        f"within one percent: {', '.join(f'{batch:,}' for batch in made.flat)}",
        f"limited by: {made.limited_by}",
        *(f"to request: {each}" for each in made.requests),
        *(f"note: {each}" for each in made.notes),
    ]
    typer.echo("\n" + "\n".join(lines))


def _json(value: Any) -> None:
    """JSON has no infinity: a limit that nothing can miss is null."""

    def plain(each: Any) -> Any:
        if isinstance(each, dict):
            return {key: plain(inner) for key, inner in each.items()}
        if isinstance(each, list | tuple):
            return [plain(inner) for inner in each]
        return None if isinstance(each, float) and not math.isfinite(each) else each

    typer.echo(json.dumps(plain(value), indent=2, ensure_ascii=False))


def _print(frame: pd.DataFrame, format: Format) -> None:
    if format is Format.csv:
        typer.echo(frame.to_csv(index=False), nl=False)
        return
    shown = frame.map(lambda value: f"{value:,.6g}" if isinstance(value, float) else value)
    if format is Format.markdown:
        head, rows = list(shown.columns), shown.astype(str).to_numpy().tolist()
        for row in [head, ["---"] * len(head), *rows]:
            typer.echo("| " + " | ".join(row) + " |")
        return
    typer.echo(shown.to_string(index=False))
