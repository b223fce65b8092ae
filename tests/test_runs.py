"""Runs that count: the environment they get, what they leave, and when they are made again."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import MINI, MiniBook, Ran
from evidence.lab.device import PINNED_ALLOCATOR
from evidence.library.harvest import harvest
from evidence.runs.execute import Outcome
from evidence.runs.plan import Request, plan
from evidence.runs.pool import run_jobs
from evidence.runs.progress import Lines
from evidence.runs.stale import freshness

pytestmark = pytest.mark.notebook

PARAMETERS = ("parameters", 'device = "auto"\nprofile = "ci"\nseed = 0')
ENVIRONMENT = """
import json, os, sys, evidence
print(json.dumps({"executable": sys.executable, "package": evidence.__file__, "cwd": os.getcwd(),
                  "seed": seed, "device": device, "profile": profile, **os.environ}))
"""
JUDGE = """
from evidence.lab.device import Run
from evidence.lab.effect import Effect
effect = Effect("tiny/count", "Two is two", "exact", "equal", 2, fault="one more")
effect.judge(Run("cpu", profile, seed, {"class": "cpu-test", "name": "test"}), [2], control=[3])
"""
CELLS = [("markdown", "# T"), PARAMETERS, ("code", ENVIRONMENT), ("markdown", "Then"), ("code", JUDGE)]


def run(book: MiniBook, **request: object) -> Outcome:
    job = plan(book.project, "tiny", Request(**{"given": {}, **request}))  # type: ignore[arg-type]
    return run_jobs([job], Lines())[0]


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> MiniBook:
    """A book whose notebook `tiny` has been run, once for the tests that only look."""
    root = tmp_path_factory.mktemp("runs") / "book"
    shutil.copytree(MINI, root)
    (root / "notebooks" / "precision.ipynb").unlink()
    book = MiniBook(root)
    book.notebook("tiny", CELLS)
    assert run(book).state == "ran"
    return book


@pytest.fixture
def book(once: MiniBook, tmp_path: Path) -> MiniBook:
    """A copy of it to change."""
    shutil.copytree(once.root, tmp_path / "copy")
    return MiniBook(tmp_path / "copy")


def printed(path: Path, cell: int) -> dict[str, str]:
    outputs = json.loads(path.read_text())["cells"][cell]["outputs"]
    found: dict[str, str] = json.loads("".join(outputs[0]["text"]))
    return found


def test_the_kernel_is_this_interpreter_in_a_set_environment(once: MiniBook) -> None:
    found = printed(once.project.executed_notebook("tiny"), 2)
    assert found["executable"] == sys.executable
    assert found["package"] == sys.modules["evidence"].__file__
    assert found["cwd"] == str(once.project.notebooks)
    assert found["EVIDENCE_ROOT"] == str(once.root)
    assert PINNED_ALLOCATOR.items() <= found.items()
    assert (found["OMP_NUM_THREADS"], found["MKL_NUM_THREADS"], found["PYTHONHASHSEED"]) == ("1", "1", "0")
    assert found["MPLBACKEND"] == "module://matplotlib_inline.backend_inline"
    assert not Path(found["IPYTHONDIR"]).exists()


def test_what_a_complete_run_leaves(once: MiniBook) -> None:
    path = once.project.executed_notebook("tiny")
    about = json.loads(path.read_text())["metadata"]["evidence"]
    assert about["complete"] is True
    assert about["parameters"] == {"device": "auto", "profile": "ci", "seed": 0}
    assert (about["profile"], about["device"]) == ("ci", plan(once.project, "tiny").device)
    assert {"key", "parts", "prose", "seconds", "finished_at"} <= set(about)
    found = harvest(once.project)
    assert found.records["tiny/count"].verdict == "holds"
    assert sorted(each.name for each in once.project.executed.iterdir()) == ["logs", "tiny.ipynb"]
    papermill = json.loads(path.read_text())["metadata"]["papermill"]
    assert papermill["input_path"] == "notebooks/tiny.ipynb"


def test_an_unchanged_notebook_is_not_run_again(book: MiniBook) -> None:
    path = book.project.executed_notebook("tiny")
    before = path.stat().st_mtime_ns
    assert run(book).state == "fresh"
    assert path.stat().st_mtime_ns == before


def test_new_prose_is_published_without_a_run(book: MiniBook) -> None:
    path = book.project.executed_notebook("tiny")
    before = json.loads(path.read_text())
    book.notebook("tiny", [("markdown", "# New title"), *CELLS[1:3], ("code", " "), CELLS[4], ("markdown", "End")])
    book.notebook("tiny", [("markdown", "# New title"), *CELLS[1:3], CELLS[4], ("markdown", "End")])
    assert run(book).state == "prose"
    after = json.loads(path.read_text())
    sources = ["".join(cell["source"]) for cell in after["cells"]]
    assert (sources[0], sources[-1], len(sources)) == ("# New title", "End", 5)
    assert printed(path, 2) == {**printed(book.project.executed_notebook("tiny"), 2)}
    assert after["cells"][3]["outputs"] == before["cells"][4]["outputs"]
    assert after["metadata"]["evidence"]["finished_at"] == before["metadata"]["evidence"]["finished_at"]
    assert harvest(book.project).records["tiny/count"].verdict == "holds"
    assert run(book).state == "fresh"


def test_a_variant_goes_beside_and_smoke_into_its_own_folder(book: MiniBook) -> None:
    shown = book.project.executed_notebook("tiny").read_bytes()
    assert run(book, given={"seed": "3"}, profile="smoke").state == "ran"
    path = book.project.executed / "smoke" / "tiny@seed=3.ipynb"
    assert (printed(path, 3)["seed"], printed(path, 3)["profile"]) == (3, "smoke")
    assert book.project.executed_notebook("tiny").read_bytes() == shown
    assert harvest(book.project).records["tiny/count"].profile == "ci"


def test_a_failed_run_leaves_the_earlier_one_and_fails_again(book: MiniBook) -> None:
    path = book.project.executed_notebook("tiny")
    before = path.read_bytes()
    book.notebook("tiny", [*CELLS, ("code", "1 / 0")])
    for _ in range(2):
        outcome = run(book)
        assert "cell 6 (1 / 0): ZeroDivisionError" in str(outcome)
        assert path.read_bytes() == before
        assert outcome.job.failed.exists()
    book.notebook("tiny", CELLS)
    job = plan(book.project, "tiny")
    assert freshness(job).state == "fresh"
    assert run_jobs([job], Lines(), force=True)[0].state == "ran"
    assert not job.failed.exists()


def test_the_command_runs_sweeps_and_explains(
    book: MiniBook, evidence: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch, mini_book: MiniBook
) -> None:
    shutil.rmtree(mini_book.root)
    shutil.copytree(book.root, mini_book.root)
    swept = evidence("run", "tiny", "--sweep", "seed=0,2")
    assert swept.code == 0
    words = swept.out.replace("─", "").split()
    assert words == ["effect", "seed=0", "seed=2", "tiny/count", "holds", "2", "holds", "2"]
    assert "tiny: fresh" in swept.err
    assert "tiny@seed=2: code cell 4/4" in swept.err
    assert "tiny@seed=2: 1 effect: 1 holds" in swept.err
    explained = evidence("run", "--explain", "-p", "seed=5")
    assert explained.out == "tiny@seed=5: stale\n  no complete run is there\n"
    mini_book.edit("notebooks/tiny.ipynb", "Two is two", "One and one")
    explained = evidence("run", "--explain")
    assert explained.out == "tiny: stale\n  code changed\n"
