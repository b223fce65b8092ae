"""Every chapter shows the evidence table of its lever and has a notebook; every lever with claims has a chapter.

A play of a benchmark that is no lever has neither: it shows the benchmark's data.
"""

from __future__ import annotations

from collections.abc import Iterator

from evidence.checks.finding import Finding, finding
from evidence.checks.subject import Subject
from evidence.library.errors import nearest
from evidence.library.load import LEVERS, lever_files

FOLDERS = ("levers", "plays")


def check(subject: Subject) -> Iterator[Finding]:
    project = subject.library.project
    tables = {
        page.name: {
            each.argument.split()[0] for each in page.directives if each.name == "evidence-table" and each.argument
        }
        for page in subject.pages
    }
    for folder in FOLDERS:
        for path in sorted((project.book / folder).glob("*.md")):
            name, lever = project.relative(path), path.stem
            if folder == "plays" and lever not in LEVERS:
                yield from _play(subject, name)
                continue
            if lever not in tables[name]:
                mend = f"add the directive ```{{evidence-table}} {lever}```"
                yield finding("chapter-table", f"{name}:1", f"the chapter shows no evidence table of {lever}", mend)
            if not project.notebook(lever).exists():
                mend = f"add {project.relative(project.notebook(lever))}"
                yield finding("chapter-notebook", f"{name}:1", f"the chapter has no notebook {lever}", mend)
    for lever, path in lever_files(project):
        if path.parent.name in FOLDERS and not path.with_suffix(".md").exists():
            mend = f"write {project.relative(path.with_suffix('.md'))}"
            yield finding("chapter-missing", f"{project.relative(path)}:1", f"lever {lever} has no chapter", mend)


def _play(subject: Subject, name: str) -> Iterator[Finding]:
    """A play says what is fixed and from when its data is, of a benchmark that there is."""
    benchmarks = dict.fromkeys(each for found in subject.library.benchmarks.values() for each in found)
    shown = {
        tuple(each.argument.split())
        for page in subject.pages
        if page.name == name
        for each in page.directives
        if each.name == "play"
    }
    for part in ("fixed", "free", "dates"):
        if not any(each[:1] == (part,) for each in shown):
            mend = f"add the directive ```{{play}} {part} BENCHMARK```"
            yield finding("chapter-play", f"{name}:1", f"the play does not show its benchmark's {part}", mend)
    for said in sorted({" ".join(each[1:]) for each in shown} - set(benchmarks)):
        yield finding(
            "chapter-play", f"{name}:1", f"{{play}} of {said!r}: no benchmark", nearest(said, list(benchmarks))
        )
