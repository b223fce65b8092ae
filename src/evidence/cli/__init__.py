"""The `evidence` command: one module a subcommand, thin; the work is done in the rooms below.

JSON goes to stdout and nothing else does; progress and messages go to stderr. Exit codes: 0 fine, 1 something does
not hold, 2 wrong usage or unreadable input.
"""

from __future__ import annotations

import sys
from importlib import import_module

import typer
from typer.exceptions import TyperException

from evidence.library.errors import InputError

COMMANDS: tuple[str, ...] = ("build", "serve", "run", "rcp", "logs", "verify", "record", "check", "show")
"""Modules of this package; each registers itself on the app through its `register(app)`."""


def build_app() -> typer.Typer:
    """The command with all its subcommands. Subcommand modules import their rooms only when called."""
    app = typer.Typer(
        name="evidence",
        help="An executable evidence base for MLPerf Training closed-division submissions.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    for name in COMMANDS:
        import_module(f"evidence.cli.{name}").register(app)
    return app


def main() -> None:
    """Run the command; wrong usage and bad input are one line on stderr and exit code 2, never a traceback."""
    try:
        sys.exit(build_app()(prog_name="evidence", standalone_mode=False))
    except InputError as error:
        print(f"evidence: {error}", file=sys.stderr)
        sys.exit(2)
    except TyperException as error:  # wrong usage
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "evidence"
        if message := error.format_message():  # empty where the help was shown instead
            print(f"evidence: {message.rstrip('.')}; see `{command} --help`", file=sys.stderr)
        sys.exit(2)
    except typer.Abort:
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)
