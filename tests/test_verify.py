"""Verification: a verdict that differs, a missing effect, a control that works no more: each must be caught."""

from __future__ import annotations

import json
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from conftest import MiniBook, Ran, measured
from evidence.lab.device import Run
from evidence.lab.effect import Effect
from evidence.library.expected import Expected
from evidence.library.ledger import append
from evidence.library.models import EFFECT_MIME, Record
from evidence.runs.report import as_junit, as_markdown, summary
from evidence.runs.verify import Row, against_expected, against_ledger, as_json

HOLDS = {"precision/rounding": {"default": Expected(verdict="holds")}}
RUN = Run("cpu", "ci", 0, {"class": "cpu-test", "name": "test"}, {})


def rounding(samples: tuple[float, ...] = (3.0, 3.1, 3.2), control: tuple[float, ...] = (1.0, 1.01, 1.02)) -> Record:
    return Record.model_validate(measured(samples=samples, control=control)[EFFECT_MIME])


def count(found: float = 2) -> Record:
    return Effect("precision/count", "t", "exact", "equal", 2, fault="one more").judge(RUN, [found], control=[3]).record


def rows(*records: Record, expected: object = HOLDS, gate: str = "all") -> list[Row]:
    return against_expected({record.id: record for record in records}, expected, gate)  # type: ignore[arg-type]


def test_an_expected_verdict_is_in_order() -> None:
    (row,) = rows(rounding())
    assert (row.problem, row.fails, row.expected) == ("", False, "holds")


def test_the_machine_class_speaks_before_the_default() -> None:
    expected = {
        "precision/rounding": {**HOLDS["precision/rounding"], "cpu-test": Expected(verdict="weaker", reason="r")}
    }
    assert rows(rounding(), expected=expected)[0].problem == "holds, expected weaker"
    assert rows(rounding((1.5, 1.51, 1.52)), expected=expected)[0].problem == ""


@pytest.mark.parametrize(
    ("record", "says"),
    [
        (rounding((1.5, 1.51, 1.52)), "weaker, expected holds"),
        (rounding((1.0, 1.01, 1.02)), "contradicted, expected holds"),
        (rounding((1.0, 3.0, 5.0)), "inconclusive, expected holds"),
        (rounding(control=(3.0, 3.1, 3.2)), "its control came out holds"),
        (rounding(control=(1.0, 3.0, 5.0)), "its control came out inconclusive"),
        (rounding().model_copy(update={"control": None}), "has no control"),
        (rounding().model_copy(update={"id": "precision/new"}), "has no expected verdict"),
    ],
)
def test_what_is_not_in_order_fails(record: Record, says: str) -> None:
    found = [row for row in rows(record) if row.id == record.id]
    assert says in found[0].problem
    assert found[0].fails


def test_a_missing_effect_fails_through_every_gate() -> None:
    for gate in ("all", "exact"):
        (row,) = rows(gate=gate)
        assert (row.id, row.record, row.problem) == ("precision/rounding", None, "no executed notebook has it")
        assert row.fails


def test_not_measured_needs_no_control_but_has_to_be_expected() -> None:
    effect = Effect("precision/count", "t", "exact", "equal", 2, fault="one more")
    record = effect.not_measured(RUN, "no tensor cores").record
    waits = {"precision/count": {"default": Expected(verdict="not-measured", reason="needs a GPU")}}
    holds = {"precision/count": {"default": Expected(verdict="holds")}}
    assert rows(record, expected=waits)[0].problem == ""
    assert rows(record, expected=holds)[0].problem == "not-measured (no tensor cores), expected holds"


def test_the_exact_gate_lets_timed_effects_differ_and_shows_it() -> None:
    expected = {**HOLDS, "precision/count": {"default": Expected(verdict="holds")}}
    slow, wrong = rounding((1.0, 1.01, 1.02)), count(5)
    by_id = {row.id: row for row in rows(slow, wrong, expected=expected, gate="exact")}
    assert (bool(by_id["precision/rounding"].problem), by_id["precision/rounding"].fails) == (True, False)
    assert by_id["precision/count"].fails
    assert summary(list(by_id.values())) == "2 effects: 0 in order, 1 not, 1 differ without gating"


