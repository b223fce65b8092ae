"""Building: strictly and every time, incrementally, and never at the cost of the last good site."""

from __future__ import annotations

from collections.abc import Callable
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


def test_a_broken_book_fails_every_time_and_the_last_good_site_stays(book: MiniBook) -> None:
    before = snapshot(build(book))
    book.append(CHAPTER, "\nNobody wrote {cite}`nobody1999`, nor {claim}`no-such-claim`.\n")
    for _ in range(2):  # Sphinx itself would let the second one pass
        with pytest.raises(BuildFailed) as failure:
            build(book)
        assert "nobody1999" in str(failure.value) and "no-such-claim" in str(failure.value)
        assert str(book.root) not in str(failure.value)
    assert snapshot(book.project.site) == before
    book.edit(CHAPTER, "\nNobody wrote {cite}`nobody1999`, nor {claim}`no-such-claim`.\n", "\nMended.\n")
    assert "Mended." in page(build(book), CHAPTER[:-3]).text


def test_only_what_changed_is_built_again(book: MiniBook) -> None:
    said: list[str] = []
    site = build(book, said)
    assert said == ["site: building all pages"]
    built = (site / "book/_generated/rules/router.html").stat().st_mtime_ns
    build(book, said)
    assert said[1:] == ["site: nothing has changed"]

    book.edit("book/levers/precision.yml", "3.5 times faster", "three and a half times faster")
    build(book, said)
    assert "half times faster" in page(site, CHAPTER[:-3]).text
    assert "half times faster" in page(site, "book/_generated/sources/doe2024rounding").text
    assert (site / "book/_generated/rules/router.html").stat().st_mtime_ns == built

    run(book, measured(samples=(1.0, 1.01, 1.02)))
    build(book, said)
    assert page(site, CHAPTER[:-3]).select_one("tr .ev-badge.ev-contradicted") is not None
    assert page(site, "book/_generated/effects").select_one(".ev-badge.ev-contradicted") is not None


def breaks(path: str, old: str, new: str) -> Callable[[MiniBook], None]:
    return lambda book: book.edit(path, old, new)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (breaks(CHAPTER, "{technique}`rounding`", "{technique}`roundin`"), "did you mean 'rounding'?"),
        (breaks(CHAPTER, "{rule}`formats`", "{rule}`format`"), "unknown rule 'format'"),
        (breaks(CHAPTER, "{measured}`precision/rounding`", "{measured}`precisio/rounding`"), "no notebook 'precisio'"),
        (breaks(CHAPTER, "```{evidence-table} precision", "```{evidence-table} precison"), "unknown lever 'precison'"),
        (breaks(CHAPTER, "# Precision", "# Precision $\\frac{1}$"), "formula"),
    ],
)
def test_what_a_page_names_must_exist(book: MiniBook, harm: Callable[[MiniBook], None], said: str) -> None:
    harm(book)
    with pytest.raises(BuildFailed, match=said.replace("?", r"\?")):
        build(book)
    assert not book.project.site.exists()


def test_a_page_of_the_contents_that_is_not_there_is_named_with_its_mend(book: MiniBook) -> None:
    book.project.executed_notebook("precision").unlink()
    with pytest.raises(InputError, match="evidence run precision"):
        build(book)


def test_a_page_left_by_earlier_data_goes(book: MiniBook) -> None:
    site = build(book)
    assert (site / "book/_generated/sources/roe2023formats.html").exists()
    bib = book.text("references.bib")
    book.write("references.bib", bib[: bib.index("@article{roe")])
    book.edit(CHAPTER, " {cite}`roe2023formats`", "")
    build(book)
    assert not (site / "book/_generated/sources/roe2023formats.html").exists()
