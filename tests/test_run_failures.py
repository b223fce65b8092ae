"""Runs that must not count: each names the cell, keeps log and notebook aside, and leaves the earlier run alone."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from conftest import MINI, MiniBook, make_cell
from evidence.library.harvest import harvest
from evidence.runs.execute import Outcome
from evidence.runs.plan import Request, plan
from evidence.runs.pool import run_jobs
from evidence.runs.progress import Lines

pytestmark = pytest.mark.notebook

PARAMETERS = ("parameters", 'device = "auto"\nprofile = "ci"\nseed = 0')
READS = ("code", "print(device, profile, seed)")
AFTER = ("code", "print('after')")


@dataclass(frozen=True)
class Case:
    """Cells after the first two, and what the failure must say."""

    name: str
    cells: tuple[object, ...]
    says: str
    given: tuple[tuple[str, str], ...] = ()
    limit: float | None = None
    cell_limit: float | None = None


def tagged(tag: str, source: str) -> dict[str, object]:
    return {**make_cell("code", source), "metadata": {"tags": [tag]}}


CASES = [
    Case("raises", (("code", "# why\nx = 1 / 0"), AFTER), "cell 4 (x = 1 / 0): ZeroDivisionError: division by zero"),
    Case("raises-with-p", (("code", "x = 1 / 0"),), "cell 4 (x = 1 / 0): ZeroDivisionError", given=(("seed", "3"),)),
    Case("killed", (("code", "import os; os.kill(os.getpid(), 9)"), AFTER), "cell 4 (import os; os.kill(os.getpid()"),
    Case("exits", (("code", "import sys; sys.exit(0)"), AFTER), "cell 4 (import sys; sys.exit(0)): SystemExit: 0"),
    Case("leaves", (("code", "exit()"), AFTER), "cell 4 (exit()): asked the kernel to exit"),
    Case("gone", (AFTER, ("code", "import os; os._exit(0)")), "the kernel ended in the middle of the cell"),
    Case(
        "orphan", (("code", "import os, time; os.kill(os.getppid(), 9); time.sleep(60)"),), "worker ended early (exit"
    ),
    Case("asks", (("code", "input()"),), "cell 4 (input()): StdinNotImplementedError"),
    Case("captured", (("code", "%%capture\n1 / 0"), AFTER), "cell 4 (%%capture): swallowed ZeroDivisionError"),
    Case("timed", (("code", "%%time\nassert False"), AFTER), "cell 4 (%%time): AssertionError"),
    Case("allowed", (tagged("raises-exception", "1 / 0"), AFTER), "cell 4 (1 / 0): ZeroDivisionError"),
    Case("skipped", (tagged("skip-execution", "x = 1"), AFTER), "cell 4 (x = 1): is tagged skip-execution"),
    Case("hangs", (("code", "import time; time.sleep(60)"),), "ran past the limit of 3 s for a cell", cell_limit=3),
    Case("long", (("code", "import time; time.sleep(60)"),), "the notebook ran past its limit of 4 s", limit=4),
]
NAMES = [case.name for case in CASES]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[MiniBook, dict[str, Outcome]]:
    """All cases in one go, each with an earlier executed notebook in place."""
    root = tmp_path_factory.mktemp("failures") / "book"
    shutil.copytree(MINI, root)
    book = MiniBook(root)
    jobs = []
    for case in CASES:
        book.notebook(case.name, [("markdown", "# T"), PARAMETERS, READS, *case.cells])  # type: ignore[list-item]
        request = Request(dict(case.given), limit=case.limit, cell_limit=case.cell_limit)
        job = plan(book.project, case.name, request)
        job.destination.parent.mkdir(parents=True, exist_ok=True)
        job.destination.write_text("earlier")
        jobs.append(job)
    outcomes = run_jobs(jobs, Lines(), at_once=2)
    return book, dict(zip(NAMES, outcomes, strict=True))


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_run_that_must_not_count(ran: tuple[MiniBook, dict[str, Outcome]], case: Case) -> None:
    outcome = ran[1][case.name]
    job = outcome.job
    assert outcome.state == "failed"
    assert case.says in str(outcome)
    assert outcome.failure is not None
    assert "\n" not in str(outcome)
    assert f"log notebooks/_executed/logs/{job.label}.log" in str(outcome)
    assert job.destination.read_text() == "earlier"
    kept = json.loads(job.failed.read_text())["metadata"]["evidence"]
    assert kept["complete"] is False
    assert case.says in kept["failure"]
    assert "Executing Cell" in job.log.read_text()


def test_the_log_has_the_traceback(ran: tuple[MiniBook, dict[str, Outcome]]) -> None:
    log = ran[1]["raises"].job.log.read_text()
    assert "----> 2 x = 1 / 0" in log
    assert "\x1b" not in log


def test_a_killed_kernel_is_told_from_one_that_ended(ran: tuple[MiniBook, dict[str, Outcome]]) -> None:
    assert "SIGKILL; most often the machine ran out of memory" in str(ran[1]["killed"])
    assert "exit status 0" in str(ran[1]["gone"])


def test_nothing_is_left_running(ran: tuple[MiniBook, dict[str, Outcome]]) -> None:
    mine = {str(ran[0].project.notebooks)}
    left = [process for process in psutil.process_iter(["cwd"]) if process.info["cwd"] in mine]
    assert left == []


def test_what_failed_is_no_record(ran: tuple[MiniBook, dict[str, Outcome]], tmp_path: Path) -> None:
    for name in NAMES:
        ran[1][name].job.destination.write_text(ran[1][name].job.failed.read_text())
    found = harvest(ran[0].project)
    assert not found.records
    assert set(found.incomplete) >= set(NAMES) - {"raises-with-p"}
