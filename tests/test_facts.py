"""Values of the rules data by path."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import MiniBook
from evidence.library.facts import fact
from evidence.library.load import load
from evidence.library.project import Project


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("6.0/tiny_llm/quality.target", "3.3"),
        ("6.0/tiny_llm/runs_required", "10"),
        ("6.0/tiny_llm/hyperparameters.global_batch_size.constraint", "unconstrained"),
        ("6.0/router/applies_to", "tiny_moe"),
        ("6.0/dated", "2025-12-09"),
    ],
)
def test_a_fact(mini_book: MiniBook, path: str, value: str) -> None:
    assert fact(mini_book.load(), path) == value


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("6.9/tiny_llm/model", "unknown round '6.9'"),
        ("6.0/tiny_lm/model", "did you mean 'tiny_llm'"),
        ("6.0/tiny_llm/quality.goal", "unknown field"),
        ("6.0/tiny_llm/model.name", "nothing below a single value"),
        ("6.0/tiny_llm/quality", "not a single value"),
        ("6.0/tiny_moe/optimizer", "not a single value"),
        ("6.0", "write round/benchmark/field"),
        ("6.0/a/b/c", "write round/benchmark/field"),
    ],
)
def test_no_fact(mini_book: MiniBook, path: str, message: str) -> None:
    with pytest.raises(LookupError, match=message):
        fact(mini_book.load(), path)


def test_a_large_number_is_set_for_readers() -> None:
    library = load(Project(Path(__file__).parents[1]))
    mean = library.benchmarks["6.0"]["deepseekv3_671b"].rcp[0].mean
    assert mean > 100_000 and fact(library, "6.0/deepseekv3_671b/rcp.15360.mean") == f"{round(mean):,}"
