"""Completeness from replies and notebook alone: what papermill lets pass must be found."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import make_cell, make_notebook
from evidence.library.harvest import Notebook
from evidence.runs.complete import Reply, find_failure, in_source
from evidence.runs.worker import what_went_wrong

SOURCE = Notebook("n.ipynb", make_notebook([make_cell("markdown", "# T"), *(make_cell("code", t) for t in "abc")]))
GOOD = [Reply(1, 1, "ok"), Reply(2, 2, "ok"), Reply(3, 3, "ok")]


def executed(*counts: int | None) -> dict[str, Any]:
    """The source after a run, its code cells numbered as given."""
    data = make_notebook([make_cell("markdown", "# T"), *(make_cell("code", t) for t in "abc")])
    for cell, count in zip(data["cells"][1:], counts, strict=True):
        cell["execution_count"] = count
    return data


def test_a_run_to_the_last_cell_is_complete() -> None:
    assert find_failure(SOURCE, executed(1, 2, 3), GOOD, None) is None


def test_blank_cells_need_no_run() -> None:
    data = executed(1, 2, 3)
    data["cells"].append(make_cell("code", " \n"))
    assert find_failure(SOURCE, data, GOOD, None) is None


@pytest.mark.parametrize(
    ("counts", "replies", "says"),
    [
        ((1, 2, None), GOOD[:2], "cell 4 (c): did not run in order"),
        ((1, 3, 2), [GOOD[0], Reply(3, 2, "ok"), Reply(2, 3, "ok")], "cell 3 (b): did not run in order"),
        ((1, 2, 4), [*GOOD[:2], Reply(3, 4, "ok")], "cell 4 (c): ran as number 4 instead of 3"),
        ((1, 2, 2), GOOD, "cell 4 (c): ran as number 2 instead of 3"),
        ((1, 2, 3), [*GOOD[:2], Reply(3, 3, "aborted")], "cell 4 (c): the kernel answered aborted"),
        ((1, 2, 3), [*GOOD[:2], Reply(3, 3, "ok", "swallowed E")], "cell 4 (c): swallowed E"),
        ((1, 2, 3), [*GOOD, Reply(3, 4, "ok")], "4 cells ran, 3 are there"),
        ((None, None, None), [], "cell 2 (a): did not run in order"),
    ],
)
def test_what_is_missing_is_named(counts: tuple[int | None, ...], replies: list[Reply], says: str) -> None:
    assert str(find_failure(SOURCE, executed(*counts), replies, None)) == says


def test_an_error_output_and_papermills_own_mark_are_found() -> None:
    data = executed(1, 2, 3)
    data["cells"][2]["outputs"] = [{"output_type": "error", "ename": "E", "evalue": "", "traceback": []}]
    assert str(find_failure(SOURCE, data, GOOD, None)) == "cell 3 (b): shows an error"
    data = executed(1, 2, 3)
    data["metadata"]["papermill"] = {"exception": True}
    assert str(find_failure(SOURCE, data, GOOD, None)) == "papermill reports an exception"


def test_a_skipped_cell_says_why() -> None:
    data = executed(1, None, 2)
    data["cells"][2]["metadata"] = {"tags": ["skip-execution"]}
    replies = [Reply(1, 1, "ok"), Reply(3, 2, "ok")]
    assert str(find_failure(SOURCE, data, replies, None)) == "cell 3 (b): is tagged skip-execution"


def test_cells_are_counted_as_in_the_source() -> None:
    assert [in_source(index, None) for index in range(3)] == [0, 1, 2]
    assert [in_source(index, 2) for index in range(5)] == [0, 1, 1, 2, 3]


@pytest.mark.parametrize(
    ("reply", "outputs", "says"),
    [
        ({"status": "ok"}, [], ""),
        ({"status": "ok", "payload": [{"source": "ask_exit"}]}, [], "asked the kernel to exit"),
        ({"status": "error", "ename": "E", "evalue": "\x1b[31mone\ntwo"}, [], "E: one"),
        ({"status": "error", "ename": "KeyboardInterrupt", "evalue": ""}, [], "KeyboardInterrupt"),
        ({"status": "aborted"}, [], "aborted"),
        ({"status": "ok"}, [{"output_type": "error", "ename": "E", "evalue": "v"}], "swallowed E: v"),
        ({"status": "ok"}, [{"output_type": "stream", "name": "stderr", "text": "Error"}], ""),
    ],
)
def test_a_reply_in_one_line(reply: dict[str, Any], outputs: list[dict[str, Any]], says: str) -> None:
    assert what_went_wrong(reply, outputs) == says
