"""An effect is judged by its samples, its control and its guards, and the notebook output is the whole record."""

from __future__ import annotations

import html.parser
import json
import math
from typing import Any

import nbformat
import pytest
from pydantic import ValidationError

from evidence.lab.card import as_html, as_text, cited_text, estimate_text, expected_text, number
from evidence.lab.device import Run
from evidence.lab.effect import Effect, Guard
from evidence.library.models import EFFECT_MIME, Record

CI = Run("cpu", "ci", 3, {"class": "cpu-test", "name": "a test machine"}, {"torch": "2"})
FAST, SLOW, NOISE = [3.0, 3.1, 3.2], [1.0, 1.01, 0.99], [0.5, 3.0, 9.0]


def effect(**changes: Any) -> Effect:
    given: dict[str, Any] = {
        "id": "precision/speed", "title": "Products are faster", "kind": "ratio", "direction": "above", "bound": 2.5,
        "null": 1.1, "unit": "×", "fault": "unit off", "claims": ["doe2024-speed"], "cited": 7.0,
    }  # fmt: skip
    return Effect(**(given | changes))


def parity(**changes: Any) -> Effect:
    return effect(**({"kind": "parity", "direction": "within", "bound": 0.01, "null": 0.0, "unit": "nats"} | changes))


def test_an_effect_that_holds_with_a_control_that_does_not() -> None:
    record = effect().judge(CI, FAST, control=SLOW).record
    assert (record.verdict, record.reason, record.n) == ("holds", "", 3)
    assert record.control is not None and record.control.verdict == "contradicted"
    assert (record.samples, record.control.samples, record.seed) == (FAST, SLOW, 3)


@pytest.mark.parametrize(
    ("control", "seen"),
    [(FAST, "holds"), (NOISE, "inconclusive"), ([1.0, 1.0], "inconclusive")],
)
def test_a_control_that_is_not_seen_to_be_broken_proves_nothing(control: list[float], seen: str) -> None:
    record = effect().judge(CI, FAST, control=control).record
    assert record.verdict == "inconclusive" and record.control is not None
    assert record.control.verdict == seen and seen in record.reason


def test_a_control_may_come_out_weaker() -> None:
    record = effect().judge(CI, FAST, control=[1.5, 1.52, 1.48]).record
    assert record.verdict == "holds" and record.control is not None and record.control.verdict == "weaker"


def test_a_broken_control_does_not_make_a_weak_effect_hold() -> None:
    assert effect().judge(CI, [1.5, 1.52, 1.48], control=SLOW).verdict == "weaker"
    assert effect().judge(CI, SLOW, control=SLOW).verdict == "contradicted"
    assert effect().judge(CI, [3.0, 3.1], control=SLOW).verdict == "inconclusive"


def test_parity_and_equivalence_have_controls_too() -> None:
    assert parity().judge(CI, [0.001, -0.002, 0.0], control=[1.0, 1.1, 1.2]).verdict == "holds"
    same = effect(kind="equivalence", direction="within", bound=1e-10, null=None)
    assert same.judge(CI, [0.0, 1e-15, 2e-15], control=[1e-4, 2e-4, 1e-4]).verdict == "holds"
    assert same.judge(CI, [1e-4, 2e-4, 1e-4], control=[1e-4, 2e-4, 1e-4]).verdict == "contradicted"


def test_an_exact_effect_needs_one_count_and_shows_the_worst() -> None:
    bytes_ = effect(kind="exact", direction="equal", bound=16.0, null=None, tolerance=0.01)
    assert bytes_.judge(CI, [16.0], control=[12.0]).verdict == "holds"
    record = bytes_.judge(CI, [16.0, 12.0, 17.0], control=[12.0]).record
    assert (record.verdict, record.estimate, record.low, record.high) == ("contradicted", 12.0, 12.0, 17.0)
    assert bytes_.judge(CI, [16.0], control=[16.0]).verdict == "inconclusive"


@pytest.mark.parametrize("value", [0.1, math.nan, math.inf])
def test_a_guard_outside_its_limits_makes_it_inconclusive(value: float) -> None:
    guards = {"error": Guard(value, 2e-3, 5e-3), "bytes": Guard(4.0)}
    record = effect().judge(CI, FAST, control=SLOW, guards=guards).record
    assert record.verdict == "inconclusive" and "error" in record.reason and "OUTSIDE" in record.guards["error"]
    inside = effect().judge(CI, FAST, control=SLOW, guards={"error": Guard(3e-3, 2e-3, 5e-3)}).record
    assert inside.verdict == "holds" and "within" in inside.guards["error"]


def test_profile_smoke_measures_nothing() -> None:
    record = effect().judge(Run("cpu", "smoke", 0), FAST, control=SLOW).record
    assert record.verdict == "not-measured" and "smoke" in record.reason
    assert record.control is not None and record.control.verdict == "not-measured"


def test_what_a_machine_cannot_show_is_said_with_a_reason() -> None:
    record = effect().not_measured(CI, "no tensor cores").record
    assert (record.verdict, record.reason, record.samples, record.control) == (
        "not-measured",
        "no tensor cores",
        [],
        None,
    )
    with pytest.raises(ValueError, match="say why"):
        effect().not_measured(CI, " ")


