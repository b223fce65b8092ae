"""What can be set from outside a notebook: the cell tagged `parameters`, `-p NAME=VALUE`, and who reads them.

A parameter has the type of its default, because a shell knows only text: `seed=007` is 7 and `amp=no` is False.
"""

from __future__ import annotations

import ast
import math
import re
import symtable
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evidence.library.errors import InputError, nearest
from evidence.library.harvest import Notebook, source_of
from evidence.runs.cells import parsed, runs, tags

Value = Any
"""What a parameter may hold: bool, int, float, str, None, or lists and dicts of these."""

REQUIRED = ("device", "profile", "seed")
"""Every notebook has these, so that any of them can be run on any machine, in any profile, with any seed."""

WORDS = {"yes": True, "true": True, "on": True, "1": True, "no": False, "false": False, "off": False, "0": False}


@dataclass(frozen=True)
class Declared:
    """The parameters cell: where it stands (index), and the defaults it gives."""

    place: str
    index: int
    defaults: Mapping[str, Value]


def declared(notebook: Notebook) -> Declared:
    """What the notebook's parameters cell declares.

    Raises:
        InputError: no or several cells tagged `parameters`, one that holds more than plain assignments of literals,
            a parameter missing that every notebook has, or a notebook that papermill wrote.
    """
    tagged = [index for index, cell in enumerate(notebook.cells) if "parameters" in tags(cell)]
    if any("injected-parameters" in tags(cell) for cell in notebook.cells):
        raise InputError("is an executed notebook", where=notebook.name, mend="keep the source without injected cells")
    if len(tagged) != 1 or not runs(notebook.cells[tagged[0]]):
        count = "no cell with code" if len(tagged) < 2 else f"{len(tagged)} cells"
        mend = f"tag the one cell that sets {', '.join(REQUIRED)}"
        raise InputError(f"{count} tagged 'parameters'", where=notebook.name, mend=mend)
    index = tagged[0]
    place = notebook.place(index)
    defaults = dict(_assignments(source_of(notebook.cells[index]), place))
    for name in REQUIRED:
        if name not in defaults:
            raise InputError(f"the parameters cell has no {name!r}", where=place, mend="every notebook has one")
    return Declared(place, index, defaults)


def _assignments(source: str, place: str) -> Iterable[tuple[str, Value]]:
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise InputError(f"is not Python: {error.msg}", where=f"{place}, line {error.lineno}") from error
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=default):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as default):
                pass
            case _:
                raise _not_plain(place, statement.lineno)
        try:
            yield name, ast.literal_eval(default)
        except (ValueError, TypeError) as error:
            raise _not_plain(place, statement.lineno) from error


def _not_plain(place: str, line: int) -> InputError:
    mend = "move everything else to a later cell"
    return InputError("the parameters cell holds more than NAME = literal", f"{place}, line {line}", mend)


def unread(notebook: Notebook, parameters: Declared) -> None:
    """Refuse a notebook with a parameter that does nothing.

    Raises:
        InputError: no later cell reads a declared parameter, or one assigns it before any reads it.
    """
    waiting = set(parameters.defaults)
    for index, tree, mentioned in parsed(notebook, parameters.index + 1):
        waiting -= mentioned
        for statement in tree.body:
            waiting -= _reads(statement)
            if overwritten := sorted(waiting & _assigned(statement)):
                raise InputError(
                    f"{overwritten[0]!r} is a parameter and is overwritten here before anything reads it",
                    where=f"{notebook.place(index)}, line {statement.lineno}",
                    mend="use another name, or drop the assignment",
                )
    if waiting:
        name = min(waiting)
        raise InputError(f"no cell reads the parameter {name!r}", where=parameters.place, mend="use it, or drop it")


def _reads(statement: ast.stmt) -> set[str]:
    """The module's names that a statement reads, in nested functions too unless they have their own by that name."""
    try:
        top = symtable.symtable(ast.unparse(statement), "cell", "exec")
    except SyntaxError:  # what only IPython allows, such as await outside a function
        return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    found = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    tables = list(top.get_children())
    while tables:
        table = tables.pop()
        tables += table.get_children()
        found |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() and symbol.is_referenced()}
    return found


def _assigned(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.Assign(targets=targets):
            nodes = [node for target in targets for node in ast.walk(target)]
        case ast.AnnAssign(target=target, value=ast.expr()):
            nodes = [target]
        case _:
            return set()
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def split_option(option: str, where: str = "-p") -> tuple[str, str]:
    """`seed=3` as name and text.

    Raises:
        InputError: no `=`, or no name before it.
    """
    name, equals, text = option.partition("=")
    if not equals or not name.strip():
        raise InputError(f"{option!r} has no value", where, f"write {where} {name.strip() or 'NAME'}=VALUE")
    return name.strip(), text.strip()


def typed(name: str, text: str, parameters: Declared) -> Value:
    """The value of `-p name=text`, in the type of the parameter's default.

    Raises:
        InputError: the parameter is unknown, or the text does not fit the type.
    """
    if name not in parameters.defaults:
        known = nearest(name, list(parameters.defaults))
        raise InputError(f"no parameter {name!r}", where=f"-p {name}, {parameters.place}", mend=known)
    default = parameters.defaults[name]
    if isinstance(default, str):
        return text
    try:
        return _converted(text, default)
    except (ValueError, SyntaxError, OverflowError) as error:
        kind = "number" if isinstance(default, float) else type(default).__name__
        example = "yes or no" if isinstance(default, bool) else f"something like {default!r}"
        raise InputError(f"{text!r} is no {kind}", where=f"-p {name}", mend=f"give {example}") from error


def _converted(text: str, default: Value) -> Value:
    if isinstance(default, bool):
        if text.lower() not in WORDS:
            raise ValueError(text)
        return WORDS[text.lower()]
    if isinstance(default, int):
        if re.fullmatch(r"[+-]?[\d_]+", text):
            return int(text)
        if not float(text).is_integer():  # 1e3 steps are a thousand steps
            raise ValueError(text)
        return int(float(text))
    if isinstance(default, float):
        if not math.isfinite(float(text)):
            raise ValueError(text)
        return float(text)
    value = ast.literal_eval(text)
    if default is not None and not isinstance(value, type(default)):
        raise ValueError(text)
    return value
