"""Progress: one line a cell where nobody watches, a moving line a notebook on a terminal."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console
from rich.progress import Progress as RichProgress
from rich.progress import TextColumn

from evidence.runs.progress import Bars, Lines, Progress, progress


def a_run(shown: Progress) -> None:
    shown.begin("precision", 2)
    shown.cell("precision", 1, "x = [1]")
    shown.cell("precision", 2, "y[0] = [/bold]")
    shown.end("precision", "ran in 1.0 s")


def test_lines_name_every_cell_with_its_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    a_run(Lines())
    out, err = capsys.readouterr()
    assert out == ""
    assert re.sub(r" +\d+\.\d s", " N s", err).splitlines() == [
        "precision: code cell 1/2 N s  x = [1]",
        "precision: code cell 2/2 N s  y[0] = [/bold]",
        "precision: ran in N s",
    ]


def test_a_run_that_fails_before_its_first_cell_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    for shown in (Lines(), Bars(RichProgress(console=Console(stderr=True)))):
        shown.end("precision", "FAILED")
        assert capsys.readouterr().err == "precision: FAILED\n"


def test_bars_take_code_for_code_and_leave_only_the_end() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100)
    columns = (TextColumn("{task.description}"), TextColumn("{task.fields[line]}", markup=False))
    with RichProgress(*columns, console=console, transient=True, auto_refresh=False) as bars:
        shown = Bars(bars)
        shown.begin("precision", 2)
        shown.cell("precision", 2, "y[0] = [/bold]")
        assert (bars.tasks[0].completed, bars.tasks[0].total) == (1, 2)
        bars.refresh()
        shown.end("precision", "ran [in] 1 s")
        assert bars.tasks == []
    assert "y[0] = [/bold]" in screen.getvalue()
    assert "precision: ran [in] 1 s" in screen.getvalue()


def test_without_a_terminal_there_are_lines() -> None:
    with progress() as shown:
        assert isinstance(shown, Lines)
