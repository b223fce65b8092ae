"""`evidence build` and `evidence serve`: what stops a site, what never does, and the two other ways to build it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable

import pytest

from conftest import MiniBook, Ran, measured
from sitebook import furnish, page, run

Evidence = Callable[..., Ran]
CHAPTER, LEVER = "book/levers/precision.md", "book/levers/precision.yml"


@pytest.fixture
def book(mini_book: MiniBook) -> MiniBook:
    return furnish(mini_book)


def test_build_says_where_the_site_is(evidence: Evidence, book: MiniBook) -> None:
    first = evidence("build", "--no-run")
    assert first.code == 0, first.err
    assert first.out.strip() == str(book.project.site / "index.html")
    again = evidence("build", "--no-run")
    assert again.code == 0 and "nothing has changed" in again.err


def test_a_verdict_never_fails_the_build(evidence: Evidence, book: MiniBook) -> None:
    run(book, measured(samples=(1.0, 1.01, 1.02), control=(1.0, 1.01, 1.02)))
    assert evidence("build", "--no-run").code == 0
    assert page(book.project.site, CHAPTER[:-3]).select_one("tr .ev-contradicted") is not None
    run(book, measured(control=(3.0, 3.1, 3.2)))  # the sabotage changed nothing, so nothing is proved
    shown = evidence("build", "--no-run")
    assert shown.code == 0 and "effect-control" in shown.err
    assert page(book.project.site, CHAPTER[:-3]).select_one("tr .ev-inconclusive") is not None


@pytest.mark.parametrize(
    ("path", "old", "new", "code", "said"),
    [
        (CHAPTER, "{cite}`roe2023formats`", "{cite}`roe2022formats`", 1, "cite-unknown"),
        ("references.bib", "@article{roe2023formats", "@article{doe2024rounding", 1, "bib-duplicate"),
        (LEVER, "status: conditional", "status: conditionl", 2, "did you mean 'conditional'?"),
        (
            CHAPTER,
            "The gain is {claim}`doe2024-rounding`",
            "It is 9.9 times faster {cite}`doe2024rounding`",
            1,
            "number",
        ),
        ("_toc.yml", "book/_generated/sources", "book/_generated/sorces", 2, "no page book/_generated/sorces"),
        ("_config.yml", 'execute_notebooks: "off"', 'execute_notebooks: "of"', 2, "_config.yml: - 'of' is not one of"),
    ],
)
def test_a_broken_book_is_not_built_however_often(
    evidence: Evidence, book: MiniBook, path: str, old: str, new: str, code: int, said: str
) -> None:
    site = book.write("_build/html/index.html", "the last good site")
    book.edit(path, old, new)
    for _ in range(2):
        ran = evidence("build", "--no-run")
        assert (ran.code, ran.out) == (code, "") and said in ran.err, ran.err
        assert site.read_text(encoding="utf-8") == "the last good site"


@pytest.mark.notebook
def test_a_notebook_that_raises_stops_the_build_every_time(evidence: Evidence, book: MiniBook) -> None:
    before = book.project.executed_notebook("precision").read_bytes()
    parameters = 'device = "auto"\nprofile = "ci"\nseed = 0'
    raising = "print(device, profile, seed)\nraise RuntimeError('no')"
    book.notebook("precision", [("markdown", "# Precision"), ("parameters", parameters), ("code", raising)])
    for _ in range(2):
        ran = evidence("build")
        assert ran.code == 1 and "did not run to their end: precision" in ran.err, ran.err
    assert book.project.executed_notebook("precision").read_bytes() == before
    assert not book.project.site.exists()


def test_a_smoke_run_is_not_for_showing(evidence: Evidence, book: MiniBook) -> None:
    ran = evidence("build", "--profile", "smoke")
    assert ran.code == 2 and "--profile" in ran.err


def test_serve_without_a_site_says_how_to_get_one(evidence: Evidence, book: MiniBook) -> None:
    ran = evidence("serve")
    assert ran.code == 2 and "evidence build" in ran.err


def test_serve_shows_the_site_on_this_machine_only(site_book: MiniBook) -> None:
    env = os.environ | {"EVIDENCE_ROOT": str(site_book.root)}
    command = [sys.executable, "-c", "from evidence.cli import main; main()", "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env) as server:
        try:
            assert server.stderr is not None
            address = server.stderr.readline().strip()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
            with urllib.request.urlopen(address + "book/levers/precision.html", timeout=10) as answer:
                assert b"Precision" in answer.read()
        finally:
            server.terminate()


@pytest.mark.slow
def test_plain_sphinx_and_jupyter_book_build_the_same_pages(book: MiniBook, evidence: Evidence) -> None:
    """The exits: jupyter-book's own command, and sphinx-build on the configuration that it writes."""
    assert evidence("build", "--no-run").code == 0
    ours = page(book.project.site, CHAPTER[:-3]).article
    python = [sys.executable, "-m"]
    jupyter_book = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()"]
    told = {"cwd": book.root, "capture_output": True, "text": True, "timeout": 120}
    made = subprocess.run([*jupyter_book, "build", ".", "-W", "-n", "--keep-going", "--path-output", "jb"], **told)
    assert made.returncode == 0, made.stderr
    assert page(book.root / "jb" / "_build" / "html", CHAPTER[:-3]).article == ours
    subprocess.run([*jupyter_book, "config", "sphinx", "."], check=True, **told)
    built = subprocess.run([*python, "sphinx", "-W", "-n", "--keep-going", "-q", ".", "plain"], **told)
    assert built.returncode == 0, built.stderr
    assert page(book.root / "plain", CHAPTER[:-3]).article == ours
