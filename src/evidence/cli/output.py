"""How tables reach stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

UNBROKEN = 240
"""Columns where stdout is a file or a pipe, which has no edge to break lines at."""


def wide_console() -> Console:
    """A console on stdout: as wide as the terminal, or wide enough for any of our tables."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console.width = UNBROKEN
    return console
