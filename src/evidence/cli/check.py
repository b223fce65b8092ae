"""`evidence check`: citations, claims, rules, prose; exit code 1 on an error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from evidence.library.errors import InputError, nearest

if TYPE_CHECKING:
    from evidence.checks import Finding, Report

FORMATS = ("text", "json", "github")


def register(app: typer.Typer) -> None:
    app.command("check")(check)


def check(
    format: Annotated[str, typer.Option(help="text, json, or github (annotations of a workflow)")] = "text",
    ids: Annotated[bool, typer.Option("--ids", help="List every finding there can be, and what it means")] = False,
) -> None:
    """Check citations, claims, compliance, effects, notebooks and prose, offline; exit code 1 on an error."""
    from evidence.checks import CATALOGUE, report
    from evidence.library.load import load
    from evidence.library.project import find_project

    if format not in FORMATS:
        raise InputError(f"unknown format {format!r}", where="--format", mend=nearest(format, list(FORMATS)))
    if ids:
        for id, meaning in CATALOGUE.items():
            typer.echo(f"{id:22} {meaning.level:8} {meaning.text}")
        return
    found = report(load(find_project()))
    if format == "json":
        typer.echo(as_json(found))
    for each in found.findings if format != "json" else ():
        typer.echo(as_text(each) if format == "text" else as_annotation(each))
    checked = ", ".join(f"{number} {name}" for name, number in found.checked.items())
    warnings = len(found.findings) - len(found.errors)
    print(f"{plural(len(found.errors), 'error')}, {plural(warnings, 'warning')} in {checked}", file=sys.stderr)
    if found.errors:
        raise typer.Exit(1)


def plural(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def as_json(report: Report) -> str:
    import json
    from dataclasses import asdict

    return json.dumps(
        {"findings": [asdict(each) for each in report.findings], "checked": report.checked},
        ensure_ascii=False,
        indent=1,
    )


def as_text(finding: Finding) -> str:
    return f"{finding.place}: {finding.level}: {finding.message}; {finding.mend} [{finding.id}]"


def as_annotation(finding: Finding) -> str:
    """A workflow command; GitHub shows it beside the line. A cell is no line, so it goes into the message."""
    file, _, spot = finding.place.partition(":")
    message = f"{finding.message}; {finding.mend}"
    where = f"file={_property(file)}"
    if spot.isdigit():
        where += f",line={spot}"
    elif spot:
        message = f"{spot}: {message}"
    return f"::{finding.level} {where},title={_property(finding.id)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
