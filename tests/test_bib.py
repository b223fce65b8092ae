"""The two readings of the bibliography, on input where one parser alone would pass in silence."""

from __future__ import annotations

import pytest

from conftest import MiniBook
from evidence.library.bib import by_bibtexparser, by_pybtex, plain, read_bib, to_source
from evidence.library.models import Source

GOOD = "@article{a,\n  title = {A {B}},\n  author = {X, Y and de la Z, W},\n  year = 2020,\n  month = jul,\n}\n"


def test_both_see_the_same_in_good_input() -> None:
    ours, failures = by_bibtexparser(GOOD)
    theirs, complaints = by_pybtex(GOOD)
    assert (failures, complaints) == ([], [])
    assert ours["a"].fields == theirs["a"].fields == {"title": "A {B}", "year": "2020", "month": "July"}
    assert ours["a"].people == theirs["a"].people == {"author": (("Y", "X"), ("W", "de la Z"))}


def test_lines_are_of_the_file() -> None:
    entries, _ = by_bibtexparser("\n\n" + GOOD)
    assert entries["a"].line == 3


def test_capitalised_field_names_are_not_skipped() -> None:
    entries, _ = by_bibtexparser("@misc{a, Title = {T}, DOI = {10.1000/x}}")
    made = to_source(entries["a"])
    assert isinstance(made, Source) and made.doi == "10.1000/x"


@pytest.mark.parametrize(
    ("text", "kind", "key"),
    [
        ("@misc{a, title={A}}\n@misc{a, title={B}}\n", "bib-duplicate", "a"),
        ("@misc{a, title={A}, note={x}, note={y}}\n", "bib-duplicate-field", "a"),
        ("@misc{a, title={A\n@misc{b, title={B}}\n", "bib-malformed", "a"),
        ("@misc{a, title={A}, author={A, B, C, D}}\n", "bib-malformed", "a"),
        ('@misc{a, title="A}, year=2020}\n', "bib-malformed", "a"),
    ],
)
def test_what_bibtexparser_cannot_read_is_a_failure_with_its_key(text: str, kind: str, key: str) -> None:
    _, failures = by_bibtexparser(text)
    assert [(each.kind, each.key, each.line > 0) for each in failures] == [(kind, key, True)]


def test_an_entry_that_is_no_source_is_a_failure_and_the_others_stay(mini_book: MiniBook) -> None:
    mini_book.append("references.bib", "@misc{x1, year = {2020a}, title = {T}}\n@misc{x2, year = {2020}}\n")
    found = read_bib(mini_book.project)
    assert list(found.sources) == ["doe2024rounding", "roe2023formats"]
    assert [(each.kind, each.key) for each in found.failures] == [("bib-entry", "x1"), ("bib-entry", "x2")]
    assert "'2020a'" in found.failures[0].message and "'title' is missing" in found.failures[1].message


def test_reading_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    by_bibtexparser("@misc{a, title={A\n@misc{b, title={B}}\n")
    by_pybtex("@misc{a, title={A\n@misc{b, title={B}}\n")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("bibtex", "shown"),
    [
        (r"M\"uller, {\'E}ric", "Müller, Éric"),
        ("{{MLPerf}} {T}raining", "MLPerf Training"),
        ("pages 1--2", "pages 1–2"),
        (r"50\% \& more", "50% & more"),
    ],
)
def test_text_as_a_reader_sees_it(bibtex: str, shown: str) -> None:
    assert plain(bibtex) == shown


def test_addresses_are_not_prose() -> None:
    entries, _ = by_bibtexparser("@misc{a, title={T}, url={https://x.org/a--b_c}}")
    made = to_source(entries["a"])
    assert isinstance(made, Source) and made.url == "https://x.org/a--b_c"


def test_a_parenthesised_entry_is_an_entry_for_both() -> None:
    text = "@misc(a, title = {T}, year = 2020)\n"
    ours, failures = by_bibtexparser(text)
    theirs, complaints = by_pybtex(text)
    assert (failures, complaints) == ([], []) and ours["a"].fields == theirs["a"].fields
