"""What each directive shows, as a pure function of the library; `pages` hashes the same nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from docutils import nodes

from evidence.library.facts import known
from evidence.library.models import Claim
from evidence.site import benchmarks as b
from evidence.site import corrections as c
from evidence.site import elsewhere, entries, rounds
from evidence.site import indexes as i
from evidence.site import nodes as n
from evidence.site import play as p
from evidence.site import summaries as s
from evidence.site import tables as t
from evidence.site import where as w
from evidence.site.memory import memory_notes, memory_table
from evidence.site.words import LEVERS, plural

if TYPE_CHECKING:
    from evidence.library.load import Library


@dataclass(frozen=True)
class Request:
    """What stands in the page: the directive's argument and options, and the page's name."""

    argument: str = ""
    lever: str = ""
    docname: str = ""
    techniques: str = ""


def claims_of(library: Library, lever: str) -> list[Claim]:
    """The claims of a lever in the order of its file; all of them for an empty name."""
    if lever:
        known(LEVERS, lever, "lever")
    return [each for each in library.claims.values() if not lever or library.lever_of[each.id] == lever]


def evidence_table(library: Library, request: Request) -> list[nodes.Node]:
    """`{evidence-table} precision`: the claims of a lever; without an argument those of all levers."""
    lever = request.argument
    claims = claims_of(library, lever)
    if not claims:
        raise LookupError(f"no claims of lever {lever!r}")
    title = f" about {LEVERS[lever].lower()}" if lever else " of the book"
    # Rows are labels once in the book: in the lever's own chapter.
    home = bool(lever) and request.docname == w.chapter(library, lever)
    caption = f"{plural(len(claims), 'claim')}{title}: {s.check_counts(claims)}"
    return [t.evidence_table(library, claims, caption, anchors=home, levers=not lever)]


def verdicts(library: Library, request: Request) -> list[nodes.Node]:
    """`{verdicts} precision`: the effects of a notebook as judged; without an argument those of all notebooks."""
    notebook = request.argument
    if notebook:
        known(dict.fromkeys(library.project.notebook_names()), notebook, "notebook")
    records = [each for each in library.records.values() if not notebook or each.notebook == notebook]
    if not records:
        return [n.paragraph("No complete run lies beside this copy of the book.")]
    return [t.verdict_table(library, records, f"{plural(len(records), 'effect')}, judged by rules fixed in advance")]


def compliance_map(library: Library, request: Request) -> list[nodes.Node]:
    """`{compliance-map} 6.0` with `:lever:`: technique × benchmark in a round."""
    round_ = request.argument or library.current_round
    known(library.rulefiles, round_, "round")
    if request.lever:
        known(LEVERS, request.lever, "lever")
    wanted = [each for each in library.techniques.values() if request.lever in ("", library.lever_of[each.id])]
    if not wanted:
        raise LookupError(f"no techniques of lever {request.lever!r}")
    caption = f"{plural(len(wanted), 'technique')} by benchmark in round {round_}"
    return [i.compliance_map(library, round_, wanted, caption, levers=not request.lever)]


def claims_footer(library: Library, request: Request) -> list[nodes.Node]:
    """`{claims-footer} precision`: how the claims of a chapter fared against their sources, and when."""
    return s.claims_footer(library, claims_of(library, request.argument))


def techniques(library: Library, lever: str) -> list[nodes.Node]:
    chosen = [each for each in library.techniques.values() if library.lever_of[each.id] == lever]
    return [entries.technique_section(library, each) for each in chosen]


ENTRIES: Mapping[str, Callable[[Library, str], list[nodes.Node]]] = {
    "rule": entries.rule_body,
    "source": entries.source_body,
    "benchmark": b.benchmark_body,
    "techniques": techniques,
    "glance": lambda library, _: s.at_a_glance(library),
    "legend": lambda _, words: s.legend(words),
    "sources": lambda library, _: [i.sources_table(library, plural(len(library.sources), "source"))],
    "rules": lambda library, round_: [i.rules_table(library, round_, f"The rules of round {round_}")],
    "waiting": lambda library, _: elsewhere.waiting(library),
    "changes": rounds.changes,
    "corrections": c.corrections,
}
"""What `{entry}` can show, each by the name of one thing."""


def entry(library: Library, request: Request) -> list[nodes.Node]:
    """`{entry} rule packing`: what there is to say about one thing."""
    kind, _, name = request.argument.partition(" ")
    make = known(ENTRIES, kind, "kind of entry")
    try:
        found: list[nodes.Node] = make(library, name.strip())
    except KeyError as error:
        raise LookupError(f"no {kind} {name!r} ({error})") from error
    return found


def memory_budget(library: Library, request: Request) -> list[nodes.Node]:
    """`{memory-budget}`: what one replica of each model needs, and how many accelerators that forces."""
    return [memory_table(library), memory_notes(library)]


def play(library: Library, request: Request) -> list[nodes.Node]:
    """`{play} free llama31_8b`: a part of what the data knows of a benchmark; `levers` takes `:techniques:`."""
    part, _, name = request.argument.partition(" ")
    return p.play(library, part, name.strip(), request.techniques.replace(",", " ").split())


CONTENT: Mapping[str, Callable[[Library, Request], list[nodes.Node]]] = {
    "evidence-table": evidence_table,
    "verdicts": verdicts,
    "compliance-map": compliance_map,
    "claims-footer": claims_footer,
    "entry": entry,
    "memory-budget": memory_budget,
    "play": play,
}
"""The directives by name."""
