"""Where things lie in a checkout. Every other module asks here, so that no path is spelt twice."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from evidence.library.errors import InputError


@dataclass(frozen=True)
class Project:
    """The folders and files of one checkout of the book."""

    root: Path

    @property
    def book(self) -> Path:
        return self.root / "book"

    @property
    def generated(self) -> Path:
        """Pages written from data at every build; not in git."""
        return self.book / "_generated"

    @property
    def notebooks(self) -> Path:
        return self.root / "notebooks"

    @property
    def executed(self) -> Path:
        """What papermill wrote. Outside `_build`, because Sphinx drops pages below a folder of that name."""
        return self.notebooks / "_executed"

    @property
    def records(self) -> Path:
        return self.root / "records"

    @property
    def expected(self) -> Path:
        return self.records / "expected.yml"

    @property
    def bib(self) -> Path:
        return self.root / "references.bib"

    @property
    def build(self) -> Path:
        return self.root / "_build"

    @property
    def site(self) -> Path:
        """The last good site."""
        return self.build / "html"

    def notebook(self, name: str) -> Path:
        return self.notebooks / f"{name}.ipynb"

    def executed_notebook(self, name: str) -> Path:
        return self.executed / f"{name}.ipynb"

    def notebook_names(self) -> list[str]:
        return sorted(path.stem for path in self.notebooks.glob("*.ipynb"))

    def relative(self, path: Path) -> str:
        """The path as a reader would type it from the root."""
        try:
            return path.resolve().relative_to(self.root.resolve()).as_posix()
        except ValueError:
            return str(path)


def find_project(start: Path | None = None) -> Project:
    """The checkout around `start` (default: `EVIDENCE_ROOT`, else the current folder).

    Raises:
        InputError: no `_config.yml` beside a `book/` folder at or above `start`.
    """
    origin = Path(start or os.environ.get("EVIDENCE_ROOT") or Path.cwd()).resolve()
    for folder in [origin, *origin.parents]:
        if (folder / "_config.yml").is_file() and (folder / "book").is_dir():
            return Project(folder)
    raise InputError(
        "no book here: _config.yml and book/ were not found in this folder or above",
        where=str(origin),
        mend="run inside a checkout, or set EVIDENCE_ROOT",
    )


def read_text(path: Path, name: str) -> str:
    """The text of a file; `name` is how messages call it.

    Raises:
        InputError: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=name) from error
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 at byte {error.start}", where=name, mend="save it as UTF-8") from error


@contextmanager
def write_aside(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success it is flushed and renamed over `path`.

    A reader therefore sees the old file or the new one, never half of it; on an exception the old file stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield aside
        with aside.open("rb+") as handle:
            os.fsync(handle.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
