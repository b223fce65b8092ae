"""All checks in one go, offline."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from evidence.checks import (
    bibliography,
    chapters,
    citations,
    claims,
    datafiles,
    effects,
    notebooks,
    prose,
    roles,
    techniques,
)
from evidence.checks.finding import Finding
from evidence.checks.subject import Subject, read_subject
from evidence.library.load import Library

FAMILIES: tuple[Callable[[Subject], Iterator[Finding]], ...] = (
    bibliography.check,
    citations.check,
    claims.check,
    techniques.check,
    datafiles.check,
    effects.check,
    notebooks.check,
    chapters.check,
    roles.check,
    prose.check,
)


@dataclass(frozen=True)
class Report:
    """Every finding by place, and how much was checked: an empty list must be told from an empty book."""

    findings: list[Finding]
    checked: dict[str, int]

    @property
    def errors(self) -> list[Finding]:
        return [each for each in self.findings if each.level == "error"]


def report(library: Library) -> Report:
    """Run every check.

    Raises:
        InputError: a page or notebook that cannot be read at all.
    """
    subject = read_subject(library)
    findings = sorted((each for family in FAMILIES for each in family(subject)), key=_by_place)
    return Report(findings, counts(subject))


def run_checks(library: Library) -> list[Finding]:
    """Every finding of every check, by place; `report` also says how much was checked."""
    return report(library).findings


def counts(subject: Subject) -> dict[str, int]:
    library, pages = subject.library, subject.pages
    return {
        "sources": len(library.sources),
        "claims": len(library.claims),
        "techniques": len(library.techniques),
        "rules": sum(len(rules) for rules in library.rules.values()),
        "benchmarks": sum(len(benchmarks) for benchmarks in library.benchmarks.values()),
        "effects": len(subject.effects),
        "records": len(library.records),
        "notebooks": len(subject.notebooks),
        "pages": len(pages),
        "citations": sum(len(list(page.citations())) for page in pages),
        "roles": sum(len(page.roles) for page in pages),
    }


def _by_place(finding: Finding) -> tuple[str, int, str, str]:
    """Files by name, lines and cells as numbers."""
    name, _, spot = finding.place.partition(":")
    number = re.search(r"\d+", spot)
    return name, int(number.group()) if number else 0, finding.id, finding.message
