"""Building: strictly and every time, incrementally, and never at the cost of the last good site."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import MiniBook, measured
from evidence.library.errors import InputError
from evidence.site.build import BuildFailed
from sitebook import build, furnish, page, run

CHAPTER = "book/levers/precision.md"


@pytest.fixture
def book(mini_book: MiniBook) -> MiniBook:
    return furnish(mini_book)


def snapshot(site: Path) -> dict[str, bytes]:
    return {str(path.relative_to(site)): path.read_bytes() for path in sorted(site.rglob("*")) if path.is_file()}


BROKEN = {
    "{cite}`roe2023formats`": ("{cite}`nobody1999`", "nobody1999"),
    "{claim}`doe2024-rounding`": ("{claim}`doe2024-roundin`", "did you mean 'doe2024-rounding'?"),
    "{technique}`rounding`": ("{technique}`roundin`", "did you mean 'rounding'?"),
    "{rule}`formats`": ("{rule}`format`", "unknown rule 'format'"),
    "{measured}`precision/rounding`": ("{measured}`precisio/rounding`", "no notebook 'precisio'"),
    "```{evidence-table} precision": ("```{evidence-table} precison", "unknown lever 'precison'"),
    "# Precision": ("# Precision $\\frac{1}$", "formula"),
}
"""What stands in the chapter, what it is made into, and what the build says about it."""


def test_a_broken_book_fails_every_time_and_the_last_good_site_stays(book: MiniBook) -> None:
    before, whole = snapshot(build(book)), book.text(CHAPTER)
    for old, (new, _) in BROKEN.items():
        book.edit(CHAPTER, old, new)
    for _ in range(2):  # Sphinx itself would let the second one pass
        with pytest.raises(BuildFailed) as failure:
            build(book)
        for _, said in BROKEN.values():
            assert said in str(failure.value)
        assert str(book.root) not in str(failure.value)
    assert snapshot(book.project.site) == before
    book.write(CHAPTER, whole + "\nMended.\n")
    assert "Mended." in page(build(book), CHAPTER[:-3]).text


def test_only_what_changed_is_built_again(book: MiniBook) -> None:
    said: list[str] = []
    site = build(book, said)
    assert said[0] == "site: building all pages"
    built = (site / "book/_generated/rules/router.html").stat().st_mtime_ns
    said.clear()
    build(book, said)
    assert said == ["site: nothing has changed"]

    book.edit("book/levers/precision.yml", "3.5 times faster", "three and a half times faster")
    said.clear()
    build(book, said)
    assert said == ["site: 3 pages of the data written, 0 deleted"]  # all claims, the source, the technique
    assert "half times faster" in page(site, CHAPTER[:-3]).text
    assert "half times faster" in page(site, "book/_generated/sources/doe2024rounding").text
    assert (site / "book/_generated/rules/router.html").stat().st_mtime_ns == built

    run(book, measured(samples=(1.0, 1.01, 1.02)))
    build(book, said)
    assert page(site, CHAPTER[:-3]).select_one("tr .ev-badge.ev-contradicted") is not None
    assert page(site, "book/_generated/effects").select_one(".ev-badge.ev-contradicted") is not None

    book.write("references.bib", book.text("references.bib").partition("@article{roe")[0])
    book.edit(CHAPTER, " {cite}`roe2023formats`", "")
    assert (site / "book/_generated/sources/roe2023formats.html").exists()
    build(book)
    assert not (site / "book/_generated/sources/roe2023formats.html").exists()


def test_a_page_of_the_contents_that_is_not_there_is_named_with_its_mend(book: MiniBook) -> None:
    book.project.executed_notebook("precision").unlink()
    with pytest.raises(InputError, match="evidence run precision"):
        build(book)
