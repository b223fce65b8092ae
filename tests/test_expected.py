"""The verdicts that the book stands on."""

from __future__ import annotations

from conftest import MiniBook
from evidence.library.expected import Expected, expected_verdict, read_expected


def test_the_machine_class_speaks_before_the_default(mini_book: MiniBook) -> None:
    mini_book.append("records/expected.yml", "  cuda-h200: {verdict: weaker, reason: memory-bound}\n")
    expected, source = read_expected(mini_book.project)
    assert expected_verdict(expected, "precision/rounding", "cpu-x") == Expected(verdict="holds")
    there = expected_verdict(expected, "precision/rounding", "cuda-h200")
    assert there == Expected(verdict="weaker", reason="memory-bound")
    assert expected_verdict(expected, "precision/other", "cpu-x") is None
    assert source.place(("precision/rounding", "cuda-h200")) == "records/expected.yml:3"


def test_no_file_expects_nothing(mini_book: MiniBook) -> None:
    (mini_book.root / "records/expected.yml").unlink()
    assert read_expected(mini_book.project)[0] == {}
