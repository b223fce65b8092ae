"""Parameters: what the tagged cell declares, how -p is typed, and who reads them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conftest import MiniBook, make_cell, make_notebook
from evidence.library.errors import InputError
from evidence.library.harvest import Notebook
from evidence.runs.cells import first_line, split_magic
from evidence.runs.parameters import declared, split_option, typed, unread
from evidence.runs.plan import Request, plan, resolve_device

BASE = 'device = "auto"\nprofile = "ci"\nseed = 0\n'
READS = "print(device, profile, seed)"


def notebook(parameters: str | None, *cells: str) -> Notebook:
    made = [make_cell("parameters", parameters)] if parameters is not None else []
    return Notebook("notebooks/n.ipynb", make_notebook([*made, *(make_cell("code", cell) for cell in cells)]))


def error(call: Any, *arguments: Any) -> str:
    with pytest.raises(InputError) as caught:
        call(*arguments)
    return str(caught.value)


def test_defaults_are_read_with_their_types() -> None:
    found = declared(notebook(BASE + "lr: float = 1e-3\namp = False\nsizes = [1, -2]\nnote = None\n"))
    assert found.defaults == {
        "device": "auto", "profile": "ci", "seed": 0, "lr": 1e-3, "amp": False, "sizes": [1, -2], "note": None,
    }  # fmt: skip
    assert (found.index, found.place) == (0, "notebooks/n.ipynb:cell 1")


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (notebook(None, READS), "no cell with code tagged 'parameters'"),
        (notebook("", READS), "no cell with code tagged 'parameters'"),
        (notebook('device = "auto"\nprofile = "ci"\n', READS), "has no 'seed'"),
        (notebook(BASE + "n = 2 * seed\n", READS), "cell 1, line 4: the parameters cell holds more than"),
        (notebook(BASE + "import os\n", READS), "line 4: the parameters cell holds more than"),
        (notebook(BASE + "a = b = 1\n", READS), "line 4: the parameters cell holds more than"),
        (notebook(BASE + "x = (\n", READS), "line 4: is not Python"),
    ],
)
def test_a_parameters_cell_that_cannot_be_used_is_refused(broken: Notebook, says: str) -> None:
    assert says in error(declared, broken)


def test_two_parameters_cells_and_an_executed_notebook_are_refused() -> None:
    twice = notebook(BASE, READS)
    twice.data["cells"].append(make_cell("parameters", BASE))
    assert "2 cells tagged 'parameters'" in error(declared, twice)
    executed = notebook(BASE, READS)
    executed.cells[1]["metadata"]["tags"] = ["injected-parameters"]
    assert "is an executed notebook" in error(declared, executed)


@pytest.mark.parametrize(
    "cells",
    [
        ("run = start(device, profile, seed)",),
        ("def f():\n    return seed + 1\n", "print(device, profile)"),
        ("print(f'{device} {profile} {seed}')",),
        ("%time run(device, profile, seed)",),
        ("%%time\nrun(device, profile, seed)",),
        ("%%bash\necho $device $profile $seed",),
        ("seed = seed + 1\nprint(device, profile)",),
        ("await start(device, profile, seed)",),
        ("x = [seed for seed in range(3)]\nprint(device, profile, seed)",),
    ],
)
def test_every_way_of_reading_a_parameter_counts(cells: tuple[str, ...]) -> None:
    source = notebook(BASE, *cells)
    unread(source, declared(source))


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (("print(device, profile)",), "notebooks/n.ipynb:cell 1: no cell reads the parameter 'seed'"),
        (("print(device, profile)\ndef f(seed):\n    return seed\n",), "no cell reads the parameter 'seed'"),
        (("print(device, profile)\n# seed",), "no cell reads the parameter 'seed'"),
        (("print(device)", "profile = 'ci'\nprint(profile, seed)"), "cell 3, line 1: 'profile' is a parameter and is"),
        (("print(device, profile", READS), "cell 2, line 1: is not Python"),
    ],
)
def test_a_parameter_that_does_nothing_is_refused(cells: tuple[str, ...], says: str) -> None:
    source = notebook(BASE, *cells)
    assert says in error(unread, source, declared(source))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("seed=007", 7),
        ("seed=1e3", 1000),
        ("seed=-2", -2),
        ("lr=1e-4", 1e-4),
        ("lr=3", 3.0),
        ("amp=no", False),
        ("amp=True", True),
        ("name=no", "no"),
        ("name=", ""),
        ("name=a=b", "a=b"),
        ("sizes=[3, 4]", [3, 4]),
        ("note='x'", "x"),
    ],
)
def test_a_value_has_the_type_of_the_default(option: str, value: object) -> None:
    parameters = declared(notebook(BASE + 'lr = 0.1\namp = True\nname = "x"\nsizes = [1]\nnote = None\n'))
    name, text = split_option(option)
    found = typed(name, text, parameters)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("seed=3.5", "-p seed: '3.5' is no int"),
        ("seed=many", "-p seed: 'many' is no int"),
        ("lr=fast", "-p lr: 'fast' is no number"),
        ("lr=nan", "-p lr: 'nan' is no number"),
        ("amp=2", "-p amp: '2' is no bool; give yes or no"),
        ("sizes=3", "-p sizes: '3' is no list"),
        ("sede=3", "no parameter 'sede'; did you mean 'seed'?"),
        ("seed", "'seed' has no value; write -p seed=VALUE"),
        ("=3", "has no value; write -p NAME=VALUE"),
    ],
)
def test_a_value_that_does_not_fit_is_one_line(option: str, says: str) -> None:
    parameters = declared(notebook(BASE + "lr = 0.1\namp = True\nsizes = [1]\n"))
    message = error(lambda: typed(*split_option(option), parameters))
    assert says in message
    assert "\n" not in message


def test_magic_lines_are_set_aside_and_keep_their_place() -> None:
    source, names = split_magic("if x:\n    %time f(seed)\nfiles = !ls {device}\ny = 5 % 3\n")
    assert source == "if x:\n    pass\npass\ny = 5 % 3\n"
    assert {"seed", "device"} <= names


def test_a_cell_is_called_by_its_first_line_of_code() -> None:
    assert first_line(make_cell("code", "\n# why\nx = 1\ny = 2")) == "x = 1"
    assert first_line(make_cell("code", "# only why")) == "# only why"
    assert len(first_line(make_cell("code", "x" * 100))) == 60


def test_where_a_run_goes(mini_book: MiniBook) -> None:
    def label(**request: Any) -> str:
        return plan(mini_book.project, "precision", Request(**{"given": {}, **request})).label

    assert label() == label(profile="full") == label(device="cpu") == label(given={"seed": "0"}) == "precision"
    assert label(given={"seed": "3"}) == "precision@seed=3"
    assert label(profile="smoke") == "smoke/precision"
    assert label(given={"seed": "3"}, profile="smoke") == "smoke/precision@seed=3"
    mini_book.edit("notebooks/precision.ipynb", "seed = 0", 'seed = \\"a\\"')
    odd = [label(given={"seed": text}) for text in ("../x", "..:x")]
    assert len(set(odd)) == 2
    assert not any("/" in each for each in odd)


def test_only_what_differs_from_the_defaults_is_injected(mini_book: MiniBook) -> None:
    job = plan(mini_book.project, "precision", Request({"seed": "0"}))
    assert (dict(job.injected), job.injected_at) == ({}, None)
    job = plan(mini_book.project, "precision", Request({"seed": "2"}, device="cpu", profile="full"))
    assert dict(job.injected) == {"seed": 2, "device": "cpu", "profile": "full"}
    assert job.injected_at == job.parameters.index + 1


def test_a_full_run_that_is_shown_is_not_replaced_by_a_quicker_one(mini_book: MiniBook) -> None:
    path = mini_book.executed("precision", [])
    assert plan(mini_book.project, "precision").profile == "ci"
    data = json.loads(path.read_text())
    data["metadata"]["evidence"]["profile"] = "full"
    path.write_text(json.dumps(data))
    assert plan(mini_book.project, "precision").profile == "full"
    assert plan(mini_book.project, "precision", Request({}, profile="ci")).profile == "ci"


def test_what_a_plan_refuses(mini_book: MiniBook) -> None:
    project = mini_book.project
    assert "no notebook 'precison'; did you mean 'precision'?" in error(plan, project, "precison")
    assert "use --profile" in error(plan, project, "precision", Request({"profile": "smoke"}))
    assert "unknown profile 'cl'" in error(plan, project, "precision", Request({}, profile="cl"))
    assert "unknown device 'gpu'" in error(resolve_device, "gpu")
    mini_book.edit("notebooks/precision.ipynb", '"nbformat": 4', '"nbformat": 3')
    assert "is of notebook format 3" in error(plan, project, "precision")
