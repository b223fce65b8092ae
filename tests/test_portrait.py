"""What a benchmark's page computes: schedule, choices, traps and the planned curve."""

from pathlib import Path

import pytest

from evidence.library.load import load
from evidence.library.project import find_project
from evidence.rounds import published
from evidence.rounds.portrait import Portrait, choices, portrait, table_for

LIBRARY = load(find_project(Path(__file__).parent))


def of(benchmark: str, round: str = "6.0") -> Portrait:
    found = portrait(LIBRARY.benchmarks[round][benchmark])
    assert found is not None
    return found


@pytest.mark.parametrize("round", LIBRARY.rounds)
def test_every_benchmark_that_can_be_entered_has_all_parts(round: str) -> None:
    for benchmark in LIBRARY.benchmarks[round].values():
        if benchmark.status in ("current", "new"):
            found = of(benchmark.id, round)
            assert found.round == round
            assert len(found.evaluations) == len(found.table.points)
            assert found.plan is not None
            assert found.model.startswith("a system that")
            assert found.traps


def test_schedule_in_numbers() -> None:
    first = of("llama31_405b").evaluations[0]
    assert (first.batch, first.interval, first.first, first.skipped, first.at_mean) == (1152, 18432, 276480, 14, 3.0)


def test_retired_benchmarks_show_the_last_round_that_had_them() -> None:
    retired = LIBRARY.benchmarks["6.0"]["bert"]
    found = table_for(retired)
    assert found is not None
    assert found.round == "5.0"
    assert of("resnet").plan is None, "epochs: the rules give no samples"
    assert table_for(retired.model_copy(update={"id": "minigo", "last_round": "v0.7"})) is None


def test_choices_are_the_committed_sets() -> None:
    found = choices("llama31_405b")
    sets = [each for each in published.sets() if each.benchmark == "llama31_405b" and each.division == "closed"]
    assert sum(each.sets for each in found) == sum(bool(each.global_batch_size) for each in sets)
    assert [each.round for each in found] == sorted((each.round for each in found), reverse=True)
    here = next(each for each in found if (each.round, each.batch) == ("5.0", 1152))
    assert (here.sets, here.judged, here.scaled) == (5, 5, 5)
    assert all(each.judged <= each.sets for each in found)
    assert any(each.judged < each.sets for each in found), "of the 6.0 sample some sets are too short to judge"
    assert here.accelerators == (512, 2048)


def test_traps_name_their_rule() -> None:
    rules = [trap.rule for trap in of("llama31_405b").traps]
    assert rules.count("rcp-ttest") == 1
    assert rules.count("rcp-leeway-405b") == 3
    assert any("cannot fail" in trap.says for trap in of("llama31_405b").traps)
    assert any("96" in trap.says and trap.rule == "eval-frequency" for trap in of("llama31_8b").traps)
    assert not any("cannot fail" in trap.says for trap in of("llama31_8b").traps)
    for benchmark in ("llama31_405b", "llama31_8b", "llama2_70b_lora"):
        assert {trap.rule for trap in of(benchmark).traps} <= set(LIBRARY.rules["6.0"])
