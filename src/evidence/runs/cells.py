"""The code cells of a notebook as Python: parsed, with IPython's magic lines set aside."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from evidence.library.errors import InputError
from evidence.library.harvest import Notebook, source_of

Cell = Mapping[str, Any]

MAGIC = re.compile(r"^(\s*)(?:[\w, ]+=\s*)?[%!]")
"""A line that IPython rewrites: `%time f(x)`, `!ls`, `files = !ls`; `%%time` is one as well."""

FOREIGN = re.compile(r"^%%(?:bash|sh|script|html|javascript|js|latex|markdown|svg|perl|ruby|writefile|file)\b")
"""Cell magics whose body is not Python."""


def tags(cell: Cell) -> set[str]:
    """The cell's tags; none if the metadata has none."""
    return set(cell.get("metadata", {}).get("tags", []))


def runs(cell: Cell) -> bool:
    """Whether there is something to execute: a code cell that is not blank."""
    return cell.get("cell_type") == "code" and bool(source_of(cell).strip())


def first_line(cell: Cell, width: int = 60) -> str:
    """The first line that is neither blank nor a comment, as messages call the cell; the first line if all are."""
    lines = [line.strip() for line in source_of(cell).splitlines() if line.strip()]
    code = [line for line in lines if not line.startswith("#")] or lines or [""]
    return code[0] if len(code[0]) <= width else code[0][: width - 1] + "…"


def split_magic(source: str) -> tuple[str, set[str]]:
    """The source as plain Python, and the names that its magic lines mention.

    A magic line becomes `pass` at the same indentation, so that lines keep their numbers.
    """
    if FOREIGN.match(source.lstrip()):
        return "", set(re.findall(r"[^\W\d]\w*", source))
    lines, names = [], set()
    for line in source.splitlines():
        found = MAGIC.match(line)
        if found:
            names |= set(re.findall(r"[^\W\d]\w*", line))
            line = f"{found.group(1)}pass"
        lines.append(line)
    return "\n".join(lines) + "\n", names


def parsed(notebook: Notebook, start: int = 0) -> Iterator[tuple[int, ast.Module, set[str]]]:
    """Every cell with code from index `start` on: its index, its syntax tree, the names in its magic lines.

    Raises:
        InputError: a cell is not Python; names cell and line.
    """
    for index, cell in enumerate(notebook.cells):
        if index < start or not runs(cell):
            continue
        source, names = split_magic(source_of(cell))
        try:
            yield index, ast.parse(source), names
        except SyntaxError as error:
            where = f"{notebook.place(index)}, line {error.lineno}"
            raise InputError(f"is not Python: {error.msg}", where=where) from error
