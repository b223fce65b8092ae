"""Every chapter shows the evidence table of its lever and has a notebook; every lever with claims has a chapter."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.checks.finding import Finding, finding
from evidence.checks.subject import Subject
from evidence.library.load import lever_files

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
