"""Which files of this package a notebook depends on: what it imports, and what these import in turn.

Rooms above the notebooks (`runs` but for the environment it sets, `site`, `checks`, `cli`) are not reached, and so a
change there makes no notebook stale.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import evidence

ALWAYS = ("evidence", "evidence.runs.environment", "evidence.runs.kernel")
"""Every notebook runs in the environment that these set."""

DOTTED = re.compile(r"evidence(\.\w+)+")


def package_root() -> Path:
    return Path(evidence.__file__).resolve().parent


def closure(trees: Iterable[ast.AST]) -> list[str]:
    """The modules of this package that code reaches through imports, sorted; `trees` is the notebook's code."""
    found: set[str] = set()
    waiting = [*ALWAYS, *(name for tree in trees for name in _mentioned(tree))]
    while waiting:
        name = waiting.pop()
        if name in found or not (path := module_path(name)):
            continue
        found.add(name)
        waiting += _imports_of(path, path.stat().st_mtime_ns)
        if "." in name:
            waiting.append(name.rpartition(".")[0])
    return sorted(found)


def files(modules: Iterable[str]) -> dict[str, Path]:
    """The files of these modules and the data that ships in their packages, by name as `evidence/lab/stats.py`."""
    found = {path for module in modules if (path := module_path(module))}
    for folder in {path.parent for path in found if path.name == "__init__.py"} - {package_root()}:
        found |= {path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    return {path.relative_to(package_root().parent).as_posix(): path for path in sorted(found)}


def module_path(name: str) -> Path | None:
    """The file of a module of this package; None if there is none by that name."""
    first, *rest = name.split(".")
    if first != package_root().name:
        return None
    base = package_root().joinpath(*rest)
    candidates = (base / "__init__.py", base.with_suffix(".py"))
    return next((path for path in candidates if path.is_file()), None)


@cache
def _imports_of(path: Path, changed: int) -> tuple[str, ...]:
    """What one file mentions; `changed` is its time stamp, so that an edited file is read again."""
    return tuple(_mentioned(ast.parse(path.read_text(encoding="utf-8"))))


def _mentioned(tree: ast.AST) -> Iterator[str]:
    """Names that may be modules of this package, imports inside functions and names in strings included."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str() as module, names=names, level=0):
                yield module
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.Constant(value=str() as text) if DOTTED.fullmatch(text):
                yield text
