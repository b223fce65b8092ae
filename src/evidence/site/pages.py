"""Pages written from the data at every build: indexes, and one page a source, rule, benchmark and lever.

A page's text carries a digest of what its directives show, so the file changes exactly when the page does, and Sphinx
reads no other page again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from evidence.library.project import Project, write_aside
from evidence.library.rows import Kind
from evidence.site import where as w
from evidence.site.content import CONTENT, Request
from evidence.site.words import LEVERS, benchmark_name, markdown, plural

if TYPE_CHECKING:
    from evidence.library.load import Library


@dataclass(frozen=True)
class Page:
    """A page by its name below `book/_generated`, without suffix."""

    name: str
    text: str


def pages(library: Library) -> Iterator[Page]:
    """Every generated page."""
    yield from index_pages(library)
    yield from source_pages(library)
    for rule in dict.fromkeys(rule for round_ in library.rounds for rule in library.rules[round_]):
        text = up("rules", "All rules") + block(library, "entry", f"rule {rule}")
        yield Page(f"rules/{rule}", leaf(rule_title(library, rule)) + text)
    plays = w.play_docs(library)
    for name in dict.fromkeys(name for round_ in library.rounds for name in library.benchmarks[round_]):
        text = up("benchmarks", "All benchmarks") + how_to(name, plays.get(name, ""))
        text += block(library, "entry", f"benchmark {name}")
        yield Page(f"benchmarks/{name}", leaf(benchmark_name(name)) + text)
    yield from lever_pages(library)


def index_pages(library: Library) -> Iterator[Page]:
    legend = block(library, "entry", "legend status")
    yield Page(
        "compliance-map",
        head("May I do it?")
        + f"Every technique against every benchmark that can be entered in round {library.current_round}. A "
        "technique's name leads to the reasons, the conditions and the rules that decide.\n\n"
        + legend
        + block(library, "compliance-map", library.current_round)
        + "".join(
            f"\n## Round {round_}\n\n" + block(library, "compliance-map", round_)
            for round_ in library.rounds
            if round_ != library.current_round
        ),
    )
    yield Page(
        "evidence",
        head("All the evidence")
        + "Every claim of the book, with its source, how it was checked, what the rules say about it and what we "
        "measured. Click a column's head to sort, type to filter.\n\n"
        + block(library, "entry", "legend check")
        + block(library, "evidence-table", ""),
    )
    yield Page(
        "sources",
        head("Sources")
        + "Every work that a claim is drawn from, with what was read of it. A title leads to its claims.\n\n"
        + block(library, "entry", "sources"),
    )
    yield Page(
        "rules",
        head("The rules")
        + f"The rulebook of round {library.current_round} in our own words. A name leads to the rule's page, with its "
        "history, what the official checker makes of it and the techniques that it decides.\n\n"
        + block(library, "entry", f"rules {library.current_round}"),
    )
    yield Page("benchmarks", head("Benchmarks") + benchmark_list(library))
    yield Page(
        "effects",
        head("What we measured")
        + "Every effect that a notebook of this book has judged, as it came out on the machine named beside it.\n\n"
        + block(library, "entry", "legend verdict")
        + block(library, "verdicts", "")
        + "\n## What this machine could not show\n\n"
        + block(library, "entry", "waiting"),
    )
    yield Page("data", head("The data") + data_page())
    for earlier, later in zip(library.rounds, library.rounds[1:], strict=False):
        yield Page(
            f"changes-{later.replace('.', '-')}",
            head(f"From {earlier} to {later}") + block(library, "entry", f"changes {later}"),
        )


def data_page() -> str:
    """Every kind of row for download."""
    lines = [
        f"- {kind}: {{download}}`JSON <data/{kind}.json>`, {{download}}`CSV <data/{kind}.csv>`, "
        f"{{download}}`JSON Schema <data/{kind}.schema.json>`"
        for kind in get_args(Kind)
    ]
    said = "Everything in the tables of this book, as files; `evidence show` gives the same rows, filtered.\n\n"
    return said + "\n".join(lines) + "\n"


def source_pages(library: Library) -> Iterator[Page]:
    for key, source in library.sources.items():
        bibliography = f'```{{bibliography}}\n:filter: key == "{key.lower()}"\n:style: evidence\n```\n\n'
        text = up("sources", "All sources") + bibliography + block(library, "entry", f"source {key}")
        yield Page(f"sources/{key}", leaf(source.title) + text)


def rule_title(library: Library, rule: str) -> str:
    """`Packing`, from the id: sections of the rulebook hold several rules."""
    return rule.replace("-", " ").capitalize()


def how_to(benchmark: str, play: str) -> str:
    """The way from a benchmark's data to its play; nothing where it has none."""
    return f"What to do with it: [the play of {markdown(benchmark_name(benchmark))}](/{play}.md).\n\n" if play else ""


