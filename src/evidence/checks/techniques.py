"""Compliance rests on rules, benchmarks and rounds that exist; equivalence is tested, or it is said why not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evidence.checks.finding import Finding, finding
from evidence.checks.subject import Subject
from evidence.library.errors import nearest
from evidence.library.load import ENTERABLE, Library
from evidence.library.models import Compliance, Technique

EFFECT_ID = re.compile(r"[a-z0-9-]+/[a-z0-9.-]+")
STATED = re.compile(r"(?:counted|testable|not testable): \S.{9,}", re.S)
"""A reason of a word is none."""


def check(subject: Subject) -> Iterator[Finding]:
    library = subject.library
    for technique in library.techniques.values():
        yield from rounds(library, technique)
        for round, compliance in technique.compliance.items():
            if round in library.rounds:
                yield from of_round(library, technique, round, compliance)
        yield from equivalence(subject, technique)


def rounds(library: Library, technique: Technique) -> Iterator[Finding]:
    for round in technique.compliance:
        if round not in library.rounds:
            place = library.place("technique", technique.id, "compliance", round)
            message = f"{technique.id}: no rules of round {round!r}"
            yield finding("technique-round", place, message, nearest(round, library.rounds))
    for round in library.rounds:
        if round not in technique.compliance:
            place = library.place("technique", technique.id, "compliance")
            mend = "add it; `status: unknown` with a reason where the rules do not decide yet"
            yield finding("technique-round", place, f"{technique.id}: nothing is said about round {round}", mend)


def of_round(library: Library, technique: Technique, round: str, compliance: Compliance) -> Iterator[Finding]:
    here = ("compliance", round)
    yield from rules(library, technique.id, round, compliance.rules, (*here, "rules"))
    enterable = [name for name, each in library.benchmarks[round].items() if each.status in ENTERABLE]
    for name, at in compliance.benchmarks.items():
        path = (*here, "benchmarks", name)
        if name not in enterable:
            message = f"{technique.id}: benchmark {name!r} cannot be entered in round {round}"
            yield finding(
                "technique-benchmark",
                library.place("technique", technique.id, *path),
                message,
                nearest(name, enterable),
            )
        if at.status == "conditional" and not at.condition:
            message = f"{technique.id}: conditional on {name} without a condition"
            mend = "add `condition: …`: what must be checked or met"
            yield finding("technique-condition", library.place("technique", technique.id, *path), message, mend)
        yield from rules(library, technique.id, round, at.rules, path)


def rules(library: Library, technique: str, round: str, names: list[str], path: tuple[str, ...]) -> Iterator[Finding]:
    for name in names:
        if name not in library.rules[round]:
            place = library.place("technique", technique, *path)
            message = f"{technique}: round {round} has no rule {name!r}"
            yield finding("technique-rule", place, message, nearest(name, list(library.rules[round])))


def equivalence(subject: Subject, technique: Technique) -> Iterator[Finding]:
    text = technique.equivalence
    place = subject.library.place("technique", technique.id, "equivalence")
    if EFFECT_ID.fullmatch(text):
        if text not in subject.effects:
            mend = f"{nearest(text, list(subject.effects))} Or write `testable: …` with what a test would need"
            message = f"{technique.id}: no notebook declares {text!r}"
            yield finding("technique-equivalence", place, message, mend)
    elif not STATED.fullmatch(text):
        mend = "write an effect id, or `counted: …`, `testable: what a test would need`, `not testable: why`"
        yield finding("technique-equivalence", place, f"{technique.id}: {text!r} says too little", mend)
