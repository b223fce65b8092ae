"""Counts and meanings: the book at a glance, how a chapter's claims fared, what each badge means."""

from __future__ import annotations

import calendar
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from docutils import nodes

from evidence.library.models import Claim
from evidence.site import nodes as n
from evidence.site.words import CHECK, VERDICT, plural

if TYPE_CHECKING:
    from evidence.library.load import Library


def check_counts(claims: Sequence[Claim]) -> str:
    """`20 confirmed, 4 differ, 2 not found`."""
    found = Counter[str](claim.check for claim in claims)
    words = {"confirmed": "confirmed", "differs": "differ" if found["differs"] != 1 else "differs"}
    shown = [f"{found[check]} {words.get(check, CHECK[check])}" for check in CHECK if found[check]]
    return ", ".join(shown) or "none"


def at_a_glance(library: Library) -> list[nodes.Node]:
    """The book in numbers, counted from the data."""
    round_ = library.current_round
    checks = Counter[str](claim.check for claim in library.claims.values())
    verdicts = Counter[str](record.verdict for record in library.records.values())
    judged = sum(count for verdict, count in verdicts.items() if verdict != "not-measured")
    cards = [
        (len(library.claims), "claims", f"{checks['confirmed']} confirmed against the source, "
         f"{checks['differs']} differ, {checks['not-found']} not found", "book/_generated/evidence"),
        (len(library.sources), "sources", "each with what was read of it", "book/_generated/sources"),
        (len(library.techniques), "techniques", "each with its status and the rule that decides it",
         "book/_generated/compliance-map"),
        (len(library.rules[round_]), "rules", f"of round {round_}, in our own words", "book/_generated/rules"),
        (judged, "effects measured", ", ".join(f"{verdicts[v]} {VERDICT[v]}" for v in VERDICT if verdicts[v]) or "–",
         "book/_generated/effects"),
    ]  # fmt: skip
    made = [
        nodes.list_item("", n.paragraph(n.span(str(number), "ev-number")), n.paragraph(n.page(doc, name)),
                        n.paragraph(remark, classes=["ev-small"]))
        for number, name, remark, doc in cards
    ]  # fmt: skip
    return [nodes.bullet_list("", *made, classes=["ev-glance"])]


def claims_footer(library: Library, claims: Sequence[Claim]) -> list[nodes.Node]:
    """How many of a chapter's claims were confirmed, differ or were not found in their source, and when."""
    dates = sorted(
        date
        for key in {claim.source for claim in claims}
        if key in library.sources
        for date in checked_on(library.sources[key].checked)
    )
    when = f" Sources last compared: {dates[-1]}." if dates else ""
    sources = plural(len({claim.source for claim in claims}), "source")
    return [
        n.paragraph(
            f"{plural(len(claims), 'claim')} from {sources} stand behind this chapter: {check_counts(claims)}.{when}",
            classes=["ev-footer"],
        )
    ]


def checked_on(checked: str) -> list[str]:
    """The date that ends a `checked` field, as `2026-11` or longer; dates within it say other things."""
    if found := re.search(r"(\d{4}-\d{2}(?:-\d{2})?)\W*$", checked):
        return [found[1]]
    if found := re.search(r"([A-Z][a-z]+) (\d{4})\W*$", checked):
        month = list(calendar.month_name).index(found[1]) if found[1] in calendar.month_name else 0
        return [f"{found[2]}-{month:02d}"] if month else []
    return []


MEANING = {
    "status": {
        "allowed": "wherever it can apply",
        "conditional": "on some benchmarks, or if something stated is checked",
        "needs-approval": "ask the working group before the deadline",
        "not-allowed": "it makes a closed entry invalid",
        "untested": "the text does not settle it and nobody has asked in public",
        "n/a": "the benchmark has nothing to apply it to",
        "unknown": "the round's rules text was not available",
    },
    "check": {
        "confirmed": "the source says so",
        "differs": "the source says something else; its own value is what we show",
        "not-found": "the source could be read only in part, or does not say it",
    },
    "verdict": {
        "holds": "the whole interval lies where it was promised to",
        "weaker": "an effect, but the whole interval falls short of the bound",
        "contradicted": "the whole interval lies on the wrong side",
        "inconclusive": "the interval straddles a limit, or the control did not break",
        "not-measured": "this machine cannot show it; the reason stands beside it",
    },
}
"""What each badge means."""


def legend(words: str) -> list[nodes.Node]:
    """The meaning of every `status`, `check` or `verdict`."""
    return [n.bullets([[n.badge(word), " ", meaning] for word, meaning in MEANING[words].items()], "ev-legend")]
