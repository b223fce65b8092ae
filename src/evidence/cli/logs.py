"""`evidence logs`: MLLOG result folders and archives: where the time went, what was scored, why a set is rejected."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import sys
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evidence.library.errors import InputError

if TYPE_CHECKING:
    from evidence.rounds.findings import LogFinding

app = typer.Typer(help="Result logs: folders, results repositories, archives.", no_args_is_help=True)

SHOWN = {
    "set": (
        "submitter", "system", "benchmark", "accelerators", "global_batch_size", "runs", "converged",
        "time_to_train_min", "convergence", "rcp_mean", "rcp_min_mean", "rcp_pass", "normalisation", "score_min",
        "eval_share", "init_s_median",
    ),
    "run": (
        "submitter", "system", "benchmark", "file", "accelerators", "global_batch_size", "status", "init_s", "run_s",
        "train_s", "eval_s", "eval_blocking_s", "uncovered_s", "evals", "convergence", "overshoot",
    ),
}  # fmt: skip
"""What of a table fits on a terminal; csv and json give everything."""
FINDINGS_SHOWN = 10


class By(StrEnum):
    set = "set"
    run = "run"


class Format(StrEnum):
    table = "table"
    csv = "csv"
    json = "json"


class TextFormat(StrEnum):
    text = "text"
    json = "json"


Round = Annotated[
    str | None, typer.Option("--round", metavar="R", help="As 5.1; by default the path's name tells (v5.1.tar.xz).")
]
FormatOption = Annotated[Format, typer.Option("--format", help="How to print.")]


def register(parent: typer.Typer) -> None:
    parent.add_typer(app, name="logs")


@app.command()
def summarize(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Folder, results repository, .tar, .tar.xz.")],
    by: Annotated[By, typer.Option(help="One row a set of runs, or one a run.")] = By.set,
    format: FormatOption = Format.table,
    round: Round = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write there instead; .gz compresses, byte for byte the same.")
    ] = None,
) -> None:
    """Time to train, its parts, convergence and RCP verdict, of every set or run below the paths."""
    from evidence.rounds.gather import gather
    from evidence.rounds.sets import result_sets

    if output is not None:
        _check_target(output)
    found = gather(paths, round, lambda line: typer.echo(line, err=True))
    rows: Sequence[Any] = found.rows if by is By.run else result_sets(found.rows, found.scaling)
    _write([row.as_dict() for row in rows], format, SHOWN[by], output)
    _summary(found.findings)


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(metavar="A")],
    b: Annotated[Path, typer.Argument(metavar="B")],
    format: FormatOption = Format.table,
    round: Round = None,
) -> None:
    """Two results, or two rounds, set against set: speed-up, and how much of it is convergence and how much pace."""
    from evidence.rounds.compare import compare as compared
    from evidence.rounds.gather import gather

    pairs, alone = compared(gather([a], round), gather([b], round))
    _write([pair.as_dict() for pair in pairs], format, ())
    for line in alone[:FINDINGS_SHOWN]:
        typer.echo(line, err=True)
    if len(alone) > FINDINGS_SHOWN:
        typer.echo(f"and {len(alone) - FINDINGS_SHOWN} more without a partner", err=True)
    if not pairs:
        raise typer.Exit(1)


@app.command()
def check(
    path: Annotated[Path, typer.Argument(metavar="DIR", help="A submission, or any part of it.")],
    format: Annotated[TextFormat, typer.Option("--format", help="How to print.")] = TextFormat.text,
    round: Round = None,
) -> None:
    """Why was my run rejected: the official checkers' findings and ours, each with its rule. Exit code 1 on errors."""
    from evidence.rounds.rejected import check as checked
    from evidence.rounds.rejected import worst

    findings = list(checked(path, round))
    if format is TextFormat.json:
        typer.echo(json.dumps({"findings": [finding.as_dict() for finding in findings]}, indent=2, ensure_ascii=False))
    else:
        for finding in findings:
            typer.echo(str(finding))
        counts = Counter(finding.level for finding in findings)
        typer.echo(f"{counts['error']} errors, {counts['warning']} warnings", err=True)
    raise typer.Exit(worst(findings))


@app.command()
def window(
    path: Annotated[Path, typer.Argument(metavar="DIR", help="The M runs of one benchmark on one system.")],
    runs: Annotated[int | None, typer.Option(min=1, metavar="N", help="Default: what the benchmark requires.")] = None,
    format: Annotated[TextFormat, typer.Option("--format", help="How to print.")] = TextFormat.text,
    round: Round = None,
) -> None:
    """Which N consecutive runs of M to submit: the window with the median score. Exit code 1 if it is invalid."""
    from evidence.rounds.gather import gather
    from evidence.rounds.window import choose

    choice = choose(gather([path], round).rows, runs)
    if format is TextFormat.json:
        typer.echo(json.dumps(_plain(choice), indent=2, ensure_ascii=False))
    else:
        for each in choice.windows:
            mark = " <- submit these" if each is choice.chosen else ""
            typer.echo(f"runs {each.first} to {each.first + choice.needed - 1}: {_minutes(each.score_min)}{mark}")
        for name in choice.chosen.files:
            typer.echo(f"  {name}")
        typer.echo(f"RCP test: {choice.verdict.message}")
        for what, gain in (("fastest window", choice.best_gain), ("N fastest runs", choice.picked_gain)):
            if gain is not None:
                typer.echo(f"the {what} would be {gain:.2%} faster; picking is forbidden (rule cherry-picking)")
        for note in choice.notes:
            typer.echo(f"note: {note}")
    raise typer.Exit(0 if choice.chosen.valid else 1)


def _minutes(score: float) -> str:
    return f"{score:.4f} min" if math.isfinite(score) else "invalid, counts as infinite"


def _plain(value: Any) -> Any:
    """Dataclasses as objects; JSON has no infinity, so an invalid score is null."""
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _write(rows: list[dict[str, Any]], format: Format, shown: Sequence[str], output: Path | None = None) -> None:
    text = _table(rows, shown) if format is Format.table else _csv(rows) if format is Format.csv else _json(rows)
    if output is None:
        sys.stdout.write(text)
        return
    from evidence.library.project import write_aside

    data = text.encode()
    try:
        with write_aside(output) as aside:
            aside.write_bytes(gzip.compress(data, 9, mtime=0) if output.suffix == ".gz" else data)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", str(output)) from None
    typer.echo(f"{len(rows)} rows written to {output}", err=True)


def _check_target(output: Path) -> None:
    """Asked before the logs are read. The table is renamed into place, which would do away with a device."""
    if not output.parent.is_dir():
        raise InputError("no such folder", str(output.parent), "make it, or write elsewhere")
    if output.exists() and not output.is_file():
        raise InputError("is no regular file", str(output), "give --output the name of a file")


def _json(rows: list[dict[str, Any]]) -> str:
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


def _csv(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return out.getvalue()


def _table(rows: list[dict[str, Any]], shown: Sequence[str]) -> str:
    names = list(shown) or (list(rows[0]) if rows else [])
    cells = [names, *([_cell(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
    return "".join("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() + "\n" for line in cells)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _summary(findings: Sequence[LogFinding]) -> None:
    for finding in findings[:FINDINGS_SHOWN]:
        typer.echo(str(finding), err=True)
    if len(findings) > FINDINGS_SHOWN:
        typer.echo(f"and {len(findings) - FINDINGS_SHOWN} more findings; `evidence logs check` shows all", err=True)
