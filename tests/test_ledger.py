"""The ledger: what goes in, once, and what a broken line says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conftest import MiniBook, Ran, measured
from evidence.lab.device import Run
from evidence.lab.effect import Effect
from evidence.library.errors import InputError
from evidence.library.ledger import append, everywhere, latest, ledger_file, read_ledger
from evidence.library.models import EFFECT_MIME, Record

CLASS = "cpu-test"


def record(name: str = "precision/rounding", at: str = "2026-01-01T00:00:00+00:00", **changed: Any) -> Record:
    made = Record.model_validate(measured(name)[EFFECT_MIME])
    return made.model_copy(update={"measured_at": at, **changed})


def test_records_are_appended_once_and_in_order_of_time(mini_book: MiniBook) -> None:
    project = mini_book.project
    path = ledger_file(project, CLASS)
    newer, older = record(at="2026-02-01T00:00:00+00:00"), record()
    assert append(project, [newer]) == {path: 1}
    assert append(project, [older, newer]) == {path: 1}
    before = path.read_bytes()
    assert append(project, [older, newer]) == {path: 0}
    assert path.read_bytes() == before
    assert read_ledger(path, "ledger") == [older, newer]
    assert [each.name for each in path.parent.iterdir()] == [f"{CLASS}.jsonl"]


def test_each_machine_class_has_its_own_file(mini_book: MiniBook) -> None:
    other = record(machine={"class": "cuda-nvidia-h200"}, verdict="weaker")
    append(mini_book.project, [record(), other])
    found = everywhere(mini_book.project)
    assert {name: each["precision/rounding"].verdict for name, each in found.items()} == {
        CLASS: "holds",
        "cuda-nvidia-h200": "weaker",
    }


def test_the_latest_record_of_an_effect_speaks() -> None:
    first, second = record(), record(at="2026-03-01T00:00:00+00:00", verdict="weaker")
    assert latest([second, first])["precision/rounding"] is second


def test_what_was_not_measured_is_left_out(mini_book: MiniBook) -> None:
    effect = Effect("precision/x", "t", "exact", "equal", 1, fault="f")
    nothing = effect.not_measured(Run("cpu", "ci", 0, {"class": CLASS}, {}), "no tensor cores").record
    assert append(mini_book.project, [nothing]) == {}
    assert not (mini_book.project.records / "ledger").exists()


@pytest.mark.parametrize("bad", ["", "../x", "A B"])
def test_a_record_of_no_machine_class_is_refused(mini_book: MiniBook, bad: str) -> None:
    with pytest.raises(InputError, match="no machine class"):
        append(mini_book.project, [record(), record(machine={"class": bad})])
    assert not (mini_book.project.records / "ledger").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{ half\n", "ledger.jsonl:2: is no record"),
        ('{"id": "a/b"}\n', "ledger.jsonl:2: kind: is no record: Field required"),
        ("[]\n", "ledger.jsonl:2: is no record"),
    ],
)
def test_a_broken_line_is_named_and_nothing_is_written(mini_book: MiniBook, text: str, says: str) -> None:
    path = ledger_file(mini_book.project, CLASS)
    append(mini_book.project, [record()])
    broken = path.read_text() + text
    path.write_text(broken)
    with pytest.raises(InputError, match=says.replace("ledger.jsonl", rf"records/ledger/{CLASS}\.jsonl")):
        append(mini_book.project, [record(at="2027-01-01T00:00:00+00:00")])
    assert path.read_text() == broken


def test_a_ledger_that_is_not_there_is_one_line(mini_book: MiniBook) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_ledger(mini_book.root / "nowhere.jsonl", "nowhere.jsonl")


def test_the_command_keeps_what_the_notebooks_hold(mini_book: MiniBook, evidence: Callable[..., Ran]) -> None:
    empty = evidence("record")
    assert (empty.code, empty.out) == (2, "")
    assert "no executed notebook has a record; evidence run first" in empty.err
    mini_book.executed("precision", [measured()])
    assert evidence("record").err == f"records/ledger/{CLASS}.jsonl: 1 new\n"
    assert evidence("record").err == f"records/ledger/{CLASS}.jsonl: 0 new\n"
