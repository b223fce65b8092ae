"""What does not stand of the review that the book started from, and what builds on the benchmark paper."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from docutils import nodes

from evidence.library.models import Claim
from evidence.library.pagedata import Correction, read_built_on, read_corrections
from evidence.site import nodes as n
from evidence.site import where as w
from evidence.site.words import LEVERS, plural, value_text

if TYPE_CHECKING:
    from evidence.library.load import Library

VERDICTS = {"wrong": "wrong", "partly": "partly right", "outdated": "outdated"}


def corrections(library: Library, kind: str) -> list[nodes.Node]:
    """`rules`: statements about the rules; `claims`: statements about sources.

    Raises:
        KeyError: another kind.
    """
    return {"rules": rule_corrections, "claims": claim_corrections}[kind](library)


def rule_corrections(library: Library) -> list[nodes.Node]:
    """A sentence with the counts, and a table: what the review says, what is right, what decides, what follows."""
    data = read_corrections(library.project)
    counts = Counter[str](each.verdict for each in data.corrections)
    told = ", ".join(f"{counts[verdict]} {shown}" for verdict, shown in VERDICTS.items())
    summary = (
        f"{plural(data.checked, 'statement')} about the rules were compared: {data.right} right, {told}. Against: "
    )
    against = n.joined([n.page(w.source_doc(key), library.sources[key].title) for key in data.against])
    columns: list[n.Head] = ["The review says", n.facet("Verdict"), "Right is", "Decided by", "For a submitter"]
    rows = [n.Row(_rule_row(each), anchor=f"correction-{each.id}") for each in data.corrections]
    caption = f"{plural(len(rows), 'statement')} about the rules that do not stand as they are"
    return [n.paragraph(summary, against, "."), n.table(caption, columns, rows, "ev-sortable", "ev-corrections")]


def _rule_row(each: Correction) -> list[n.Cell]:
    rules = n.joined([w.rule_link(rule) for rule in each.rules])
    decided: list[nodes.Node] = [n.paragraph(each.section)]
    if rules:
        decided.append(n.paragraph(rules, classes=["ev-small"]))
    verdict = n.badge(each.verdict, VERDICTS[each.verdict])
    return [each.says, verdict, each.right, decided, each.follows]


def claim_corrections(library: Library) -> list[nodes.Node]:
    """A table of every claim in which the review differs from the source."""
    differing = [claim for claim in library.claims.values() if claim.check == "differs"]
    columns: list[n.Head] = ["The review says", "The source says", "Value", "Why", n.facet("Lever")]
    rows = [n.Row(_claim_row(library, claim)) for claim in differing]
    return [n.table(f"{plural(len(rows), 'claim')} that differ from their source", columns, rows, "ev-sortable")]


def _claim_row(library: Library, claim: Claim) -> list[n.Cell]:
    source: list[n.Inline] = [n.link(f"claim-{claim.id}", claim.says), " ", n.cite(claim.source)]
    lever = n.span(LEVERS[library.lever_of[claim.id]], "ev-word")
    return [claim.review_says or "–", source, value_text(claim), claim.note or "–", lever]


def built_on(library: Library, key: str) -> list[nodes.Node]:
    """The works that build on a source, where a list of them is part of the data; nothing otherwise."""
    if not (library.project.book / "rules" / "built-on.yml").exists():
        return []
    data = read_built_on(library.project)
    if data.source != key:
        return []
    columns: list[n.Head] = ["Work", "Year"]
    rows = [
        n.Row(
            [
                n.page(w.source_doc(work.key), work.title) if work.key else n.outside(work.url, work.title),
                str(work.year),
            ]
        )
        for work in data.works
    ]
    caption = f"Built on by: the {len(rows)} most cited of {data.cited_by} works that cite it"
    listed = n.paragraph(
        "As listed by ", n.outside(data.listed_by, data.listed_by), f" with data to {data.data_through}."
    )
    return [n.table(caption, columns, rows, "ev-sortable"), listed]
