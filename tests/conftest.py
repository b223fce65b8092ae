"""A tiny whole book in a temporary folder, valid as it stands; a test breaks the one thing that it is about."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evidence.cli import main
from evidence.lab.device import Run
from evidence.lab.effect import Effect
from evidence.library.load import Library, load
from evidence.library.models import EFFECT_MIME
from evidence.library.project import Project

MINI = Path(__file__).parent / "data" / "mini"


@dataclass(frozen=True)
class MiniBook:
    """A copy of `tests/data/mini`: one lever, one round, two sources, one chapter, one notebook with one effect."""

    root: Path

    @property
    def project(self) -> Project:
        return Project(self.root)

    def load(self) -> Library:
        return load(self.project)

    def text(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target

    def append(self, path: str, text: str) -> None:
        self.write(path, self.text(path) + text)

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace `old`, which must be there exactly once: a test that edits nothing tests nothing."""
        text = self.text(path)
        assert text.count(old) == 1, f"{path} has {old!r} {text.count(old)} times"
        self.write(path, text.replace(old, new))

    def notebook(self, stem: str, cells: Sequence[tuple[str, str] | dict[str, Any]]) -> Path:
        """Write a notebook of cells: `("markdown", text)`, `("code", text)`, `("parameters", text)` or a whole cell."""
        made = [each if isinstance(each, dict) else make_cell(*each) for each in cells]
        return self.write(f"notebooks/{stem}.ipynb", json.dumps(make_notebook(made)))

    def executed(self, stem: str, displays: Sequence[dict[str, Any]], complete: bool = True) -> Path:
        """Write what a run leaves: one code cell per display bundle, and the mark of a complete run."""
        cells = []
        for bundle in displays:
            cell = make_cell("code", "effect.judge(run, samples, control=control)")
            cell["outputs"] = [{"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": bundle}]
            cells.append(cell)
        notebook = make_notebook(cells)
        notebook["metadata"]["evidence"] = {"complete": complete, "key": "k", "profile": "ci", "parameters": {}}
        return self.write(f"notebooks/_executed/{stem}.ipynb", json.dumps(notebook))


def make_cell(kind: str, source: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": "markdown" if kind == "markdown" else "code", "metadata": {}, "source": source}
    if cell["cell_type"] == "code":
        cell |= {"outputs": [], "execution_count": None}
        cell["metadata"] = {"tags": ["parameters"]} if kind == "parameters" else {}
    return cell


def make_notebook(cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    numbered = [{"id": f"cell-{index}", **cell} for index, cell in enumerate(cells)]
    return {"cells": numbered, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def measured(
    name: str = "precision/rounding",
    claims: Sequence[str] = ("doe2024-rounding",),
    samples: Sequence[float] = (3.0, 3.1, 3.2),
    control: Sequence[float] = (1.0, 1.01, 1.02),
) -> dict[str, Any]:
    """What a notebook cell displays for a speed-up of about three: real judgement of given samples."""
    effect = Effect(
        id=name, title="Rounding helps", kind="ratio", direction="above", bound=2.0, null=1.1, unit="×",
        fault="rounding off", claims=claims, techniques=["rounding"], cited=3.5,
    )  # fmt: skip
    run = Run(device="cpu", profile="ci", seed=0, machine={"class": "cpu-test", "name": "test"}, versions={})
    bundle = effect.judge(run, samples, control=control)._repr_mimebundle_()
    assert EFFECT_MIME in bundle
    return bundle


@pytest.fixture
def mini_book(tmp_path: Path) -> MiniBook:
    """A valid tiny book, not yet executed. `mini_book.executed("precision", [measured()])` adds a run."""
    root = tmp_path / "book"
    shutil.copytree(MINI, root)
    return MiniBook(root)


@dataclass(frozen=True)
class Ran:
    """What a command left: exit code, stdout and stderr."""

    code: int
    out: str
    err: str


@pytest.fixture
def evidence(
    mini_book: MiniBook, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ran]:
    """`evidence("check", "--format", "json")` on the mini book, in this process and through `main`."""

    def run(*arguments: str) -> Ran:
        monkeypatch.setenv("EVIDENCE_ROOT", str(mini_book.root))
        monkeypatch.setattr(sys, "argv", ["evidence", *arguments])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as error:
            code = int(error.code or 0)
        return Ran(code, *capsys.readouterr())

    return run


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Tensors this small lose by a second thread, the more so beside another process."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def site_book(tmp_path_factory: pytest.TempPathFactory) -> MiniBook:
    """The tiny book, furnished and built once; its site is `site_book.project.site`. Look, do not change."""
    from sitebook import build, furnish

    root = tmp_path_factory.mktemp("site") / "book"
    shutil.copytree(MINI, root)
    book = furnish(MiniBook(root))
    build(book)
    return book
