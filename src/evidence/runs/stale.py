"""Is the executed notebook still what a run would give? One key, made of everything that a run depends on.

The parts of the key are kept beside it in the executed notebook, so that `--explain` can say what changed:

- the code cells with the tags that change how they run, and the values of all parameters, the device resolved;
- the files of this package that the notebook imports, directly or not, and the data that ships with them;
- the book's data files and bibliography, if the notebook reaches the modules that read them;
- `constraints.txt`; the machine class; the versions of Python and torch as installed.

Prose is not part of it: when only prose changed, the page is put together again from the outputs that are there.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from evidence.lab.device import machine_class
from evidence.library.harvest import Notebook, read_notebook, source_of
from evidence.library.project import Project, write_aside
from evidence.runs.cells import parsed, tags
from evidence.runs.imports import closure, files
from evidence.runs.plan import Job, run_of

TAGS_THAT_MATTER = {"parameters", "raises-exception", "skip-execution"}
READERS_OF_THE_BOOK = {"evidence.library.yamlsource", "evidence.library.bib"}


@dataclass(frozen=True)
class Freshness:
    """`fresh`: nothing to do; `prose`: put the page together again; `stale`: run. Reasons are for `--explain`."""

    state: Literal["fresh", "prose", "stale"]
    reasons: tuple[str, ...] = ()


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def parts(job: Job) -> dict[str, str]:
    """Everything that the outcome of a job depends on: a file's digest by its name, or a value as text."""
    modules = closure(tree for _, tree, _ in parsed(job.source))
    found = {
        "code": _code(job.source),
        "parameters": json.dumps({**job.values, "device": job.device}, sort_keys=True),
        "machine": machine_class(job.device),
        "python": platform.python_version(),
        "torch": metadata.version("torch"),
    }
    paths = {**files(modules), **_files_of(job.project, bool(READERS_OF_THE_BOOK & set(modules)))}
    return found | {name: digest(path.read_bytes()) for name, path in paths.items()}


def key_of(found: Mapping[str, str]) -> str:
    return digest(json.dumps(dict(found), sort_keys=True).encode())


def prose_of(notebook: Notebook) -> str:
    """A digest of everything in a notebook that a page shows, outputs aside."""
    kept = [{**cell, "outputs": None, "execution_count": None} for cell in notebook.cells]
    return digest(json.dumps(kept, sort_keys=True).encode())


def freshness(job: Job) -> Freshness:
    """Whether the job has to be run, and why."""
    run = run_of(job.destination)
    if not run:
        return Freshness("stale", ("no complete run is there",))
    now, then = parts(job), dict(run.get("parts", {}))
    if run.get("key") != key_of(now):
        return Freshness("stale", tuple(changes(then, now)) or ("it was run by another version",))
    if run.get("prose") != prose_of(job.source):
        return Freshness("prose", ("only prose changed",))
    return Freshness("fresh", (f"nothing changed since {run.get('finished_at', 'its run')}",))


def changes(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """What differs between the parts of two keys, in words."""
    found = []
    for name in sorted({*then, *now}):
        if then.get(name) == now.get(name):
            continue
        if name in ("parameters", "machine", "python", "torch") and name in then and name in now:
            found.append(f"{name}: {then[name]} became {now[name]}")
        else:
            word = "is new" if name not in then else "is gone" if name not in now else "changed"
            found.append(f"{name} {word}")
    return found


def republish(job: Job) -> None:
    """Put the source's prose around the outputs of the last run, whose code is the same."""
    last = read_notebook(job.destination, job.project.relative(job.destination))
    outputs = [cell for cell in last.cells if cell["cell_type"] == "code"]
    page: dict[str, Any] = deepcopy(dict(job.source.data))
    cells: list[dict[str, Any]] = []
    injected = [cell for cell in outputs if "injected-parameters" in tags(cell)]
    done = iter(cell for cell in outputs if "injected-parameters" not in tags(cell))
    for cell in page["cells"]:
        if cell["cell_type"] == "code":
            ran = next(done)
            cell |= {"outputs": ran["outputs"], "execution_count": ran["execution_count"]}
        cells.append(cell)
        if "parameters" in tags(cell):
            cells += injected
    page["cells"] = cells
    page["metadata"] = {**last.data["metadata"], **page["metadata"]}
    page["metadata"]["evidence"] = {**last.run, "prose": prose_of(job.source)}
    write_notebook(page, job.destination)


def write_notebook(data: Mapping[str, Any], path: Path) -> None:
    with write_aside(path) as aside:
        aside.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _code(notebook: Notebook) -> str:
    cells = [
        [source_of(cell), sorted(tags(cell) & TAGS_THAT_MATTER)]
        for cell in notebook.cells
        if cell.get("cell_type") == "code"
    ]
    return digest(json.dumps(cells).encode())


def _files_of(project: Project, reads_book: bool) -> dict[str, Path]:
    """The lock, and the book's data where the notebook can read it."""
    found = [project.root / "constraints.txt"]
    if reads_book:
        found += [project.bib, *sorted(project.book.rglob("*.yml"))]
    return {project.relative(path): path for path in found if path.is_file()}
