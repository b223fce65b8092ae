"""`evidence show`: ask the library."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from evidence.library.errors import InputError, nearest

if TYPE_CHECKING:
    from evidence.library.models import Model
    from evidence.library.rows import Kind

FORMATS = ("table", "json", "csv", "markdown", "schema")


def register(app: typer.Typer) -> None:
    app.command("show")(show)


def show(
    kind: Annotated[str, typer.Argument(help="claims, techniques, sources, rules, benchmarks or effects")],
    lever: Annotated[str | None, typer.Option(help="precision, batch-size, …, bert, …, rules")] = None,
    status: Annotated[str | None, typer.Option(help="Compliance; of an effect its verdict")] = None,
    check: Annotated[str | None, typer.Option(help="confirmed, differs or not-found")] = None,
    benchmark: Annotated[str | None, typer.Option(help="On this benchmark, such as llama31_8b")] = None,
    round: Annotated[str | None, typer.Option(help="In this round, such as 6.0 (the default for a status)")] = None,
    source: Annotated[str | None, typer.Option(help="Of this source: its key in references.bib")] = None,
    format: Annotated[str, typer.Option(help="table, json, csv, markdown, or the JSON schema of json")] = "table",
) -> None:
    """Ask the library: what is claimed, what is allowed, where it is said, and what was measured."""
    import json

    from evidence.library.formats import as_csv, as_json, as_markdown
    from evidence.library.load import load
    from evidence.library.project import find_project
    from evidence.library.rows import Filters, Kind, rows, schema

    kinds = get_args(Kind)
    if kind not in kinds:
        raise InputError(f"cannot show {kind!r}", mend=nearest(kind, list(kinds)))
    if format not in FORMATS:
        raise InputError(f"unknown format {format!r}", where="--format", mend=nearest(format, list(FORMATS)))
    asked: Kind = kind  # type: ignore[assignment]
    if format == "schema":
        typer.echo(json.dumps(schema(asked), ensure_ascii=False, indent=1))
        return
    filters = Filters(lever=lever, status=status, check=check, benchmark=benchmark, round=round, source=source)
    found = rows(load(find_project()), asked, filters)
    match format:
        case "json":
            typer.echo(as_json(found), nl=False)
        case "csv":
            typer.echo(as_csv(asked, found), nl=False)
        case "markdown":
            typer.echo(as_markdown(asked, found), nl=False)
        case _:
            print_table(asked, found)
    print(f"{len(found)} {kind}", file=sys.stderr)


def print_table(kind: Kind, found: Sequence[Model]) -> None:
    """A table as wide as the terminal; nothing is cut off, also not in a pipe."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from evidence.cli.output import wide_console
    from evidence.library.formats import COLUMNS, cells

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(COLUMNS[kind]):
        table.add_column(name, overflow="fold", no_wrap=index == 0)
    for row in cells(kind, found):
        table.add_row(*(Text(each) for each in row))
    wide_console().print(table)
