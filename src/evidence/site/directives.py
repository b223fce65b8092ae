"""The Sphinx side of the directives: read the request, note what the page depends on, register anchors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from evidence.library.ledger import ledger_folder
from evidence.site.content import CONTENT, Request
from evidence.site.roles import depends, library_of

if TYPE_CHECKING:
    from evidence.library.load import Library

logger = logging.getLogger(__name__)


class DataDirective(SphinxDirective):
    """A directive whose content is made from the library.

    On generated pages it carries a `:digest:` of what it shows, so that the page's text changes when its content does;
    a page written by hand depends on the data files themselves.
    """

    optional_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = dict.fromkeys(("lever", "techniques", "digest"), directives.unchanged)

    def run(self) -> list[nodes.Node]:
        library = library_of(self.env)
        argument = self.arguments[0].strip() if self.arguments else ""
        options = {name: self.options.get(name, "") for name in ("lever", "techniques")}
        request = Request(argument, docname=self.env.docname, **options)
        if "digest" not in self.options:
            for path in data_files(library):
                depends(self.env, path)
        try:
            made = CONTENT[self.name](library, request)
        except LookupError as error:
            logger.warning(str(error.args[0]), location=self.get_location(), type="evidence", subtype=self.name)
            return []
        self.note_anchors(made)
        return made

    def note_anchors(self, made: list[nodes.Node]) -> None:
        """Rows and sections with an id become labels that every page may link to."""
        labels = self.env.get_domain("std").data["anonlabels"]
        for root in made:
            for node in root.findall(lambda each: isinstance(each, nodes.row | nodes.section)):
                for anchor in node["ids"]:
                    labels[anchor] = (self.env.docname, anchor)


def data_files(library: Library) -> Iterator[Path]:
    """Every file that a table may show something of."""
    project = library.project
    for folder in ("levers", "plays", "rules"):
        yield from sorted((project.book / folder).glob("*.yml"))
    yield from (project.executed_notebook(name) for name in project.notebook_names())
    yield from sorted(ledger_folder(project).glob("*.jsonl"))
    yield project.bib
