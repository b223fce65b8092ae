"""The tables of the index pages: techniques by benchmark, sources, rules. Pure functions of the library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from docutils import nodes

from evidence.library.models import Source, Technique
from evidence.site import nodes as n
from evidence.site import where as w
from evidence.site.words import LEVERS, benchmark_name, plural

if TYPE_CHECKING:
    from evidence.library.load import Library


SHORT = {"needs-approval": "approval"}
"""Words that would make the columns of the map too wide."""


def compliance_map(
    library: Library, round_: str, techniques: Sequence[Technique], caption: str, *, levers: bool = True
) -> nodes.table:
    """Technique × benchmark: the status of each technique on each benchmark that can be entered in a round."""
    entered = [each for each in library.benchmarks[round_].values() if each.status in ("current", "new")]
    columns: list[n.Head] = [n.Column("Technique", "Lever" if levers else "")]
    columns += [n.facet("In general")] + [benchmark_name(each) for each in entered]
    rows = []
    for technique in techniques:
        name = [n.paragraph(w.technique_link(technique))]
        if levers:
            lever = n.span(LEVERS[library.lever_of[technique.id]], "ev-word")
            name.append(n.paragraph(lever, classes=["ev-small"]))
        cells: list[n.Cell] = [name]
        cells += [w.status_badge(technique, round_)]
        here = [library.status(technique.id, each.id, round_).status for each in entered]
        cells += [n.badge(status, SHORT.get(status, "")) for status in here]
        rows.append(n.Row(cells))
    return n.table(caption, columns, rows, "ev-sortable", "ev-map")


def sources_table(library: Library, caption: str) -> nodes.table:
    """Every source: what was read of it, how sure we are that it is the work meant, and how its claims fared."""
    drawn = Counter(claim.source for claim in library.claims.values())
    fared = Counter((claim.source, claim.check) for claim in library.claims.values())
    columns: list[n.Head] = ["Source", "Year", n.facet("Read"), n.facet("Confidence"), "Claims"]
    columns += ["Confirmed", "Differ", "Not found"]
    rows = []
    for source in sorted(library.sources.values(), key=lambda each: (each.title.lower(), each.key)):
        checks = [str(fared[source.key, check]) for check in ("confirmed", "differs", "not-found")]
        title = n.paragraph(n.page(w.source_doc(source.key), source.title))
        who = n.paragraph(authors_text(source), classes=["ev-small"])
        confidence = n.span(source.confidence, "ev-word")
        extent, _, which = source.read.partition(":")
        read: n.Cell = [n.span(extent or "not stated", "ev-word"), f":{which}" if which else ""]
        rows.append(n.Row([[title, who], str(source.year or "–"), read, confidence, str(drawn[source.key]), *checks]))
    return n.table(caption, columns, rows, "ev-sortable", "ev-sources")


def authors_text(source: Source) -> str:
    """`Li, Ye and 3 others`: at most three names."""
    names = source.authors
    return ", ".join(names) if len(names) <= 3 else f"{names[0]}, {names[1]} and {len(names) - 2} others"


def rules_table(library: Library, round_: str, caption: str) -> nodes.table:
    """Every rule of a round with the number of techniques that it decides."""
    decided = Counter(
        rule
        for technique in library.techniques.values()
        for rule in rules_of(technique, round_)
    )  # fmt: skip
    columns: list[n.Head] = ["Rule", "What it says", n.facet("Applies to"), "Decides"]
    rows = []
    for rule in library.rules[round_].values():
        name = [n.paragraph(w.rule_link(rule.id)), n.paragraph(rule.section, classes=["ev-small"])]
        scope = [n.paragraph(n.span(benchmark_name(each), "ev-word")) for each in rule.applies_to]
        count = plural(decided[rule.id], "technique") if decided[rule.id] else "–"
        rows.append(n.Row([name, rule.summary, scope, count]))
    return n.table(caption, columns, rows, "ev-sortable", "ev-rules")


def rules_of(technique: Technique, round_: str) -> set[str]:
    """The rules that decide a technique in a round, on any benchmark."""
    compliance = technique.compliance.get(round_)
    if compliance is None:
        return set()
    return set(compliance.rules).union(*[here.rules for here in compliance.benchmarks.values()])
