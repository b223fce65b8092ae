"""One notebook with several values of a parameter, and the verdicts side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from evidence.library.errors import InputError
from evidence.library.harvest import read_notebook, records_of
from evidence.library.models import Record
from evidence.runs.execute import Outcome
from evidence.runs.parameters import split_option

if TYPE_CHECKING:
    from rich.table import Table


def expand(sweeps: Sequence[str]) -> list[dict[str, str]]:
    """`["seed=0,1", "lr=1e-3,1e-4"]` as every combination; one empty combination if there is nothing to sweep.

    Raises:
        InputError: a sweep without values, with one value twice, or one parameter swept twice.
    """
    axes: dict[str, list[str]] = {}
    for sweep in sweeps:
        name, text = split_option(sweep, "--sweep")
        values = [value.strip() for value in text.split(",")]
        if name in axes or len(set(values)) < len(values) or not all(values):
            raise InputError(f"{sweep!r} is no list of different values", "--sweep", "write --sweep seed=0,1,2")
        axes[name] = values
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def records(outcome: Outcome) -> dict[str, Record]:
    """The records in the notebook that a job left, by effect; none if it failed."""
    if not outcome.ok:
        return {}
    job = outcome.job
    notebook = read_notebook(job.destination, job.project.relative(job.destination))
    return {record.id: record for _, record in records_of(notebook, job.name)}


def counted(outcome: Outcome) -> str:
    """'9 effects: 8 holds, 1 not-measured'."""
    verdicts = [record.verdict for record in records(outcome).values()]
    each = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts))
    return f"{len(verdicts)} effect{'s' * (len(verdicts) != 1)}" + (f": {each}" if each else "")


def rows(combinations: Sequence[Mapping[str, str]], outcomes: Sequence[Outcome]) -> list[list[str]]:
    """A row an effect: its id and the verdict with the estimate per combination, '–' where there is none."""
    found = [records(outcome) for outcome in outcomes]
    effects = sorted({effect for each in found for effect in each})
    return [[effect, *(_cell(each.get(effect)) for each in found)] for effect in effects]


def table(combinations: Sequence[Mapping[str, str]], outcomes: Sequence[Outcome]) -> Table:
    """The rows as a table for people."""
    from rich import box
    from rich.table import Table

    shown = Table(box=box.SIMPLE_HEAD, header_style="bold")
    shown.add_column("effect", no_wrap=True)
    for combination in combinations:
        shown.add_column(", ".join(f"{name}={value}" for name, value in combination.items()))
    for row in rows(combinations, outcomes):
        shown.add_row(*row)
    return shown


def _cell(record: Record | None) -> str:
    if record is None:
        return "–"
    return record.verdict if record.estimate is None else f"{record.verdict} {record.estimate:.4g}"