@pytest.mark.parametrize("samples", [[], [1.0, math.nan, 2.0]])
def test_missing_and_diverged_samples_are_refused_not_judged(samples: list[float]) -> None:
    for given, control in ((samples, SLOW), (FAST, samples)):
        with pytest.raises(ValueError, match="samples"):
            effect().judge(CI, given, control=control)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"id": "Speed"}, "pattern"),
        ({"claims": "doe2024-speed"}, "list of ids"),
        ({"claims": ["Doe 2024"]}, "pattern"),
        ({"techniques": "bf16"}, "list of ids"),
        ({"direction": "within"}, "goes with direction above or below"),
        ({"kind": "parity"}, "goes with direction within"),
        ({"kind": "exact"}, "goes with direction equal"),
        ({"null": None}, "needs a null"),
        ({"null": 3.0}, "beyond the bound"),
        ({"direction": "below", "null": 1.1}, "beyond the bound"),
        ({"bound": math.nan}, "finite"),
        ({"null": math.inf}, "finite"),
        ({"kind": "parity", "direction": "within", "bound": 0.0}, "nothing can lie within"),
        ({"kind": "equivalence", "direction": "within", "null": 0.5}, "no null"),
        ({"fault": "  "}, "what the control breaks"),
    ],
)
def test_an_impossible_effect_is_refused_before_anything_is_measured(changes: dict[str, Any], says: str) -> None:
    with pytest.raises((ValueError, ValidationError), match=says):
        effect(**changes)


def test_the_notebook_output_is_the_whole_record() -> None:
    measurement = effect(cited=(5.0, 7.0)).judge(CI, FAST, control=SLOW, guards={"error": Guard(0.1)})
    bundle = measurement._repr_mimebundle_()
    output = nbformat.v4.new_output("execute_result", bundle, execution_count=1)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=[output])])
    read = nbformat.reads(nbformat.writes(notebook), 4)
    nbformat.validate(read)
    carried = read.cells[0].outputs[0].data[EFFECT_MIME]
    assert Record.model_validate(carried) == measurement.record
    assert json.loads(json.dumps(carried, allow_nan=False)) == measurement.record.model_dump(mode="json")
    assert measurement.record.measured_at.endswith("+00:00")


class Texts(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_card_is_a_table_with_headers_and_shows_markup_as_text() -> None:
    nasty = '<script>alert("x")</script> & "more"'
    measurement = effect(title=nasty, fault=nasty, cited=nasty, unit=nasty).judge(
        Run("cpu", "ci", 0, {"name": nasty}), FAST, control=SLOW, guards={nasty: Guard(1.0)}, reason=nasty
    )
    card = Texts()
    card.feed(as_html(measurement.record))
    assert "script" not in {tag for tag, _ in card.tags}
    assert card.text.count(nasty) >= 6
    headers = [attributes for tag, attributes in card.tags if tag == "th"]
    assert len(headers) >= 6 and all(attributes == {"scope": "row"} for attributes in headers)
    assert ("div", {"class": "ev-effect", "data-effect": "precision/speed"}) in card.tags


def test_one_line_says_verdict_estimate_expectation_and_control() -> None:
    line = as_text(effect().judge(CI, FAST, control=SLOW).record)
    for part in ("precision/speed: holds", "3.099×", "above 2.5×", "below 1.1×", "control contradicted at 1×"):
        assert part in line, line


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0.0, "0"),
        (4.405, "4.405"),
        (4.0, "4"),
        (12345.6, "12,346"),
        (250000.0, "250,000"),
        (-0.00012345, "-0.0001234"),
        (7.1e-15, "7.10e-15"),
        (3.2e9, "3.20e+09"),
        (9.99999, "10"),
    ],
)
def test_numbers_are_written_for_people(value: float | None, shown: str) -> None:
    assert number(value) == shown


def test_units_and_intervals_are_written_for_people() -> None:
    assert number(2.5, "×") == "2.5×" and number(2.5, "nats") == "2.5 nats"
    record = parity(cited=(0.1, 0.2)).judge(CI, [0.001, 0.002, 0.003], control=[1.0, 1.1, 1.2]).record
    assert expected_text(record) == "within ± 0.01 nats" and cited_text(record) == "0.1 to 0.2 nats"
    assert estimate_text(record, "nats") == "0.002 nats (-0.0004841 to 0.004484; n = 3)"
    centred = parity(null=0.5, bound=0.04).judge(CI, [0.5] * 3, control=[1.0] * 3).record
    assert expected_text(centred) == "within 0.5 ± 0.04 nats" and estimate_text(centred) == "0.5 (n = 3)"
    counted = effect(kind="exact", direction="equal", bound=16.0, null=None, unit="bytes", cited=None)
    assert expected_text(counted.judge(CI, [16.0], control=[8.0]).record) == "equal to 16 bytes"
    assert cited_text(counted.judge(CI, [16.0], control=[8.0]).record) == "–"
