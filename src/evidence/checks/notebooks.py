"""Notebooks as they lie in git: their shape, and the effects that their source declares."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evidence.checks.finding import Finding, finding
from evidence.library.harvest import Notebook, read_notebook, source_of
from evidence.library.project import Project

if TYPE_CHECKING:
    from evidence.checks.subject import Subject

MAGIC = re.compile(r"^(\s*)([%!?].*)$", re.M)


@dataclass(frozen=True)
class Declared:
    """An `Effect(…)` as its cell spells it; None where the source computes what a literal would say."""

    id: str
    notebook: str
    place: str
    claims: tuple[str, ...] | None = ()
    techniques: tuple[str, ...] | None = ()
    fault: str | None = ""


@dataclass(frozen=True)
class SourceNotebook:
    """A notebook in git with what its code declares."""

    stem: str
    notebook: Notebook
    effects: tuple[Declared, ...] = ()
    broken: tuple[tuple[int, str], ...] = field(default=())
    """(cell, what Python says) of cells that are not Python."""


def read_sources(project: Project) -> list[SourceNotebook]:
    """Every notebook of the book.

    Raises:
        InputError: a file that is not a notebook.
    """
    found = []
    for stem in project.notebook_names():
        path = project.notebook(stem)
        found.append(read_source(stem, read_notebook(path, project.relative(path))))
    return found


def read_source(stem: str, notebook: Notebook) -> SourceNotebook:
    """The effects that a notebook declares, by its syntax tree: nothing is executed."""
    effects: list[Declared] = []
    broken: list[tuple[int, str]] = []
    for index, cell in enumerate(notebook.cells):
        if cell.get("cell_type") != "code":
            continue
        code = source_of(cell)
        if code.lstrip().startswith("%%"):
            continue  # a cell magic: what follows need not be Python
        try:
            tree = ast.parse(MAGIC.sub(r"\1pass  # \2", code))
        except (SyntaxError, ValueError) as error:
            broken.append((index, str(error)))
            continue
        effects += (each for each in declared_in(tree, stem, notebook.place(index)))
    return SourceNotebook(stem, notebook, tuple(effects), tuple(broken))


def declared_in(tree: ast.AST, stem: str, place: str) -> Iterator[Declared]:
    """Calls of `Effect` whose id is a literal."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name != "Effect":
            continue
        given = {each.arg: each.value for each in node.keywords if each.arg}
        given |= dict(zip(("id", "title", "kind", "direction", "bound", "fault"), node.args, strict=False))
        id = _literal(given.get("id"))
        if isinstance(id, str):
            fault = _literal(given["fault"]) if "fault" in given else ""
            yield Declared(
                id, stem, place, _names(given.get("claims")), _names(given.get("techniques")),
                None if fault is None else str(fault),
            )  # fmt: skip


def _literal(node: ast.expr | None) -> object:
    try:
        return ast.literal_eval(node) if node is not None else None
    except ValueError:
        return None


def _names(node: ast.expr | None) -> tuple[str, ...] | None:
    """The names in a literal list or tuple; none if it is left out; None if it is computed."""
    if node is None:
        return ()
    found = _literal(node)
    return tuple(map(str, found)) if isinstance(found, list | tuple) else None


def check(subject: Subject) -> Iterator[Finding]:
    """The shape of every notebook: parameters, no outputs, Python in its code cells."""
    for source in subject.notebooks:
        notebook = source.notebook
        code = [(i, each) for i, each in enumerate(notebook.cells) if each.get("cell_type") == "code"]
        tagged = [i for i, each in code if "parameters" in each.get("metadata", {}).get("tags", [])]
        if len(tagged) != 1:
            place = notebook.place(tagged[1]) if tagged else notebook.name
            message = f"{len(tagged)} cells are tagged `parameters`"
            mend = "tag exactly one code cell `parameters`; it sets device, profile and seed"
            yield finding("notebook-parameters", place, message, mend)
        for index, cell in code:
            if cell.get("outputs") or cell.get("execution_count") is not None:
                mend = "strip it (nbstripout, or: pre-commit run); executed copies live in notebooks/_executed"
                yield finding("notebook-outputs", notebook.place(index), "the cell carries the output of a run", mend)
        for index, error in source.broken:
            yield finding("notebook-syntax", notebook.place(index), f"not Python: {error}", "correct the cell")
