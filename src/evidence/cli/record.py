"""`evidence record`: keep what this machine found."""

from __future__ import annotations

import sys

import typer

from evidence.library.errors import InputError


def register(app: typer.Typer) -> None:
    app.command("record")(record)


def record() -> None:
    """Append the records of the executed notebooks to the ledger of their machine class.

    What was not measured is left out, and so is what the ledger holds already.
    """
    from evidence.library.harvest import harvest
    from evidence.library.ledger import append
    from evidence.library.project import find_project

    project = find_project()
    records = harvest(project).records
    if not records:
        raise InputError("no executed notebook has a record", project.relative(project.executed), "evidence run first")
    for path, gained in append(project, records.values()).items():
        print(f"{project.relative(path)}: {gained} new", file=sys.stderr)
