"""Small builders of docutils nodes: everything that the site shows of the data is made of these.

Pure docutils and Sphinx node types, no application: so a page's content can be hashed before Sphinx runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from docutils import nodes
from sphinx import addnodes

from evidence.site.words import WORDS

Inline: TypeAlias = "nodes.Node | str"
Cell: TypeAlias = "Inline | Sequence[Inline] | Sequence[nodes.Node]"


class disclosure(nodes.General, nodes.Element):  # type: ignore[misc]  # noqa: N801 - docutils names node classes so
    """A remark that opens on a click: `<details>` in HTML. Attribute `summary`: what is always seen."""


def text(value: str) -> list[nodes.Node]:
    """Text whose `code spans` become literals; nothing else in it is markup."""
    parts = re.split(r"`([^`]+)`", value)
    made: list[nodes.Node] = []
    for index, part in enumerate(parts):
        if part:
            made.append(nodes.literal("", part) if index % 2 else nodes.Text(part))
    return made


def inline(parts: Cell) -> list[nodes.Node]:
    """Strings become text nodes, nodes stay, sequences are flattened."""
    if isinstance(parts, str):
        return text(parts)
    if isinstance(parts, nodes.Node):
        return [parts]
    return [node for part in parts for node in inline(part)]


def span(parts: Cell, *classes: str) -> nodes.inline:
    return nodes.inline("", "", *inline(parts), classes=list(classes))


def paragraph(*parts: Cell, classes: Sequence[str] = ()) -> nodes.paragraph:
    return nodes.paragraph("", "", *inline(list(parts)), classes=list(classes))


def bullets(items: Iterable[Cell], *classes: str) -> nodes.bullet_list:
    made = [nodes.list_item("", paragraph(item)) for item in items]
    return nodes.bullet_list("", *made, classes=list(classes))


def badge(word: str, shown: str = "") -> nodes.inline:
    """A status, check or verdict as a coloured word. The word is always there: colour says nothing alone."""
    slug = re.sub(r"[^a-z]+", "-", word)
    return nodes.inline("", "", nodes.Text(shown or WORDS.get(word, word)), classes=["ev-badge", f"ev-{slug}"])


def cite(key: str) -> addnodes.pending_xref:
    """A live citation, `(Li et al., 2022)`, that sphinxcontrib-bibtex resolves."""
    return addnodes.pending_xref(
        "", nodes.inline("", key), refdomain="cite", reftype="p", reftarget=key, refexplicit=False, refwarn=True
    )


def link(target: str, shown: Cell, *classes: str) -> addnodes.pending_xref:
    """A link to an anchor (`claim-…`, `technique-…`), or to a page by its name from the root (`/book/intro`).

    `extension.resolve` makes it; Sphinx's own `ref` would flatten what is shown, badges too. A target that does not
    exist is a warning.
    """
    return addnodes.pending_xref(
        "", span(shown, *classes), refdomain="", reftype="evidence", reftarget=target, refwarn=True
    )  # fmt: skip


def page(docname: str, shown: Cell) -> addnodes.pending_xref:
    """A link to a page by its name from the root."""
    return link(f"/{docname}", shown)


def outside(url: str, shown: str) -> nodes.reference:
    """A link that leaves the site when a reader follows it."""
    return nodes.reference("", shown, refuri=url, internal=False)


def joined(parts: Sequence[Inline], separator: str = ", ") -> list[Inline]:
    made: list[Inline] = []
    for index, part in enumerate(parts):
        made += [separator, part] if index else [part]
    return made


@dataclass(frozen=True)
class Row:
    """A table row; `anchor` is a label that other pages may link to."""

    cells: Sequence[Cell]
    anchor: str = ""


@dataclass(frozen=True)
class Column:
    """A column's heading. `facet`: the name of a filter that offers the words marked in the column's cells."""

    title: str
    facet: str = ""


def facet(title: str) -> Column:
    """A column whose words are offered as a filter under its own heading."""
    return Column(title, title)


Head: TypeAlias = "Column | str"


def entry(cell: Cell) -> nodes.entry:
    parts = cell if isinstance(cell, list | tuple) else [cell]
    blocks = [p for p in parts if isinstance(p, nodes.Body | nodes.General) and not isinstance(p, nodes.Inline)]
    if blocks:
        return nodes.entry("", *[p if isinstance(p, nodes.Node) else paragraph(p) for p in parts])
    return nodes.entry("", paragraph(cell))


def table(caption: str, columns: Sequence[Head], rows: Sequence[Row], *classes: str, stub: bool = True) -> nodes.table:
    """A table with a caption and column heads; its first column heads the rows unless `stub` is False."""
    heads = [column if isinstance(column, Column) else Column(column) for column in columns]
    group = nodes.tgroup(cols=len(heads))
    for index in range(len(heads)):
        spec = nodes.colspec(colwidth=1)
        if stub and index == 0:
            spec["stub"] = 1
        group += spec
    head_row = nodes.row()
    for column in heads:
        head = entry(column.title)
        if column.facet:
            head["classes"] += ["ev-facet", "ev-facet--" + column.facet.lower().replace(" ", "-")]
        head_row += head
    group += nodes.thead("", head_row)
    body = nodes.tbody()
    for row in rows:
        if len(row.cells) != len(heads):
            raise ValueError(f"{caption}: {len(row.cells)} cells under {len(heads)} heads")
        made = nodes.row("", *[entry(cell) for cell in row.cells])
        if row.anchor:
            made["ids"].append(row.anchor)
        body += made
    group += body
    return nodes.table("", nodes.title("", caption), group, classes=["colwidths-auto", "ev-table", *classes])


def section(title: Cell, anchor: str, *children: nodes.Node) -> nodes.section:
    return nodes.section("", nodes.title("", "", *inline(title)), *children, ids=[anchor])


def facts(pairs: Iterable[tuple[str, Cell]]) -> nodes.field_list:
    """A list of name and value; pairs without a value are left out."""
    made = nodes.field_list(classes=["ev-facts"])
    for name, value in pairs:
        if value:
            made += nodes.field("", nodes.field_name("", name), nodes.field_body("", paragraph(value)))
    return made
