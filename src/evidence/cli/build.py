"""`evidence build`: run what is stale, harvest, check, build the site, say where it is."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from evidence.cli.run import Device, ProfileName
from evidence.library.errors import InputError

if TYPE_CHECKING:
    from evidence.checks.finding import Finding
    from evidence.library.load import Library
    from evidence.library.project import Project

MEASURED = frozenset({"effect-control"})
"""Findings about what a machine measured: they are shown, on the page too, and never fail a build."""


def register(app: typer.Typer) -> None:
    app.command("build")(build)


def build(
    device: Annotated[Device, typer.Option(help="Where to measure.")] = Device.auto,
    profile: Annotated[
        ProfileName | None, typer.Option(help="Default: that of the run the book shows, else ci.", show_default=False)
    ] = None,
    no_run: Annotated[bool, typer.Option("--no-run", help="Take the executed notebooks as they are.")] = False,
) -> None:
    """Run stale notebooks, check everything, and build the site strictly; prints the site's path.

    A verdict never fails the build: the page shows what was found. A notebook that fails, a finding of the checks or a
    warning of Sphinx does, every time, and the last good site stays.
    """
    from evidence.library.load import load
    from evidence.library.project import find_project
    from evidence.site.build import BuildFailed, build_site

    if profile is ProfileName.smoke:
        raise InputError("a smoke run measures nothing, so the book does not show it", "--profile", "take ci or full")
    project = find_project()
    if not no_run and not run_stale(project, str(device), str(profile) if profile else None):
        raise typer.Exit(1)
    library = load(project)
    if not checks_pass(library):
        raise typer.Exit(1)
    try:
        site = build_site(library, say)
    except BuildFailed as failed:
        say(f"{failed}\nthe site was not built; what was there before is untouched")
        raise typer.Exit(1) from None
    print(site / "index.html")


def run_stale(project: Project, device: str, profile: str | None) -> bool:
    """Execute every notebook that is stale; whether all went well."""
    from evidence.runs.plan import Request, plan
    from evidence.runs.pool import run_jobs
    from evidence.runs.progress import progress

    planned = [plan(project, name, Request({}, device, profile, None, None)) for name in project.notebook_names()]
    if not planned:
        return True
    with progress() as shown:
        outcomes = run_jobs(planned, shown)
    failed = [outcome.job.label for outcome in outcomes if not outcome.ok]
    if failed:
        say(f"not built, because these notebooks did not run to their end: {', '.join(failed)}")
    return not failed


def checks_pass(library: Library) -> bool:
    """Print every finding; whether none of them stands in the way of the site."""
    from evidence.checks import run_checks
    from evidence.cli.check import as_text

    findings = run_checks(library)
    for each in findings:
        say(as_text(each))
    barring = [each for each in findings if bars(each)]
    if barring:
        say(f"not built, because of {len(barring)} findings of the checks")
    return not barring


def bars(finding: Finding) -> bool:
    return finding.level == "error" and finding.id not in MEASURED


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
