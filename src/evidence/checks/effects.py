"""Effects can fail: each has a control that did, and a verdict that the book stands on."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.checks.finding import Finding, finding
from evidence.checks.subject import Subject
from evidence.library.errors import nearest
from evidence.library.models import BROKEN, Record


def check(subject: Subject) -> Iterator[Finding]:
    library = subject.library
    expected = library.project.relative(library.project.expected)
    for effect in subject.effects.values():
        if effect.id.split("/")[0] != effect.notebook:
            mend = f"call it {effect.notebook}/{effect.id.split('/')[-1]}"
            yield finding("effect-home", effect.place, f"{effect.id} is declared in notebook {effect.notebook}", mend)
        if effect.fault == "":
            mend = "say in fault=… what the control breaks"
            yield finding("effect-control", effect.place, f"{effect.id} declares no fault for its control", mend)
        if effect.id not in library.expected:
            mend = f"add its verdict to {expected}, with a reason if it is not `holds`"
            yield finding("effect-expected", effect.place, f"{effect.id} has no expected verdict", mend)
    for name in library.expected:
        if name not in subject.effects:
            mend = f"{nearest(name, list(subject.effects))} Or remove the entry"
            yield finding("expected-effect", library.place("expected", name), f"no notebook declares {name!r}", mend)
    yield from runs(subject)


def runs(subject: Subject) -> Iterator[Finding]:
    """What the last runs showed."""
    library = subject.library
    for record in library.records.values():
        message = control_fault(record)
        if message:
            mend = "break something that the measurement must notice, or measure so that it does"
            yield finding("effect-control", library.place("effect", record.id), f"{record.id}: {message}", mend)
    for effect, first, other in library.harvest.duplicates:
        yield finding("effect-twice", other, f"{effect} is shown twice; first in {first}", "give the second another id")
    for stem in library.harvest.incomplete:
        place = library.project.relative(library.project.executed_notebook(stem))
        yield finding("run-incomplete", place, "the run did not reach the last cell", f"run it: evidence run {stem}")


def control_fault(record: Record) -> str:
    """What is wrong with the control of a record; empty if it did its work, or if nothing was measured."""
    if record.verdict == "not-measured":
        return ""
    if record.control is None:
        return "measured without a control"
    if record.control.verdict not in BROKEN:
        return f"the control ({record.control.fault}) came out {record.control.verdict}"
    return ""
