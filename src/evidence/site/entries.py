"""What a page says about one technique, rule, source, benchmark or round, as docutils nodes. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from docutils import nodes

from evidence.library.models import Claim, Here, Rule, Technique
from evidence.site import indexes as i
from evidence.site import nodes as n
from evidence.site import summaries as s
from evidence.site import tables as t
from evidence.site import where as w
from evidence.site.corrections import built_on
from evidence.site.words import LEVERS, benchmark_name, plural

if TYPE_CHECKING:
    from evidence.library.load import Library


def technique_section(library: Library, technique: Technique) -> nodes.section:
    """Status per round with its reasons, where benchmarks differ, and the evidence that it pays."""
    made: list[nodes.Node] = []
    if technique.also:
        made.append(n.paragraph("Also called ", ", ".join(technique.also), ".", classes=["ev-small"]))
    for round_ in library.rounds:
        made += status_lines(library, technique, round_)
    if technique.remark:
        made.append(n.paragraph(technique.remark))
    made.append(n.paragraph(n.span("Same computation? ", "ev-label"), *equivalence(library, technique)))
    if technique.review_says and technique.review_agrees in ("partly", "no"):
        verdict = {"partly": "which is partly right", "no": "which is wrong"}[technique.review_agrees]
        says = technique.review_says.rstrip(".")
        made.append(n.paragraph(n.span("The review says: ", "ev-label"), f"{says}; {verdict}."))
    claims = [claim for claim in library.claims.values() if technique.id in claim.techniques]
    if claims:
        made.append(n.paragraph(n.span("Evidence", "ev-label")))
        made.append(n.bullets([claim_line(claim) for claim in claims]))
    return n.section(technique.title, f"technique-{technique.id}", *made)


def status_lines(library: Library, technique: Technique, round_: str) -> list[nodes.Node]:
    """One paragraph for the round, and one line for every benchmark whose answer differs."""
    compliance = technique.compliance.get(round_)
    if compliance is None:
        return []
    line: list[n.Inline] = [n.span(f"{round_} ", "ev-label"), n.badge(compliance.status), " ", compliance.why]
    if compliance.condition:
        line += [" ", n.span("Condition: ", "ev-label"), compliance.condition]
    if compliance.rules:
        line += [" ", n.span("Decided by ", "ev-label"), *n.joined([w.rule_link(rule) for rule in compliance.rules])]
    made: list[nodes.Node] = [n.paragraph(*line)]
    if compliance.benchmarks:
        made.append(n.bullets([here_line(name, here) for name, here in compliance.benchmarks.items()], "ev-here"))
    return made


def here_line(benchmark: str, here: Here) -> list[n.Inline]:
    line: list[n.Inline] = [n.page(w.benchmark_doc(benchmark), benchmark_name(benchmark)), " ", n.badge(here.status)]
    line += [" ", here.why]
    if here.condition:
        line += [" ", n.span("Condition: ", "ev-label"), here.condition]
    if here.rules:
        line += [" ", *n.joined([w.rule_link(rule) for rule in here.rules])]
    return line


def equivalence(library: Library, technique: Technique) -> list[n.Inline]:
    """The effect that tests it, with its verdict, or in words why none can."""
    if re.fullmatch(r"[a-z0-9-]+/[a-z0-9.-]+", technique.equivalence):
        return [*t.measured_inline(library, technique.equivalence), " ", nodes.literal("", technique.equivalence)]
    return [technique.equivalence]


def claim_line(claim: Claim) -> list[n.Inline]:
    return [n.link(f"claim-{claim.id}", claim.says), " ", n.cite(claim.source), " ", n.badge(claim.check)]


def rule_body(library: Library, rule: str) -> list[nodes.Node]:
    """The rule in every round, in full where it changed, and the techniques that it decides."""
    made: list[nodes.Node] = []
    before: Rule | None = None
    for round_ in library.rounds:
        here = library.rules[round_].get(rule)
        if here is None:
            ended = "no longer part of" if before else "not part of"
            made.append(n.paragraph(n.span(f"{round_} ", "ev-label"), f"{ended} the rules."))
        elif before is None or here.summary != before.summary or here.verifier != before.verifier:
            made += rule_text(library, here, round_)
        else:
            made.append(n.paragraph(n.span(f"{round_} ", "ev-label"), "as before."))
        before = here or before
    decided = [each for each in library.techniques.values() if any(rule in i.rules_of(each, r) for r in library.rounds)]
    if decided:
        made.append(decided_table(library, decided))
    return made


def rule_text(library: Library, rule: Rule, round_: str) -> list[nodes.Node]:
    scope = ["every benchmark" if each == "all" else benchmark_name(each) for each in rule.applies_to]
    facts = [
        ("Section", f"{rule.section} ({rule.document.replace('_', ' ')})"),
        ("Applies to", ", ".join(scope)),
        ("The checker", rule.verifier),
        ("Changed in", ", ".join(rule.changed_in)),
        ("History", rule.history),
    ]
    return [n.paragraph(n.span(f"{round_} ", "ev-label"), rule.summary), n.facts(facts)]


def decided_table(library: Library, techniques: Sequence[Technique]) -> nodes.table:
    """The techniques that a rule decides, with their status in every round."""
    columns: list[n.Head] = ["Technique", n.facet("Lever")]
    columns += [n.facet(round_) for round_ in library.rounds] + ["Why"]
    rows = []
    for each in techniques:
        lever = library.lever_of[each.id]
        status = [w.status_badge(each, round_) for round_ in library.rounds]
        current = each.compliance.get(library.current_round)
        why = current.why if current else "–"
        rows.append(n.Row([w.technique_link(each), n.span(LEVERS[lever], "ev-word"), *status, why]))
    return n.table("Techniques that this rule decides", columns, rows, "ev-sortable")


def source_body(library: Library, key: str) -> list[nodes.Node]:
    """How the source was read, and every claim drawn from it with what the check found in full."""
    source = library.sources[key]
    facts: list[tuple[str, n.Cell]] = [
        ("Read", source.read or "not stated"),
        ("Checked", source.checked),
        ("Identified", f"with {source.confidence} confidence"),
        ("Note", source.note),
    ]
    made: list[nodes.Node] = []
    if source.confidence == "low":
        warning = "The reference that this entry stands for was identified with low confidence: treat it as a guess."
        made.append(nodes.warning("", n.paragraph(warning)))
    made.append(n.facts(facts))
    claims = [claim for claim in library.claims.values() if claim.source == key]
    if claims:
        caption = f"{plural(len(claims), 'claim')} drawn from this source: {s.check_counts(claims)}"
        made.append(t.evidence_table(library, claims, caption, levers=True))
    else:
        made.append(n.paragraph("No claim of the evidence tables is drawn from this source."))
    return made + built_on(library, key)
