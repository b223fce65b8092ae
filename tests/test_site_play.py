"""The parts of a play: what is fixed and what is free, what may be done, what others did, and from when that is."""

from pathlib import Path

import pytest
from docutils import nodes

from conftest import MiniBook
from evidence.library.load import load
from evidence.library.project import find_project
from evidence.site.pages import pages
from evidence.site.play import PARTS, benchmark_of, play
from evidence.site.playlogs import best_sets

LIBRARY = load(find_project(Path(__file__).parent))


def made(part: str, benchmark: str, *chosen: str) -> str:
    return " ".join(each.astext() for each in play(LIBRARY, part, benchmark, chosen))


def rows(part: str, benchmark: str, *chosen: str) -> list[list[str]]:
    table = next(each for each in play(LIBRARY, part, benchmark, chosen) if isinstance(each, nodes.table))
    return [[cell.astext() for cell in row] for row in table.findall(nodes.row)][1:]


@pytest.mark.parametrize("benchmark", ["llama31_8b", "dlrm_dcnv2", "dlrmv4", "qwen35_397b_grpo", "bert"])
def test_every_hyperparameter_is_either_fixed_or_free(benchmark: str) -> None:
    every = {each.name: each.tunable for each in benchmark_of(LIBRARY, benchmark).hyperparameters}
    free = {row[0] for row in rows("free", benchmark)}
    fixed = {row[0] for row in rows("fixed", benchmark)} if not all(every.values()) else set()
    assert free == {name for name, tunable in every.items() if tunable}
    assert fixed == set(every) - free


def test_a_benchmark_is_shown_as_of_a_round_that_has_it() -> None:
    assert benchmark_of(LIBRARY, "llama31_405b").round == "6.0"
    assert benchmark_of(LIBRARY, "dlrmv4").round == "6.1"
    assert "Can be entered in 6.0, 6.1" in made("fixed", "flux1").replace("\n", " ").replace("  ", " ")
    assert "none; last in 5.0" in made("fixed", "bert")


def test_a_lever_shows_its_status_here_and_only_the_effects_asked_for() -> None:
    (row,) = rows("levers", "deepseekv3_671b", "gbs-below-smallest-rcp")
    assert row[1] == "not allowed"
    (row,) = rows("levers", "llama31_8b", "gbs-choice=rcp/critical-batch-size")
    assert row[1] == "conditional" and "Condition:" in row[2]
    record = LIBRARY.records.get("rcp/critical-batch-size")
    assert row[3].startswith(record.title if record else "rcp/critical-batch-size: not measured")


def test_the_best_set_of_a_size_is_the_fastest_closed_one_with_a_whole_set_of_runs() -> None:
    found = {(each.round, each.accelerators): each for each in best_sets("llama31_8b")}
    best = found["5.1", 8]
    assert best.runs == best.required
    shown = next(row for row in rows("others", "llama31_8b") if row[:2] == ["5.1", "8"])
    assert best.system in shown[3] and f"{best.convergence:,.0f} samples" == shown[6]
    assert shown[5].startswith("0.000") and "× at" in shown[9]


def test_single_logs_of_a_sample_are_no_scores() -> None:
    _, logs = [each for each in play(LIBRARY, "others", "flux1", []) if isinstance(each, nodes.table)]
    assert "runs, no scores" in logs.astext()


def test_what_a_batch_costs_is_relative_to_the_smallest_point() -> None:
    first, *_, last = rows("cost", "llama31_8b")
    assert first[1] == "1.00×" and float(last[4]) > float(first[4])
    assert "critical batch size puts it at" in made("cost", "llama31_8b")
    assert "No critical batch size can be read off" in made("cost", "qwen35_397b_grpo")


def test_every_part_says_from_when_its_data_is() -> None:
    said = made("dates", "llama31_405b")
    assert "Rules of round 6.0 (2025-12-09)" in said and "mlperf-logging" in said and "Logs of 5.0, 5.1, 6.0" in said


def test_a_benchmarks_page_leads_to_its_play_and_to_no_other(mini_book: MiniBook) -> None:
    mini_book.write("book/plays/tiny.md", "# Tiny\n\n```{play} fixed tiny_moe\n```\n")
    found = {page.name: page.text for page in pages(mini_book.load())}
    assert "(/book/plays/tiny.md)" in found["benchmarks/tiny_moe"]
    assert "/book/plays/" not in found["benchmarks/tiny_llm"]


def test_nothing_to_show_and_unknown_names_are_told_in_one_line() -> None:
    with pytest.raises(LookupError, match="nothing to show of 'dlrmv4' as 'others'"):
        play(LIBRARY, "others", "dlrmv4", [])
    with pytest.raises(LookupError, match="unknown benchmark 'flux'"):
        play(LIBRARY, "free", "flux", [])
    with pytest.raises(LookupError, match="unknown part of a play 'fre'"):
        play(LIBRARY, "fre", "flux1", [])
    with pytest.raises(LookupError, match="unknown technique 'fp9'"):
        play(LIBRARY, "levers", "flux1", ["fp9"])
    with pytest.raises(LookupError, match="name the techniques"):
        play(LIBRARY, "levers", "flux1", [])
    assert set(PARTS) == {"fixed", "free", "points", "cost", "levers", "others", "traps", "dates"}
