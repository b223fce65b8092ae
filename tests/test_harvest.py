"""Only complete runs count, and a record that does not fit says so."""

from __future__ import annotations

import pytest

from conftest import MiniBook, measured
from evidence.library.errors import InputError
from evidence.library.harvest import harvest, read_notebook, source_of
from evidence.library.models import EFFECT_MIME


def test_a_complete_run_gives_its_records(mini_book: MiniBook) -> None:
    mini_book.executed("precision", [{"text/plain": "no effect"}, measured()])
    found = harvest(mini_book.project)
    record = found.records["precision/rounding"]
    assert (record.verdict, record.notebook, record.n) == ("holds", "precision", 3)
    assert found.places["precision/rounding"] == "notebooks/_executed/precision.ipynb:cell 2"


def test_an_incomplete_run_gives_none_and_is_named(mini_book: MiniBook) -> None:
    mini_book.executed("precision", [measured()], complete=False)
    found = harvest(mini_book.project)
    assert (found.records, found.incomplete) == ({}, ("precision",))


def test_a_run_of_a_notebook_that_is_gone_does_not_count(mini_book: MiniBook) -> None:
    mini_book.executed("old", [measured()])
    assert harvest(mini_book.project).records == {}


def test_an_effect_displayed_twice_is_met_twice(mini_book: MiniBook) -> None:
    mini_book.executed("precision", [measured(), measured()])
    [(effect, first, second)] = harvest(mini_book.project).duplicates
    assert effect == "precision/rounding" and first.endswith("cell 1") and second.endswith("cell 2")


@pytest.mark.parametrize("broken", [{"verdict": "fine"}, {"samples": "many"}, {"surprise": 1}])
def test_a_record_of_another_shape_is_an_input_error(mini_book: MiniBook, broken: dict[str, object]) -> None:
    bundle = measured()
    mini_book.executed("precision", [{EFFECT_MIME: bundle[EFFECT_MIME] | broken}])
    with pytest.raises(InputError, match=r"precision\.ipynb:cell 1: .*evidence run precision --force"):
        harvest(mini_book.project)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cells": 3}', "\x00"])
def test_what_is_no_notebook_is_an_input_error(mini_book: MiniBook, text: str) -> None:
    path = mini_book.write("notebooks/_executed/precision.ipynb", text)
    with pytest.raises(InputError, match="is not a notebook"):
        read_notebook(path, "n.ipynb")


def test_a_cell_is_a_string_or_a_list_of_lines() -> None:
    assert source_of({"source": ["a\n", "b"]}) == source_of({"source": "a\nb"}) == "a\nb"
