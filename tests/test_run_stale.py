"""The key of a run: what changes it, what does not, and what `--explain` says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import MiniBook
from evidence.runs import imports
from evidence.runs.imports import closure, files
from evidence.runs.plan import Request, plan, resolve_device
from evidence.runs.stale import changes, freshness, key_of, parts, prose_of


def run_by_hand(book: MiniBook, **request: object) -> None:
    """Mark the executed notebook as the complete run of the present state."""
    job = plan(book.project, "precision", Request(**{"given": {}, **request}))  # type: ignore[arg-type]
    found = parts(job)
    about = {"complete": True, "key": key_of(found), "parts": found, "prose": prose_of(job.source)}
    data = json.loads(json.dumps(job.source.data))
    data["metadata"]["evidence"] = {**about, "profile": job.profile, "finished_at": "2026-11-29"}
    book.write(f"notebooks/_executed/{job.label}.ipynb", json.dumps(data))


def state(book: MiniBook, **request: object) -> tuple[str, ...]:
    found = freshness(plan(book.project, "precision", Request(**{"given": {}, **request})))  # type: ignore[arg-type]
    return (found.state, *found.reasons)


@pytest.fixture
def fresh(mini_book: MiniBook) -> MiniBook:
    mini_book.write("constraints.txt", "torch==2.13.0\n")
    run_by_hand(mini_book)
    assert state(mini_book) == ("fresh", "nothing changed since 2026-11-29")
    return mini_book


def test_no_run_and_an_incomplete_run_are_stale(mini_book: MiniBook) -> None:
    assert state(mini_book) == ("stale", "no complete run is there")
    mini_book.executed("precision", [], complete=False)
    assert state(mini_book) == ("stale", "no complete run is there")
    mini_book.write("notebooks/_executed/precision.ipynb", "{ half")
    assert state(mini_book) == ("stale", "no complete run is there")
    mini_book.executed("precision", [])
    assert state(mini_book)[0] == "stale"


def test_code_is_part_of_the_key_and_prose_is_not(fresh: MiniBook) -> None:
    fresh.edit("notebooks/precision.ipynb", "Precision, measured", "Precision, once more")
    assert state(fresh) == ("prose", "only prose changed")
    fresh.edit("notebooks/precision.ipynb", "bound=2.0", "bound=2.5")
    assert state(fresh) == ("stale", "code changed")


def test_tags_that_change_the_run_are_part_of_the_key(fresh: MiniBook) -> None:
    path = fresh.project.notebook("precision")
    data = json.loads(path.read_text())
    data["cells"][-1]["metadata"]["tags"] = ["hide-input"]
    path.write_text(json.dumps(data))
    assert state(fresh)[0] == "prose"
    data["cells"][-1]["metadata"]["tags"] = ["skip-execution"]
    path.write_text(json.dumps(data))
    assert state(fresh)[0] == "stale"


def test_parameters_profile_and_device_are_part_of_the_key(fresh: MiniBook) -> None:
    here = resolve_device("auto")
    kind, reason = state(fresh, profile="full")
    assert kind == "stale"
    assert reason.startswith(f'parameters: {{"device": "{here}", "profile": "ci", "seed": 0}} became')
    assert state(fresh, given={"seed": "1"}) == ("stale", "no complete run is there")
    assert state(fresh, device=here)[0] == "fresh"


def test_the_lock_is_part_of_the_key(fresh: MiniBook) -> None:
    fresh.append("constraints.txt", "numpy==2.0\n")
    assert state(fresh) == ("stale", "constraints.txt changed")
    (fresh.root / "constraints.txt").unlink()
    assert state(fresh) == ("stale", "constraints.txt is gone")


def test_the_books_data_counts_only_where_the_notebook_reads_it(fresh: MiniBook) -> None:
    fresh.append("book/levers/precision.yml", "\n# a remark\n")
    assert state(fresh)[0] == "fresh"
    fresh.edit("notebooks/precision.ipynb", "import start", "import start\\nfrom evidence.library.load import load")
    run_by_hand(fresh)
    fresh.append("book/levers/precision.yml", "# another remark\n")
    assert state(fresh) == ("stale", "book/levers/precision.yml changed")


def test_a_notebook_depends_on_what_it_imports_and_on_nothing_above(fresh: MiniBook) -> None:
    names = set(parts(plan(fresh.project, "precision")))
    assert {"evidence/lab/effect.py", "evidence/lab/stats.py", "evidence/library/models.py"} <= names
    assert {"evidence/runs/environment.py", "evidence/__init__.py"} <= names
    above = ("evidence/cli/", "evidence/site/", "evidence/checks/", "evidence/rounds/", "evidence/runs/execute")
    assert not [name for name in names if name.startswith(above)]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of our name in a temporary folder, for what a change in it does."""
    root = tmp_path / "evidence"
    texts = {
        "__init__.py": "",
        "runs/__init__.py": "",
        "runs/environment.py": "",
        "runs/kernel.py": "from evidence.runs.environment import x",
        "lab/__init__.py": "",
        "lab/a.py": "def f():\n    from evidence.lab import b\n",
        "lab/b.py": "NAME = 'evidence.lab.c'",
        "lab/c.py": "",
        "lab/table.csv.gz": "data",
        "lab/unrelated.py": "",
        "rounds/__init__.py": "",
        "rounds/table.json": "{}",
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.setattr(imports, "package_root", lambda: root)
    return root


def test_imports_are_followed_through_functions_strings_and_packages(package: Path) -> None:
    import ast

    reached = closure([ast.parse("import evidence.lab.a, torch\nfrom evidence.lab.nowhere import x")])
    assert [name for name in reached if ".lab." in name] == ["evidence.lab.a", "evidence.lab.b", "evidence.lab.c"]
    names = set(files(reached))
    assert {"evidence/lab/table.csv.gz", "evidence/runs/kernel.py"} <= names
    assert not {"evidence/lab/unrelated.py", "evidence/rounds/table.json"} & names
    (package / "lab" / "c.py").write_text("import evidence.rounds")
    assert "evidence/rounds/table.json" in files(closure([ast.parse("import evidence.lab.a")]))


def test_changes_are_said_in_words() -> None:
    then = {"torch": "2.12", "code": "a", "old.py": "x"}
    now = {"torch": "2.13", "code": "b", "new.py": "x"}
    assert changes(then, now) == ["code changed", "new.py is new", "old.py is gone", "torch: 2.12 became 2.13"]
    assert changes(now, now) == []
