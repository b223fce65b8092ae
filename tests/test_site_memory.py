"""The table of memory budgets shows what the documented function gives, for every model."""

from __future__ import annotations

from docutils import nodes

from evidence.library.load import load
from evidence.library.project import find_project
from evidence.rounds.architectures import MODELS
from evidence.rounds.memory import GIB, budget
from evidence.site.memory import SIZES, memory_notes, memory_table


def test_one_row_a_model_with_the_figures_of_the_function() -> None:
    table = memory_table(load(find_project()))
    rows = [[cell.astext() for cell in row.findall(nodes.entry)] for row in table.findall(nodes.row)][1:]
    assert len(rows) == len(MODELS)
    for cells, name in zip(rows, MODELS, strict=True):
        found = budget(name)
        assert cells[3].replace(",", "") == f"{found.state / GIB:.0f}"
        assert cells[-len(SIZES) :] == [str(found.accelerators(gib)) for gib in SIZES]
    assert "405B" in rows[list(MODELS).index("llama31_405b")][0]


def test_every_assumption_about_a_model_is_told() -> None:
    told = memory_notes(load(find_project())).astext()
    assert all(model.note in told for model in MODELS.values())
    assert f"Mixtral 8x22B tokenizer: {MODELS['llama31_405b'].note}" in told
