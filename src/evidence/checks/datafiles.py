"""Data files of single pages, and the origin of a round, name sources, rules, claims and techniques that exist."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from evidence.checks.finding import Finding, finding
from evidence.checks.subject import Subject
from evidence.library.errors import nearest
from evidence.library.load import Library
from evidence.library.models import Model
from evidence.library.pagedata import BuiltOn, Corrections, LeftOut
from evidence.library.validate import validate
from evidence.library.yamlsource import Loc, YamlFile, read_yaml

MODELS: Mapping[str, type[Model]] = {"corrections": Corrections, "left-out": LeftOut, "built-on": BuiltOn}
ROUND: Mapping[str, str] = {"origin/*key": "source"}
NAMES: Mapping[str, Mapping[str, str]] = {
    "corrections": {
        "against/*": "source",
        "corrections/*/sources/*": "source",
        "corrections/*/rules/*": "rule",
        "corrections/*/claims/*": "claim",
    },
    "left-out": {"claims/*/into": "claim", "techniques/*/into": "technique"},
    "built-on": {"source": "source", "works/*/key": "source"},
}
"""Where in each file a name stands, and of what."""


def check(subject: Subject) -> Iterator[Finding]:
    """A file that is not there is not needed: the page that shows it says so.

    Raises:
        InputError: a file that does not fit its model.
    """
    library = subject.library
    folder = library.project.book / "rules"
    for stem, model in MODELS.items():
        path = folder / f"{stem}.yml"
        if path.exists():
            source = read_yaml(path, library.project.relative(path))
            validate(model, source)
            yield from of_file(library, source, NAMES[stem])
    for round in library.rounds:
        path = folder / f"v{round}.yml"
        yield from of_file(library, read_yaml(path, library.project.relative(path)), ROUND)


def of_file(library: Library, source: YamlFile, names: Mapping[str, str]) -> Iterator[Finding]:
    known: Mapping[str, Collection[str]] = {
        "source": library.bib.entries,
        "rule": {name for round in library.rounds for name in library.rules[round]},
        "claim": library.claims,
        "technique": library.techniques,
    }
    for loc, text in scalars(source.data, ()):
        path = "/".join(map(str, loc))
        kind = next((kind for pattern, kind in names.items() if fnmatchcase(path, pattern)), "")
        if kind and text and text not in known[kind]:
            mend = nearest(text, sorted(known[kind]))
            yield finding("data-reference", source.place(loc), f"unknown {kind} {text!r}", mend)


def scalars(data: Any, loc: Loc) -> Iterator[tuple[Loc, str]]:
    """Every text of a file with the way to it."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from scalars(value, (*loc, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from scalars(value, (*loc, index))
    else:
        yield loc, data
