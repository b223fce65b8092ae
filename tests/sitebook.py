"""The tiny book of `conftest`, furnished as the real one is: configuration, contents, indexes, a run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup

from conftest import MiniBook, make_cell, measured
from evidence.site.build import build_site

ROOT = Path(__file__).parent.parent

CONTENTS = """\
format: jb-book
root: book/intro
chapters:
  - file: book/levers/precision
    sections:
      - file: notebooks/_executed/precision
  - file: book/_generated/compliance-map
  - file: book/_generated/evidence
  - file: book/_generated/effects
  - file: book/_generated/benchmarks
  - file: book/_generated/rules
  - file: book/_generated/sources
  - file: book/_generated/data
"""


def furnish(book: MiniBook) -> MiniBook:
    """Give the tiny book the real configuration, a run of its notebook, and pages for what the data makes."""
    shutil.copy(ROOT / "_config.yml", book.root / "_config.yml")
    shutil.copy(ROOT / "book" / "mark.svg", book.root / "book" / "mark.svg")
    book.write("_toc.yml", CONTENTS)
    run(book, measured())
    return book


def run(book: MiniBook, *displays: dict[str, Any]) -> None:
    """Leave a run of the notebook, under a heading, as every notebook of the book has one."""
    path = book.executed("precision", displays)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"].insert(0, {**make_cell("markdown", "# Precision, measured"), "id": "title"})
    path.write_text(json.dumps(notebook), encoding="utf-8")


def page(site: Path, name: str) -> BeautifulSoup:
    """A built page."""
    return BeautifulSoup((site / f"{name}.html").read_text(encoding="utf-8"), "html.parser")


def build(book: MiniBook, said: list[str] | None = None) -> Path:
    """Build the site of a furnished book; `said` collects what the build tells."""
    return build_site(book.load(), said.append if said is not None else lambda line: None)