def test_against_a_ledger_only_what_differs_or_is_gone_fails() -> None:
    before = {
        "precision/rounding": rounding(),
        "precision/gone": rounding().model_copy(update={"id": "precision/gone"}),
    }
    now = {"precision/rounding": rounding((1.5, 1.51, 1.52)), "precision/count": count()}
    found = {row.id: row.problem for row in against_ledger(now, before)}
    assert found == {
        "precision/count": "",
        "precision/gone": "no executed notebook has it",
        "precision/rounding": "weaker, expected holds",
    }


def test_the_json_has_the_agreed_shape() -> None:
    (effect,) = as_json(rows(rounding()))["effects"]
    assert set(effect) == {
        "id", "kind", "how", "claims", "expectation", "verdict", "estimate", "low", "high", "unit", "n", "control",
        "machine", "profile", "reason", "measured_at",
    }  # fmt: skip
    assert set(effect["expectation"]) == {"direction", "bound", "null", "cited"}
    assert set(effect["control"]) == {"fault", "verdict", "estimate"}
    assert as_json(rows()) == {"effects": []}


def test_junit_tells_failed_skipped_and_passed_apart() -> None:
    expected = {**HOLDS, "precision/count": {"default": Expected(verdict="holds")}, "precision/gone": {}}
    suite = ElementTree.fromstring(
        as_junit(rows(rounding((1.0, 1.01, 1.02)), count(), expected=expected, gate="exact"))
    )
    found = {case.get("name"): [child.tag for child in case] for case in suite}
    assert found == {"count": [], "gone": ["failure"], "rounding": ["skipped"]}
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")


def test_markdown_is_one_table() -> None:
    text = as_markdown(rows(rounding().model_copy(update={"unit": "a|b"}), expected={}))
    lines = text.splitlines()
    assert lines[0].startswith("|  | effect | verdict |")
    assert "a\\|b" in lines[2]
    assert lines[2].startswith("| FAIL | precision/rounding | holds | – |")
    assert lines[-1] == "1 effect: 0 in order, 1 not"


def test_the_command_exits_with_what_it_found(mini_book: MiniBook, evidence: Callable[..., Ran]) -> None:
    mini_book.write("records/expected.yml", "precision/rounding: {default: {verdict: holds}}\n")
    missing = evidence("verify", "--format", "json")
    assert (missing.code, json.loads(missing.out)) == (1, {"effects": []})
    assert "precision/rounding: no executed notebook has it" in missing.err

    mini_book.executed("precision", [measured()])
    good = evidence("verify")
    assert good.code == 0
    assert "precision/rounding" in good.out
    assert "1 effect: 1 in order, 0 not" in good.err
    assert "precision: its run is stale" in good.err
    for form in ("json", "junit", "markdown"):
        assert evidence("verify", "--format", form).code == 0

    append(mini_book.project, [rounding()])
    mini_book.executed("precision", [measured(samples=(1.0, 1.01, 1.02))])
    bad = evidence("verify", "--format", "json")
    assert (bad.code, json.loads(bad.out)["effects"][0]["verdict"]) == (1, "contradicted")
    assert evidence("verify", "--gate", "exact").code == 0
    ledger = str(mini_book.root / "records" / "ledger" / "cpu-test.jsonl")
    assert evidence("verify", "--against", ledger).code == 1
    assert evidence("verify", "--against", "nowhere.jsonl").code == 2


def test_an_expected_file_that_cannot_be_read_is_one_line(mini_book: MiniBook, evidence: Callable[..., Ran]) -> None:
    mini_book.write("records/expected.yml", "precision/rounding: {default: {verdict: hold}}\n")
    found = evidence("verify")
    assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)
    assert "records/expected.yml:1" in found.err


def test_what_the_ledger_does_not_hold_is_not_in_order(mini_book: MiniBook, evidence: Callable[..., Ran]) -> None:
    mini_book.write("records/expected.yml", "precision/rounding: {default: {verdict: holds}}\n")
    mini_book.executed("precision", [measured()])
    empty = evidence("verify", "--against", "/dev/null")
    assert (empty.code, empty.out, empty.err.count("\n")) == (2, "", 1)
    assert "no record in /dev/null" in empty.err

    append(mini_book.project, [count()])
    ledger = str(mini_book.root / "records" / "ledger" / "cpu-test.jsonl")
    found = evidence("verify", "--against", ledger, "--format", "junit")
    assert "precision/rounding: new, not compared" in found.err
    assert "1 effect: 0 in order, 1 not, 1 new, not compared" in found.err
    assert [case.get("name") for case in ElementTree.fromstring(found.out)] == ["count"]