def benchmark_list(library: Library) -> str:
    """The benchmarks of the current round and the retired ones that the evidence speaks about, each with its target."""
    lines = []
    for each in library.benchmarks[library.current_round].values():
        left = "" if each.status in ("current", "new") else f" ({each.status}, last in {each.last_round})"
        what = markdown(each.model + left)
        lines.append(f"- [{markdown(benchmark_name(each))}](/{w.benchmark_doc(each.id)}.md): {what}")
    later = [
        f"- [{markdown(benchmark_name(each))}](/{w.benchmark_doc(each.id)}.md): {markdown(each.model)}, from {round_}"
        for round_ in library.rounds
        for each in library.benchmarks[round_].values()
        if each.id not in library.benchmarks[library.current_round]
    ]
    return "\n".join(lines + later) + "\n"


def lever_pages(library: Library) -> Iterator[Page]:
    """Per lever the entries of its techniques; and its evidence, as long as no chapter is written."""
    for lever, title in LEVERS.items():
        techniques = [each for each in library.techniques.values() if library.lever_of[each.id] == lever]
        claims = [each for each in library.claims.values() if library.lever_of[each.id] == lever]
        chapter = w.chapter(library, lever)
        if techniques:
            text = (
                f"{plural(len(techniques), 'technique')} of the lever [{title}](/{chapter}.md), with status, reasons "
            )
            text += "and the rules that decide.\n\n" if claims else "and rules.\n\n"
            text = text if claims else ""
            back = up("compliance-map", "Compliance map")
            body = block(library, "entry", f"techniques {lever}")
            yield Page(f"techniques/{lever}", leaf(f"{title}: techniques") + back + text + body)
        if claims and chapter == f"book/_generated/levers/{lever}":
            yield Page(f"levers/{lever}", lever_page(library, lever, has_techniques=bool(techniques)))


def lever_page(library: Library, lever: str, *, has_techniques: bool) -> str:
    docname = w.chapter(library, lever)
    text = head(LEVERS[lever])
    text += "What sources claim, what the rules make of it, and what we measured.\n"
    text += "\n## What is claimed\n\n" + block(library, "evidence-table", lever, docname=docname)
    if has_techniques:
        link = f"Reasons, conditions and rules: [every technique](/{w.techniques_doc(lever)}.md).\n\n"
        text += "\n## What may be done\n\n" + link + block(library, "compliance-map", "", lever=lever)
    return text + block(library, "claims-footer", lever)


def head(title: str) -> str:
    """A page in the contents."""
    return f"# {markdown(title)}\n\n"


def leaf(title: str) -> str:
    """A page that is reached from its index only: hundreds of them in the contents would hide the chapters."""
    return f"---\norphan: true\n---\n\n# {markdown(title)}\n\n"


def up(index: str, title: str) -> str:
    """The way back from a leaf."""
    return f"```{{div}} ev-up\n[{markdown(title)}](/book/_generated/{index}.md)\n```\n\n"


def block(library: Library, directive: str, argument: str, *, lever: str = "", docname: str = "") -> str:
    """A directive with the digest of what it will show."""
    made = CONTENT[directive](library, Request(argument, lever, docname))
    digest = hashlib.sha256("".join(node.pformat() for node in made).encode()).hexdigest()[:16]
    options = (f":lever: {lever}\n" if lever else "") + f":digest: {digest}\n"
    return f"```{{{directive}}} {argument}".rstrip() + f"\n{options}```\n\n"


def write_pages(library: Library) -> tuple[list[Path], list[Path]]:
    """Write the pages whose text changed and delete those that are no more.

    Returns: (written, deleted).
    """
    project: Project = library.project
    wanted = {project.generated / f"{page.name}.md": page.text for page in pages(library)}
    written = []
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            with write_aside(path) as aside:
                aside.write_text(text, encoding="utf-8")
            written.append(path)
    stale = [path for path in project.generated.rglob("*.md") if path not in wanted]
    for path in stale:
        path.unlink()
    return written, stale
