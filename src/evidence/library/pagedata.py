"""Data that one page each shows: corrections of the review, rows left out, works built on a source.

They lie in `book/rules/` beside the rulebooks. `load` does not read them, because nothing else in the library depends
on them; a page, a check or a test asks here.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, Field, model_validator

from evidence.library.models import Model, Slug, Text
from evidence.library.project import Project
from evidence.library.validate import validate
from evidence.library.yamlsource import read_yaml

M = TypeVar("M", bound=BaseModel)


class Correction(Model):
    """One statement of the review about the rules that does not stand as it is.

    `number` counts through all statements that were compared; `section` says in words what decides, `rules` by id
    (of round 6.0); `sources` are keys of `references.bib`; `claims` names claims with `check: differs` that concern the
    same statement; `follows` is what a submitter should do about it.
    """

    id: Slug
    number: int
    says: Text
    verdict: Literal["wrong", "partly", "outdated"]
    right: Text
    section: Text
    rules: list[Slug] = Field(default_factory=list)
    sources: list[Slug]
    follows: Text
    claims: list[Slug] = Field(default_factory=list)


class Corrections(Model):
    """`book/rules/corrections.yml`: `checked` statements were compared, `right` of them stand, the others are here."""

    checked: int
    right: int
    against: list[Slug]
    corrections: list[Correction]

    @model_validator(mode="after")
    def _complete(self) -> Corrections:
        if self.right + len(self.corrections) != self.checked:
            raise ValueError(f"{self.checked} compared, but {self.right} right and {len(self.corrections)} corrections")
        for field in ("id", "number"):
            twice = [name for name, n in Counter(getattr(each, field) for each in self.corrections).items() if n > 1]
            if twice:
                raise ValueError(f"{field} given twice: {', '.join(map(str, twice))}")
        return self


class LeftOutRow(Model):
    """A row of the evidence that is not in the book under its own id: dropped, or merged `into` another."""

    id: Slug
    why: Text
    into: Slug | Literal[""] = ""


class LeftOut(Model):
    """`book/rules/left-out.yml`."""

    claims: list[LeftOutRow] = Field(default_factory=list)
    techniques: list[LeftOutRow] = Field(default_factory=list)


class Work(Model):
    """A work that builds on a source; `key` if it is itself an entry of `references.bib`."""

    title: Text
    year: int
    arxiv: Text
    key: Slug | Literal[""] = ""

    @property
    def url(self) -> str:
        """Where it can be read."""
        return f"https://arxiv.org/abs/{self.arxiv}"


class BuiltOn(Model):
    """`book/rules/built-on.yml`: the most cited works among all `cited_by` works that cite `source`."""

    source: Slug
    listed_by: Text
    cited_by: int
    data_through: Text
    works: list[Work]


def read_corrections(project: Project) -> Corrections:
    """What the review says about the rules and gets wrong.

    Raises:
        InputError: the file is missing or does not fit.
    """
    return _read(project, project.book / "rules" / "corrections.yml", Corrections)


def read_left_out(project: Project) -> LeftOut:
    """Rows that were merged or left out, with the reason.

    Raises:
        InputError: the file is missing or does not fit.
    """
    return _read(project, project.book / "rules" / "left-out.yml", LeftOut)


def read_built_on(project: Project) -> BuiltOn:
    """Works that build on the benchmark paper.

    Raises:
        InputError: the file is missing or does not fit.
    """
    return _read(project, project.book / "rules" / "built-on.yml", BuiltOn)


def _read(project: Project, path: Path, model: type[M]) -> M:
    return validate(model, read_yaml(path, project.relative(path)))
