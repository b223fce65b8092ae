"""YAML in which every scalar stays the text that its author wrote, with the line of every node.

`no` is not a boolean here, `6.0` not a number, `1e-4` and `2025-12-09` are what they look like. Types are given by the
models that read the text. What YAML lets pass in silence is an error: keys given twice, aliases, a second document.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from evidence.library.errors import InputError
from evidence.library.project import read_text

Loc = tuple[str | int, ...]
"""The way to a node: keys and list positions from the root."""

Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""libyaml where PyYAML was built with it: ten times faster, with the same marks."""


@dataclass(frozen=True)
class YamlFile:
    """One file as read: `data` is of dict, list and str; `lines` has the line (from 1) of every node.

    A mapping's value counts as lying where its key stands, because that is where a reader looks.
    """

    name: str
    data: Any
    lines: Mapping[Loc, int] = field(default_factory=dict)

    def line(self, loc: Loc) -> int:
        """The line of the node, or of the nearest one around it that exists."""
        for end in range(len(loc), 0, -1):
            if loc[:end] in self.lines:
                return self.lines[loc[:end]]
        return 1

    def place(self, loc: Loc = ()) -> str:
        """`file:line` of a node."""
        return f"{self.name}:{self.line(loc)}"


def read_yaml(path: Path, name: str) -> YamlFile:
    """Read one YAML file; `name` is how messages call it. An empty file is an empty mapping.

    Raises:
        InputError: unreadable, not UTF-8, not YAML, a duplicate key, an alias, a key that is not plain text.
    """
    return parse_yaml(read_text(path, name), name)


def parse_yaml(text: str, name: str) -> YamlFile:
    """`read_yaml` for text that is already there."""
    try:
        root = yaml.compose(text, Loader=Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{name}:{mark.line + 1}" if mark else name
        mend = "quote values that contain ': ' or ' #' or begin with a special character"
        raise InputError(f"not YAML: {error.problem or error.context}", where=where, mend=mend) from error
    except yaml.YAMLError as error:
        raise InputError(f"not YAML: {error}", where=name) from error
    if root is None:
        return YamlFile(name, {}, {})
    reader = _Reader(name)
    return YamlFile(name, reader.value(root, ()), reader.lines)


class _Reader:
    """Turns composed nodes into plain values and remembers where each stood."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: dict[Loc, int] = {}
        self.seen: set[int] = set()

    def value(self, node: yaml.Node, loc: Loc) -> Any:
        if id(node) in self.seen:
            raise self.error(node, "aliases (*name) are not read here", "write the value out")
        self.seen.add(id(node))
        self.lines.setdefault(loc, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, loc)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(each, (*loc, index)) for index, each in enumerate(node.value)]
        return node.value

    def mapping(self, node: yaml.MappingNode, loc: Loc) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.error(key_node, "a key must be plain text", "write one word before the colon")
            key = key_node.value
            if key in found:
                first = self.lines[(*loc, key)]
                raise self.error(key_node, f"key {key!r} is given twice", f"keep one; the first is in line {first}")
            self.lines[(*loc, key)] = key_node.start_mark.line + 1
            found[key] = self.value(value_node, (*loc, key))
        return found

    def error(self, node: yaml.Node, what: str, mend: str) -> InputError:
        return InputError(what, where=f"{self.name}:{node.start_mark.line + 1}", mend=mend)
