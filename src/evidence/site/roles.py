"""Roles that put data into prose: {claim}, {measured}, {fact}, {technique}, {rule}. No number is typed twice."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from evidence.library.errors import nearest
from evidence.library.facts import fact, known
from evidence.site import nodes as n
from evidence.site import tables as t
from evidence.site import where as w
from evidence.site.words import value_text

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment

    from evidence.library.load import Library

logger = logging.getLogger(__name__)


def library_of(env: BuildEnvironment) -> Library:
    """The library that the extension loaded for this build."""
    library: Library = env.app.evidence_library  # type: ignore[attr-defined]
    return library


def depends(env: BuildEnvironment, path: Path) -> None:
    """Read the page again when `path` changes."""
    env.note_dependency(str(path))


class DataRole(SphinxRole):
    """A role whose text names something in the library."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        try:
            return n.inline(self.show(library_of(self.env), self.text.strip())), []
        except LookupError as error:
            reason = error.args[0]
            logger.warning(reason, location=self.get_location(), type="evidence", subtype=self.name)
            return [nodes.problematic(self.rawtext, self.rawtext)], []

    def show(self, library: Library, name: str) -> n.Cell:
        """What stands in place of the role; LookupError says in one line why there is nothing."""
        raise NotImplementedError

    def note(self, library: Library, kind: Any, name: str) -> None:
        """The page depends on the file that `name` stands in."""
        place = library.place(kind, name).partition(":")[0]
        depends(self.env, library.project.root / place)


class ClaimRole(DataRole):
    """`{claim}`id``: value and unit, linked to the claim's row, with a live citation and what the check found."""

    def show(self, library: Library, name: str) -> n.Cell:
        claim = known(library.claims, name, "claim")
        self.note(library, "claim", name)
        shown: list[n.Inline] = []
        if claim.value:
            shown += [n.link(f"claim-{name}", n.span(value_text(claim), "ev-value")), " "]
        shown.append(n.cite(claim.source))
        if claim.check == "not-found":
            shown += [" ", n.badge("not-found", "not found in the source")]
        return [n.span(shown, "ev-claim")]


class MeasuredRole(DataRole):
    """`{measured}`effect``: our estimate with its interval and verdict, linked to the effect's card."""

    def show(self, library: Library, name: str) -> n.Cell:
        if name in library.records:
            self.note(library, "effect", name)
        else:
            notebook = name.partition("/")[0]
            names = library.project.notebook_names()
            if notebook not in names:
                raise LookupError(f"unknown effect {name!r}: no notebook {notebook!r}; {nearest(notebook, names)}")
            depends(self.env, library.project.executed_notebook(notebook))
        return [n.span(t.measured_inline(library, name), "ev-measured")]


class FactRole(DataRole):
    """`{fact}`6.0/llama31_8b/quality.target``: a value of the rules data."""

    def show(self, library: Library, name: str) -> n.Cell:
        for round_ in library.rounds:
            depends(self.env, library.project.book / "rules" / f"v{round_}.yml")
        return n.span(fact(library, name), "ev-value")


class TechniqueRole(DataRole):
    """`{technique}`id``: its name, linked to its entry, with the badge of its status."""

    def show(self, library: Library, name: str) -> n.Cell:
        technique = known(library.techniques, name, "technique")
        self.note(library, "technique", name)
        return [w.technique_link(technique), "\u00a0", w.status_badge(technique, library.current_round)]


class RuleRole(DataRole):
    """`{rule}`id``: its section and id, linked to its page."""

    def show(self, library: Library, name: str) -> n.Cell:
        merged = {key: rule for round_ in reversed(library.rounds) for key, rule in library.rules[round_].items()}
        rule = known(merged, name, "rule")
        self.note(library, "rule", name)
        number = re.match(r"[0-9]+(?:\.[0-9]+)*", rule.section)
        shown = f"§ {number.group()} {name}" if number else name
        return n.page(w.rule_doc(name), n.span(shown, "ev-rule"))


ROLES = {
    "claim": ClaimRole,
    "measured": MeasuredRole,
    "fact": FactRole,
    "technique": TechniqueRole,
    "rule": RuleRole,
}
