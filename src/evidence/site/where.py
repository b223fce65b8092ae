"""Where things stand in the site: page names, links to them, and the badge beside a link."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docutils import nodes

from evidence.library.models import Technique
from evidence.site import nodes as n

if TYPE_CHECKING:
    from evidence.library.load import Library


def technique_link(technique: Technique) -> nodes.Node:
    return n.link(f"technique-{technique.id}", technique.title)


def status_badge(technique: Technique, round_: str) -> nodes.Node:
    """The technique's status in general, in a round."""
    compliance = technique.compliance.get(round_)
    return n.badge(compliance.status if compliance else "unknown")


def rule_link(rule: str) -> nodes.Node:
    return n.page(rule_doc(rule), nodes.literal("", rule))


def rule_doc(rule: str) -> str:
    return f"book/_generated/rules/{rule}"


def source_doc(key: str) -> str:
    return f"book/_generated/sources/{key}"


def benchmark_doc(benchmark: str) -> str:
    return f"book/_generated/benchmarks/{benchmark}"


def techniques_doc(lever: str) -> str:
    return f"book/_generated/techniques/{lever}"


def play_docs(library: Library) -> dict[str, str]:
    """By benchmark, the play that shows what is fixed on it."""
    found: dict[str, str] = {}
    for path in sorted((library.project.book / "plays").glob("*.md")):
        for name in re.findall(r"^`{3,}\{play\} fixed (\S+)$", path.read_text(encoding="utf-8"), re.M):
            found.setdefault(name, f"book/plays/{path.stem}")
    return found


def chapter(library: Library, lever: str) -> str:
    """The page of a lever: the chapter written by hand, or else the page generated from its data."""
    for folder in ("levers", "plays"):
        if (library.project.book / folder / f"{lever}.md").exists():
            return f"book/{folder}/{lever}"
    return f"book/_generated/levers/{lever}"
