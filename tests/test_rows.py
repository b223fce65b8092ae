"""Rows: filters, what a row adds to its model, and that JSON fits the published schema."""

from __future__ import annotations

import csv
import io
import json
from typing import get_args

import jsonschema
import pytest

from conftest import MiniBook, measured
from evidence.library.errors import InputError
from evidence.library.formats import COLUMNS, as_csv, as_json, as_markdown
from evidence.library.rows import ROWS, SUITS, Filters, Kind, rows, schema

KINDS: tuple[Kind, ...] = get_args(Kind)
SECOND = """
  - id: roe2023-formats
    source: roe2023formats
    says: Formats matter, and a | b.
    quantity: mechanism
    scope: none
    check: not-found
"""


@pytest.fixture
def book(mini_book: MiniBook) -> MiniBook:
    mini_book.append("book/levers/precision.yml", SECOND)
    mini_book.executed("precision", [measured()])
    return mini_book


@pytest.mark.parametrize(
    ("kind", "filters", "found"),
    [
        ("claims", Filters(), ["doe2024-rounding", "roe2023-formats"]),
        ("claims", Filters(check="not-found"), ["roe2023-formats"]),
        ("claims", Filters(source="doe2024rounding"), ["doe2024-rounding"]),
        ("claims", Filters(lever="data"), []),
        ("claims", Filters(status="conditional"), ["doe2024-rounding"]),
        ("claims", Filters(benchmark="tiny_moe", status="allowed"), []),
        ("claims", Filters(benchmark="tiny_llm", status="allowed"), ["doe2024-rounding"]),
        ("claims", Filters(benchmark="tiny_llm"), ["doe2024-rounding"]),
        ("claims", Filters(benchmark="old_net"), []),
        ("techniques", Filters(status="conditional"), ["rounding"]),
        ("techniques", Filters(status="allowed"), []),
        ("techniques", Filters(benchmark="tiny_moe", status="not-allowed"), ["rounding"]),
        ("techniques", Filters(source="roe2023formats"), []),
        ("sources", Filters(check="confirmed"), ["doe2024rounding"]),
        ("sources", Filters(lever="precision"), ["doe2024rounding", "roe2023formats"]),
        ("rules", Filters(benchmark="tiny_llm"), ["formats"]),
        ("rules", Filters(lever="precision", round="6.0"), ["formats", "router"]),
        ("benchmarks", Filters(status="retired"), ["old_net"]),
        ("effects", Filters(status="holds", lever="precision"), ["precision/rounding"]),
        ("effects", Filters(status="weaker"), []),
        ("effects", Filters(source="doe2024rounding"), ["precision/rounding"]),
    ],
)
def test_filters(book: MiniBook, kind: Kind, filters: Filters, found: list[str]) -> None:
    assert [getattr(each, "id", getattr(each, "key", "")) for each in rows(book.load(), kind, filters)] == found


def test_a_technique_row_answers_for_the_benchmark_that_was_asked_for(book: MiniBook) -> None:
    [row] = rows(book.load(), "techniques", Filters(benchmark="tiny_moe"))
    got = row.model_dump()
    assert (got["round"], got["benchmark"], got["status"], got["rules"]) == (
        "6.0",
        "tiny_moe",
        "not-allowed",
        ["router"],
    )
    assert got["claims"] == ["doe2024-rounding"] and got["place"] == "book/levers/precision.yml:2"


def test_a_claim_row_has_the_verdicts_of_its_effects(book: MiniBook) -> None:
    first, second = (each.model_dump() for each in rows(book.load(), "claims"))
    assert (first["verdicts"], second["verdicts"]) == ({"precision/rounding": "holds"}, {})
    (book.root / "notebooks/_executed/precision.ipynb").unlink()
    assert rows(book.load(), "claims")[0].model_dump()["verdicts"] == {"precision/rounding": "not-measured"}


@pytest.mark.parametrize(
    ("kind", "filters", "message"),
    [
        ("rules", Filters(check="differs"), "rules have no check; filters of rules: --lever, --benchmark, --round"),
        ("claims", Filters(check="differ"), "--check: unknown check 'differ'; did you mean 'differs'?"),
        ("claims", Filters(benchmark="tiny_lm"), "did you mean 'tiny_llm'?"),
        ("claims", Filters(round="5.0"), "did you mean '6.0'?"),
        ("effects", Filters(status="allowed"), "allowed: contradicted, holds"),
        ("techniques", Filters(source="nobody"), "unknown source 'nobody'"),
    ],
)
def test_a_filter_that_cannot_be_is_an_input_error(book: MiniBook, kind: Kind, filters: Filters, message: str) -> None:
    with pytest.raises(InputError) as caught:
        rows(book.load(), kind, filters)
    assert message in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_json_fits_the_schema_and_the_schema_can_fail(book: MiniBook, kind: Kind) -> None:
    data = json.loads(as_json(rows(book.load(), kind)))
    checker = jsonschema.Draft202012Validator(schema(kind))
    checker.check_schema(schema(kind))
    assert data and checker.is_valid(data)
    assert not checker.is_valid([{**data[0], "surprise": 1}])


@pytest.mark.parametrize("kind", KINDS)
def test_csv_and_frame_have_every_field(book: MiniBook, kind: Kind) -> None:
    library = book.load()
    found = rows(library, kind)
    read = list(csv.DictReader(io.StringIO(as_csv(kind, found))))
    assert len(read) == len(found) and list(read[0]) == list(ROWS[kind].model_fields)
    frame = library.frame(kind)
    assert list(frame.columns) == list(ROWS[kind].model_fields) and len(frame) == len(found)
    assert as_csv(kind, []).count("\n") == 1


def test_columns_and_filters_exist() -> None:
    for kind in KINDS:
        assert set(COLUMNS[kind]) <= set(ROWS[kind].model_fields)
        assert set(SUITS[kind]) <= set(Filters.__dataclass_fields__)


def test_markdown_keeps_a_pipe_in_its_cell(book: MiniBook) -> None:
    lines = as_markdown("claims", rows(book.load(), "claims")).splitlines()
    assert len(lines) == 4 and "a \\| b" in lines[3]
