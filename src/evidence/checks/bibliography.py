"""`references.bib`: the two parsers agree, no key or work is there twice, and identifiers are written as such."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from evidence.checks.finding import Finding, finding
from evidence.checks.subject import Subject
from evidence.library.bib import BibEntry, Bibliography, by_pybtex
from evidence.library.models import Source

DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>{}\\]+")
ARXIV = re.compile(r"(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?")
ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)", re.I)
READ = re.compile(r"full text|abstract|part: .+|nothing: .+")
COMMENTED = re.compile(r"^\s*%.*@\s*\w+\s*[{(]")
BLOCK = re.compile(r"@\s*(\w+)\s*[{(]\s*([^\s,={}()]*)")
IN_LINE = re.compile(r"in line (\d+)")


def check(subject: Subject) -> Iterator[Finding]:
    bib = subject.library.bib
    theirs, complaints = by_pybtex(bib.text)
    yield from failures(bib)
    yield from commented(bib)
    yield from case_clashes(bib)
    broken = {failure.key for failure in bib.failures}
    for key, found in complained(bib, complaints, frozenset(broken)):
        broken.add(key)
        yield found
    yield from disagreements(bib, theirs, broken)
    yield from identifiers(bib, broken)
    yield from same_work(bib)


def _at(bib: Bibliography, line: int) -> str:
    return f"{bib.name}:{line}"


def failures(bib: Bibliography) -> Iterator[Finding]:
    """What bibtexparser could not read, and entries that are no source."""
    for each in bib.failures:
        yield finding(each.kind, _at(bib, each.line), each.message, each.mend)


def commented(bib: Bibliography) -> Iterator[Finding]:
    for number, line in enumerate(bib.text.split("\n"), 1):
        if COMMENTED.match(line):
            message = "the entry after % is live: BibTeX has no comment character"
            yield finding("bib-comment", _at(bib, number), message, "remove the entry, or the %")


def case_clashes(bib: Bibliography) -> Iterator[Finding]:
    """Keys that are one key for BibTeX and pybtex, and two for bibtexparser."""
    seen: dict[str, str] = {}
    for key, entry in bib.entries.items():
        first = seen.setdefault(key.lower(), key)
        if first != key:
            message = f"{key!r} and {first!r} differ only in case, which BibTeX does not see"
            yield finding(
                "bib-duplicate", _at(bib, entry.line), message, f"rename it; {first!r} is in line {bib.line(first)}"
            )


def complained(bib: Bibliography, complaints: list[str], reported: frozenset[str]) -> Iterator[tuple[str, Finding]]:
    """What only pybtex cannot read, with the key; `reported` are keys whose entry is known to be broken."""
    for complaint in complaints:
        line = int(found.group(1)) if (found := IN_LINE.search(complaint)) else 0
        key = key_at(bib.text, line) if line else _named(complaint)
        # An unclosed entry is noticed where the next one begins.
        if reported & {key, key_at(bib.text, line - 1)} or complaint.startswith("repeated bibliography entry"):
            continue
        kind = "bib-duplicate-field" if "duplicate" in complaint else "bib-malformed"
        mend = "see that braces, quotes and commas are paired, and that names of macros are defined"
        message = f"{key or 'text'}: pybtex says: {complaint}"
        yield key, finding(kind, _at(bib, line or bib.line(key)), message, mend)


def disagreements(bib: Bibliography, theirs: Mapping[str, BibEntry], broken: set[str]) -> Iterator[Finding]:
    """Where pybtex reads something else than bibtexparser, but for entries that are known to be broken."""
    lower = {key.lower() for key in theirs}
    for key in dict.fromkeys([*bib.entries, *theirs]):
        # pybtex keeps the first of two keys that differ in case; that clash is reported already.
        if key in broken or (key not in theirs and key.lower() in lower):
            continue
        difference = compare(bib.entries.get(key), theirs.get(key))
        if difference:
            line = bib.line(key) if key in bib.entries else line_of(bib.text, key)
            mend = "write it so that any BibTeX tool reads it alike: braces around values, no #, nothing in @comment"
            yield finding("bib-parsers", _at(bib, line), f"{key}: {difference}", mend)


def compare(ours: BibEntry | None, theirs: BibEntry | None) -> str:
    """What bibtexparser (`ours`) and pybtex (`theirs`) see differently; empty if nothing."""
    if ours is None:
        return "only pybtex sees this entry"
    if theirs is None:
        return "only bibtexparser sees this entry"
    if ours.type != theirs.type:
        return f"type is {ours.type!r} for bibtexparser, {theirs.type!r} for pybtex"
    for name in sorted({*ours.fields, *theirs.fields}):
        mine, other = ours.fields.get(name), theirs.fields.get(name)
        if mine != other:
            return f"{name} is {mine!r} for bibtexparser, {other!r} for pybtex"
    for role in sorted({*ours.people, *theirs.people}):
        if ours.people.get(role) != theirs.people.get(role):
            return f"the names under {role} are not the same for bibtexparser and pybtex"
    return ""


def key_at(text: str, line: int) -> str:
    """The key of the last entry that begins at or before a line."""
    before = "\n".join(text.split("\n")[:line])
    found = BLOCK.findall(before)
    return str(found[-1][1]) if found else ""


def line_of(text: str, key: str) -> int:
    found = re.search(rf"@\s*\w+\s*[{{(]\s*{re.escape(key)}\s*,", text)
    return text.count("\n", 0, found.start()) + 1 if found else 1


def _named(complaint: str) -> str:
    found = re.search(r"(?:entry with key|entry:) (\S+)", complaint)
    return found.group(1) if found else ""


def identifiers(bib: Bibliography, broken: set[str]) -> Iterator[Finding]:
    """Year, DOI, arXiv id, and how the source was read."""
    for key, source in bib.sources.items():
        if key not in broken:
            yield from of_source(_at(bib, bib.line(key)), source)


def of_source(place: str, source: Source) -> Iterator[Finding]:
    for id, message, mend in (*of_year(source), *of_ids(source), *of_reading(source)):
        yield finding(id, place, f"{source.key}: {message}", mend)


def of_year(source: Source) -> Iterator[tuple[str, str, str]]:
    this_year = datetime.now(UTC).year
    if source.year is None:
        yield "bib-year", "no year", "add year = {…}; for a living page the year in which it was read"
    elif not 1900 <= source.year <= this_year:
        yield "bib-year", f"year {source.year} is not in 1900 … {this_year}", "correct the year"


def of_ids(source: Source) -> Iterator[tuple[str, str, str]]:
    if source.doi and not DOI.fullmatch(source.doi):
        yield "bib-doi", f"{source.doi!r} is not a DOI", "write the bare DOI, 10.…/…, without https://doi.org/"
    if source.eprint and not ARXIV.fullmatch(source.eprint):
        yield "bib-arxiv", f"{source.eprint!r} is not an arXiv id", "write the bare id, such as 1706.03762"
    elif source.eprint and (other := ARXIV_DOI.fullmatch(source.doi)) and other[1] != source.eprint.partition("v")[0]:
        yield "bib-arxiv", f"eprint {source.eprint} and DOI {source.doi} are two works", "correct one of them"


def of_reading(source: Source) -> Iterator[tuple[str, str, str]]:
    if not READ.fullmatch(source.read):
        yield "bib-read", f"read is {source.read!r}", "read = {full text}, {abstract}, {part: which} or {nothing: why}"
    if not source.checked:
        yield "bib-read", "no checked", "say in checked = {…} what the entry was compared with, and when"


def same_work(bib: Bibliography) -> Iterator[Finding]:
    for name in ("doi", "eprint"):
        first: dict[str, str] = {}
        for key, source in bib.sources.items():
            value = getattr(source, name).lower()
            other = first.setdefault(value, key)
            if value and other != key:
                message, mend = (
                    f"{other} and {key} have one {name}: {value}",
                    "keep one entry, or correct the identifier",
                )
                yield finding("bib-same-work", _at(bib, bib.line(key)), message, mend)
