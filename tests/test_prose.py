"""What counts as a number with a unit, and when a claim holds it."""

from __future__ import annotations

import pytest

from conftest import MiniBook
from evidence.checks import run_checks
from evidence.checks.prose import quantities

CHAPTER = "book/levers/precision.md"


@pytest.mark.parametrize(
    ("text", "low", "high", "unit"),
    [
        ("40 %", 40, 40, "%"),
        ("40%", 40, 40, "%"),
        ("40 percent", 40, 40, "%"),
        ("3 percentage points", 3, 3, "%"),
        ("3.5–4 %", 3.5, 4, "%"),
        ("3.5 to 4 per cent", 3.5, 4, "%"),
        ("2.5×", 2.5, 2.5, "×"),
        ("2x", 2, 2, "×"),
        ("2.5 times faster", 2.5, 2.5, "×"),
        ("a 10-fold gain", 10, 10, "×"),
        ("12 ms", 12, 12, "ms"),
        ("1,024 GB/s", 1024, 1024, "GB/s"),
        ("80 GB", 80, 80, "GB"),
        ("5 µs", 5, 5, "µs"),
        ("7 s/step", 7, 7, "s"),
        ("700 W", 700, 700, "W"),
        ("64 epochs", 64, 64, "epoch"),
        ("32K samples", 32e3, 32e3, "sample"),
        ("1.5 million tokens", 1.5e6, 1.5e6, "token"),
        ("2.788 million GPU-hours", 2.788e6, 2.788e6, "GPU-hour"),
        ("5.576 million USD", 5.576e6, 5.576e6, "USD"),
        ("989 TFLOPS", 989, 989, "TFLOP/s"),
        ("it took 76\u00a0minutes", 76, 76, "min"),
    ],
)
def test_a_number_with_a_unit(text: str, low: float, high: float, unit: str) -> None:
    assert [each[:3] for each in quantities(f"Here {text}, they say.")] == [(low, high, unit)]


@pytest.mark.parametrize(
    "text",
    [
        "in 2020, in the 2010s, in v6.0",
        "8 GPUs, 24 layers, 175B parameters, 32 experts",
        "an H100, fp8, GPT-3, E4M3, INT8, bf16",
        "a 16×16 block, 16 x 16, 8x H100, 4 × MI300X",
        "a 95 % confidence interval",
        "a global batch size of 4,096",
        "in 4-bit formats",
        "arXiv 2402.02447 and 10.1000/5s",
        "section 5.2 says so",
        "three times as fast, ten percent",
    ],
)
def test_not_a_number_with_a_unit(text: str) -> None:
    assert list(quantities(text)) == []


def findings(book: MiniBook, text: str) -> list[str]:
    book.append(CHAPTER, f"\n{text}\n")
    return [each.id for each in run_checks(book.load()) if each.id.startswith("number")]


@pytest.mark.parametrize(
    "text",
    [
        "It gains 40 % {cite}`doe2024rounding`.",
        "It gains 40 %. {cite}`doe2024rounding`",
        "{cite:t}`doe2024rounding` report 40 %.",
        "It gains {claim}`doe2024-rounding`, or 40 %.",
        "It gains $40\\,\\%$ {cite}`doe2024rounding`.",
        "It gains **40** % {cite}`doe2024rounding`.",
        "It gains 3.5 times {cite}`roe2023formats`.",
        "It gains 3.5 % {cite}`doe2024rounding`.",
        "| gain | source |\n|---|---|\n| 40 % | {cite}`doe2024rounding` |",
        ":::{note}\nIt gains 40 % {cite}`doe2024rounding`.\n:::",
    ],
)
def test_a_bare_number_beside_a_citation_is_found(mini_book: MiniBook, text: str) -> None:
    assert findings(mini_book, text) == ["number-bare"]


@pytest.mark.parametrize(
    "text",
    [
        "It gains 40 %. Others say so too {cite}`doe2024rounding`.",
        "It gains 3.5 times {cite}`doe2024rounding`.",
        "It gains 3.5× {cite}`doe2024rounding`.",
        "It gains `40 %` {cite}`doe2024rounding`.",
        "It gains 40 % {cite}`doe2024rounding`. <!-- number: their arithmetic, which this page corrects -->",
        "It gained in 2020 on 8 GPUs {cite}`doe2024rounding`.",
        "Here it gains 40 % {measured}`precision/rounding`.",
    ],
)
def test_a_number_that_needs_no_claim_is_not(mini_book: MiniBook, text: str) -> None:
    assert findings(mini_book, text) == []


def test_an_end_of_a_claimed_range_is_held_and_a_value_inside_is_not(mini_book: MiniBook) -> None:
    mini_book.edit("book/levers/precision.yml", "value: 3.5", "value: 2-6")
    assert findings(mini_book, "It gains up to 6 times {cite}`doe2024rounding`.") == []
    assert findings(mini_book, "It gains 2–6× {cite}`doe2024rounding`.") == []
    assert findings(mini_book, "It gains 4 times {cite}`doe2024rounding`.") == ["number-bare"]


def test_what_only_the_review_says_is_not_held(mini_book: MiniBook) -> None:
    mini_book.edit("book/levers/precision.yml", "check: confirmed", "check: differs\n    review_says: 9 times faster")
    assert findings(mini_book, "It gains 9 times {cite}`doe2024rounding`.") == ["number-bare"]
