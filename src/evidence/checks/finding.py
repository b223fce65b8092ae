"""What a check says, and the catalogue of everything that a check can say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

Level = Literal["error", "warning"]


@dataclass(frozen=True)
class Finding:
    """One thing that does not hold.

    Args:
        id: stable; `CATALOGUE` says what it means.
        level: an error fails `evidence check` and the build, a warning does not.
        place: `file:line`, or `file:cell N` in a notebook.
        message: what is wrong, with the offending value.
        mend: what to write instead.
    """

    id: str
    level: Level
    place: str
    message: str
    mend: str


class Meaning(NamedTuple):
    """How serious a finding is, and what it means whatever its place."""

    level: Level
    text: str


def _error(text: str) -> Meaning:
    return Meaning("error", text)


def _warning(text: str) -> Meaning:
    return Meaning("warning", text)


CATALOGUE: Mapping[str, Meaning] = {
    "cite-unknown": _error("A page cites a key that references.bib does not have."),
    "cite-unused": _warning("No page, claim or data file uses a source."),
    "bib-malformed": _error("One of the two parsers cannot read a piece of references.bib."),
    "bib-duplicate": _error("Two entries have one key, or keys that differ only in case."),
    "bib-duplicate-field": _error("An entry has a field twice; each parser keeps another one."),
    "bib-entry": _error("An entry lacks a title, or a field of it is not what it should be."),
    "bib-parsers": _error("bibtexparser and pybtex read an entry differently."),
    "bib-comment": _error("An entry behind a % is live: BibTeX has no comment character."),
    "bib-year": _error("An entry has no year, or one that has not come yet."),
    "bib-doi": _error("A DOI is not written as 10.registrant/suffix."),
    "bib-arxiv": _error("An arXiv id is not written as one, or differs from the entry's own DOI."),
    "bib-same-work": _error("Two entries have one DOI or one arXiv id."),
    "bib-read": _error("An entry does not say how much of it was read, or what it was compared with."),
    "claim-source": _error("A claim's source is not in references.bib."),
    "claim-technique": _error("A claim is about a technique that no file defines."),
    "claim-effect": _error("A claim names an effect that no notebook declares."),
    "claim-link": _error("A claim and an effect do not name each other."),
    "data-reference": _error("A data file of a page, or a round's origin, names something that does not exist."),
    "technique-round": _error("A technique's compliance names a round without a file, or leaves a round out."),
    "technique-rule": _error("A technique's compliance rests on a rule that the round does not have."),
    "technique-benchmark": _error("A technique's compliance names a benchmark that cannot be entered in the round."),
    "technique-condition": _error("A benchmark's status is conditional, and the condition is not stated."),
    "technique-equivalence": _error("A technique's equivalence is no effect and no statement why there is none."),
    "effect-claim": _error("An effect answers a claim, or tests a technique, that does not exist."),
    "effect-control": _error("An effect's control did not fail, so the effect proves nothing."),
    "effect-expected": _error("An effect has no verdict in records/expected.yml to stand on."),
    "expected-effect": _error("records/expected.yml speaks of an effect that no notebook declares."),
    "effect-twice": _error("Two cells show an effect of the same id."),
    "effect-home": _error("An effect's id does not begin with the name of its notebook."),
    "run-incomplete": _warning("The last run of a notebook did not reach its end; its effects do not count."),
    "notebook-parameters": _error("A notebook has no cell tagged `parameters`, or more than one."),
    "notebook-outputs": _error("A notebook in git carries outputs or execution counts."),
    "notebook-syntax": _error("A code cell is not Python."),
    "chapter-table": _error("A chapter does not show the evidence table of its lever."),
    "chapter-notebook": _error("A chapter has no notebook of its name."),
    "chapter-missing": _warning("A lever has claims but no chapter."),
    "chapter-play": _error("A play does not show its benchmark's data, or names no benchmark."),
    "role-target": _error("A role names a claim, effect, technique, rule or fact that does not exist."),
    "number-bare": _error("A number with a unit stands beside a citation, and no claim of that source holds it."),
    "number-reason": _error("An opt-out for a bare number gives no reason."),
    "number-idle": _warning("An opt-out excuses a sentence that has no bare number."),
}
"""Every id, with its level and what it means."""


def finding(id: str, place: str, message: str, mend: str) -> Finding:
    """A finding of the catalogue.

    Raises:
        KeyError: the id is not in the catalogue.
    """
    return Finding(id, CATALOGUE[id].level, place, message, mend)
