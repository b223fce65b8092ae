"""Citations: every key that a page cites exists, and every source is used somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evidence.checks.finding import Finding, finding
from evidence.checks.subject import Subject
from evidence.library.errors import nearest
from evidence.library.load import Library


def check(subject: Subject) -> Iterator[Finding]:
    library = subject.library
    # An entry that a parser could not turn into a source is reported once, where it stands, not where it is cited.
    known = set(library.bib.entries) | {failure.key for failure in library.bib.failures}
    used = {claim.source for claim in library.claims.values()} | words_of_data(library)
    for page in subject.pages:
        for key, place in page.citations():
            used.add(key)
            if key not in known:
                mend = f"{nearest(key, sorted(known))} Or add the entry to {library.bib.name}"
                yield finding("cite-unknown", place, f"{key!r} is not in {library.bib.name}", mend)
        for role in page.roles:
            if role.name == "claim" and role.target in library.claims:
                used.add(library.claims[role.target].source)
    for key in library.bib.entries:
        if key not in used:
            place = library.place("source", key)
            yield finding("cite-unused", place, f"nothing uses {key!r}", "cite it, draw a claim from it, or remove it")


def words_of_data(library: Library) -> set[str]:
    """Every word of the data files: a source may be named by a rule's origin or a correction."""
    book = library.project.book
    files = [
        path for folder in ("levers", "plays", "rules", "open-questions") for path in (book / folder).glob("*.yml")
    ]
    return {word for path in files for word in re.findall(r"[\w.-]+", path.read_text(encoding="utf-8"))}
