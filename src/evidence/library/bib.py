"""`references.bib`, read by two parsers that fail in different ways.

bibtexparser knows lines and keeps what it cannot read; pybtex is what renders the citations. Either one alone passes
broken input in silence (a missing comma, a repeated field, a commented entry that is live), so `checks.bibliography`
compares what the two saw. Both come out of here in one shape.
"""

from __future__ import annotations

import codecs
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic import ValidationError

from evidence.library.models import Source
from evidence.library.project import Project, read_text
from evidence.library.validate import describe

ENTRY = re.compile(r"@\s*(?!comment|string|preamble)\w+\s*[{(]\s*([^\s,={}()]*)", re.I)
VENUES = ("journal", "booktitle", "howpublished", "institution", "organization", "publisher", "school", "series")
PEOPLE = ("author", "editor")
VERBATIM = ("doi", "eprint", "url")
"""Fields that are not prose: a dash or a backslash in them means itself."""


class Name(NamedTuple):
    """A person or a body; `last` has the particle before it and the `Jr` after it."""

    first: str
    last: str

    def __str__(self) -> str:
        return f"{self.first} {self.last}".strip()


@dataclass(frozen=True)
class BibEntry:
    """An entry as one parser saw it. Field names are in lower case, white space in values is collapsed."""

    key: str
    type: str
    fields: Mapping[str, str]
    people: Mapping[str, tuple[Name, ...]]
    line: int = 0


@dataclass(frozen=True)
class BibFailure:
    """What a parser could not read or what no entry can be: `kind` is the id of the finding it becomes."""

    kind: str
    key: str
    line: int
    message: str
    mend: str


@dataclass(frozen=True)
class Bibliography:
    """`references.bib` as bibtexparser saw it, and the sources that came of it."""

    name: str
    text: str = ""
    entries: Mapping[str, BibEntry] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict)
    failures: tuple[BibFailure, ...] = ()

    def line(self, key: str) -> int:
        return self.entries[key].line if key in self.entries else 1


def read_bib(project: Project) -> Bibliography:
    """Read `references.bib` with bibtexparser; what cannot be read is in `failures`, not an exception.

    Raises:
        InputError: there is no file, or it is not UTF-8.
    """
    name = project.relative(project.bib)
    text = read_text(project.bib, name)
    entries, failures = by_bibtexparser(text)
    sources: dict[str, Source] = {}
    for key, entry in entries.items():
        made = to_source(entry)
        if isinstance(made, Source):
            sources[key] = made
        else:
            failures.append(made)
    return Bibliography(name, text, entries, sources, tuple(failures))


def by_bibtexparser(text: str) -> tuple[dict[str, BibEntry], list[BibFailure]]:
    """The entries that bibtexparser 2 sees, and the blocks that it could not read."""
    from bibtexparser.entrypoint import parse_string
    from bibtexparser.middlewares import SeparateCoAuthors, SplitNameParts

    log = logging.getLogger("bibtexparser")
    before, log.disabled = log.disabled, True  # what it would print is in `failures`
    try:
        parsed = parse_string(text, append_middleware=[SeparateCoAuthors(), SplitNameParts()])
    finally:
        log.disabled = before
    entries = {each.key: _entry(each) for each in parsed.entries}
    return entries, [_failure(block) for block in parsed.failed_blocks]


def _entry(block: Any) -> BibEntry:
    from pybtex.database.input.bibtex import month_names

    bare = {name for name, how in block.parser_metadata.get("removed_enclosing", {}).items() if how == "no-enclosing"}
    fields: dict[str, str] = {}
    people: dict[str, tuple[Name, ...]] = {}
    for each in block.fields:
        name = each.key.lower()
        if name in PEOPLE:
            people[name] = tuple(Name(" ".join(p.first), " ".join([*p.von, *p.last, *p.jr])) for p in each.value)
        else:
            value = " ".join(str(each.value).split())
            # bibtexparser leaves the standard month macros as letters; pybtex and BibTeX expand them.
            fields[name] = month_names.get(value.lower(), value) if each.key in bare else value
    return BibEntry(block.key, block.entry_type.lower(), fields, people, block.start_line + 1)


def _failure(block: Any) -> BibFailure:
    found = ENTRY.search(block.raw or "")
    key, line = found.group(1) if found else "", block.start_line + 1
    match type(block).__name__:
        case "DuplicateBlockKeyBlock":
            return BibFailure("bib-duplicate", key, line, f"key {key!r} is given twice", "keep one entry")
        case "DuplicateFieldKeyBlock":
            names = ", ".join(sorted(block.duplicate_keys))
            return BibFailure(
                "bib-duplicate-field", key, line, f"{key}: field {names} is given twice", "keep one of them"
            )
        case _:
            what = " ".join(str(block.error).split())
            mend = "see that braces, quotes and commas are paired, and names are 'First Last and First Last'"
            return BibFailure("bib-malformed", key, line, f"{key or 'an entry'} cannot be read: {what}", mend)


def by_pybtex(text: str) -> tuple[dict[str, BibEntry], list[str]]:
    """The entries that pybtex sees, and its complaints, in its own words (`… in line N: …`)."""
    import pybtex.errors
    from pybtex.database import parse_string

    with pybtex.errors.capture() as complaints:
        parsed = parse_string(text, "bibtex")
    entries = {}
    for key, entry in parsed.entries.items():
        fields = {name.lower(): " ".join(value.split()) for name, value in entry.fields.items()}
        people = {
            role.lower(): tuple(
                Name(
                    " ".join([*p.first_names, *p.middle_names]),
                    " ".join([*p.prelast_names, *p.last_names, *p.lineage_names]),
                )
                for p in persons
            )
            for role, persons in entry.persons.items()
        }
        entries[key] = BibEntry(key, entry.type.lower(), fields, people)
    return entries, [" ".join(str(each).split()) for each in complaints]


def to_source(entry: BibEntry) -> Source | BibFailure:
    """The entry as a source; a failure says which field keeps it from being one."""
    fields = {name: value if name in VERBATIM else plain(value) for name, value in entry.fields.items()}
    known: dict[str, Any] = {name: value for name, value in fields.items() if name in Source.model_fields and value}
    known |= {
        "key": entry.key,
        "type": entry.type,
        "authors": [plain(str(name)) for name in entry.people.get("author", ())],
        "venue": next((fields[name] for name in VENUES if fields.get(name)), ""),
    }
    try:
        return Source.model_validate(known)
    except ValidationError as error:
        first = error.errors()[0]
        what, mend = describe(first, Source)
        where = ".".join(str(step) for step in first["loc"])
        return BibFailure("bib-entry", entry.key, entry.line, f"{entry.key or 'an entry'}: {where}: {what}", mend)


def plain(value: str) -> str:
    """BibTeX text as a reader sees it: accents for their commands, no braces, `--` as a dash."""
    if "\\" in value:
        import latexcodec  # noqa: F401  (registers the codec)

        decode: Any = codecs.getdecoder("ulatex")
        value = decode(value)[0]
    return value.replace("{", "").replace("}", "").replace("---", "—").replace("--", "–").strip()
