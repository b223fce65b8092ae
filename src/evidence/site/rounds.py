"""What changed from one round to the next, as docutils nodes. Pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

from evidence.library.models import Benchmark, Rule, Technique
from evidence.site import nodes as n
from evidence.site import where as w
from evidence.site.words import LEVERS, benchmark_name

if TYPE_CHECKING:
    from evidence.library.load import Library


def changes(library: Library, later: str) -> list[nodes.Node]:
    """What differs in round `later` from the round before it: in short, benchmarks, rules, and techniques.

    Raises:
        KeyError: no such round, or none before it.
    """
    index = library.rounds.index(later) if later in library.rounds else 0
    if index == 0:
        raise KeyError(later)
    earlier = library.rounds[index - 1]
    made: list[nodes.Node] = [n.bullets(library.rulefiles[later].changes)]
    made.append(benchmarks_table(library, earlier, later))
    made.append(rules_table(library, earlier, later))
    flipped = [each for each in library.techniques.values() if status_changed(each, earlier, later)]
    if flipped:
        made.append(techniques_table(flipped, library, earlier, later))
    return made


def benchmarks_table(library: Library, earlier: str, later: str) -> nodes.table:
    """Every benchmark that could be entered in one of the two rounds."""
    before, after = library.benchmarks[earlier], library.benchmarks[later]
    rows = [
        n.Row([n.page(w.benchmark_doc(name), benchmark_name(name)), entered(before, name), entered(after, name)])
        for name in {**before, **after}
        if "yes" in (entered(before, name), entered(after, name))
    ]
    return n.table("Which benchmarks can be entered", ["Benchmark", earlier, later], rows)


def entered(benchmarks: object, name: str) -> str:
    found: Benchmark | None = benchmarks.get(name)  # type: ignore[attr-defined]
    return "yes" if found is not None and found.status in ("current", "new") else "no"


def rules_table(library: Library, earlier: str, later: str) -> nodes.table:
    """The rules that read differently, ended or are new."""
    before, after = library.rules[earlier], library.rules[later]
    rows = []
    for name in {**before, **after}:
        old, new = before.get(name), after.get(name)
        if old != new:
            rows.append(n.Row([w.rule_link(name), summary(old, "–"), summary(new, "ended")]))
    columns: list[n.Head] = ["Rule", earlier, later]
    return n.table("Rules that changed", columns, rows, "ev-sortable")


def summary(rule: Rule | None, absent: str) -> str:
    return rule.summary if rule else absent


def status_changed(technique: Technique, earlier: str, later: str) -> bool:
    """Whether the answer differs, in general or on a benchmark; `unknown` is no answer."""
    old, new = technique.compliance.get(earlier), technique.compliance.get(later)
    if old is None or new is None or new.status == "unknown":
        return False
    differs = {name: here.status for name, here in old.benchmarks.items()}
    return old.status != new.status or any(
        differs.get(name, old.status) != here.status for name, here in new.benchmarks.items()
    )


def techniques_table(
    techniques: list[Technique], library: Library, earlier: str, later: str
) -> nodes.table:  # fmt: skip
    columns: list[n.Head] = [
        "Technique",
        n.facet("Lever"),
        n.facet(earlier),
        n.facet(later),
    ]
    columns += ["Why"]
    rows = [
        n.Row([
            w.technique_link(each), n.span(LEVERS[library.lever_of[each.id]], "ev-word"),
            w.status_badge(each, earlier), w.status_badge(each, later), each.compliance[later].why,
        ])
        for each in techniques
    ]  # fmt: skip
    return n.table("Techniques whose answer changed", columns, rows, "ev-sortable")
