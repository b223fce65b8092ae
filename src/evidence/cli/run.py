"""`evidence run`: execute notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from evidence.library.errors import InputError

if TYPE_CHECKING:
    from evidence.library.project import Project
    from evidence.runs.execute import Outcome
    from evidence.runs.plan import Job, Request


class Device(StrEnum):
    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"


class ProfileName(StrEnum):
    smoke = "smoke"
    ci = "ci"
    full = "full"


def register(app: typer.Typer) -> None:
    app.command("run")(run)


def run(
    notebooks: Annotated[list[str] | None, typer.Argument(metavar="NOTEBOOK", help="Default: all.")] = None,
    parameters: Annotated[
        list[str] | None, typer.Option("-p", "--parameter", metavar="NAME=VALUE", help="Typed as its default is.")
    ] = None,
    device: Annotated[Device, typer.Option(help="Where to measure.")] = Device.auto,
    profile: Annotated[
        ProfileName | None, typer.Option(help="Default: that of the run the book shows, else ci.", show_default=False)
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Side by side; timings count only alone.")] = 1,
    sweep: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUES", help="Several values, as seed=0,1,2; verdicts to stdout.")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(min=0.001, help="Seconds for a notebook; smoke 300, ci 1200, full 21600.")
    ] = None,
    cell_timeout: Annotated[float | None, typer.Option(min=0.001, help="Seconds for a cell.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each is stale or fresh; run nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Run also what is fresh.")] = False,
) -> None:
    """Execute notebooks through papermill: those that are stale, or all with --force.

    The book shows runs of the profiles ci and full with default parameters; -p and smoke runs are kept beside them.
    """
    from evidence.library.project import find_project
    from evidence.runs.plan import Request
    from evidence.runs.pool import run_jobs
    from evidence.runs.progress import progress
    from evidence.runs.sweep import counted

    project = find_project()
    given, combinations = _values(parameters or [], sweep or [])
    chosen = str(profile) if profile else None
    requests = [Request({**given, **each}, str(device), chosen, timeout, cell_timeout) for each in combinations]
    planned = _planned(project, notebooks or project.notebook_names(), requests)
    if explain:
        _explain(planned)
        return
    with progress() as shown:
        if jobs > 1:
            shown.say(f"{jobs} notebooks side by side: their timings disturb each other")
        outcomes = run_jobs(planned, shown, at_once=jobs, force=force)
        for outcome in outcomes:
            if outcome.ok:
                shown.say(f"{outcome.job.label}: {counted(outcome)}")
    if sweep:
        _compare(combinations, outcomes)
    if not all(outcome.ok for outcome in outcomes):
        raise typer.Exit(1)


def _values(parameters: list[str], sweep: list[str]) -> tuple[dict[str, str], list[dict[str, str]]]:
    """What -p gives to every run, and what each run of a sweep adds."""
    from evidence.runs.parameters import split_option
    from evidence.runs.sweep import expand

    given, combinations = dict(split_option(option) for option in parameters), expand(sweep)
    if twice := set(given) & set(combinations[0]):
        raise InputError(f"{min(twice)!r} is given and swept", "--sweep", "leave one of the two out")
    return given, combinations


def _planned(project: Project, names: Sequence[str], requests: Sequence[Request]) -> list[Job]:
    """Every notebook with every request, all checked before any is run."""
    from evidence.runs.plan import plan

    if not names:
        raise InputError("there is no notebook", project.relative(project.notebooks))
    planned = [plan(project, name, request) for name in names for request in requests]
    labels = [job.label for job in planned]
    if again := [label for label in labels if labels.count(label) > 1]:
        raise InputError(f"{again[0]} would be run twice", mend="give each notebook and each value once")
    return planned


def _explain(planned: Sequence[Job]) -> None:
    from evidence.runs.stale import freshness

    for job in planned:
        found = freshness(job)
        print(f"{job.label}: {found.state}", *(f"  {reason}" for reason in found.reasons), sep="\n")


def _compare(combinations: Sequence[dict[str, str]], outcomes: Sequence[Outcome]) -> None:
    """The verdicts of each swept notebook side by side, on stdout."""
    from evidence.cli.output import wide_console
    from evidence.runs.sweep import table

    size, console = len(combinations), wide_console()
    for start in range(0, len(outcomes), size):
        console.print(table(combinations, outcomes[start : start + size]))
