"""Build the site: strictly, only when something it reads has changed, and never at the cost of the last good one.

Sphinx ties a warning to the reading of a page, so a broken book would pass the second time. Therefore the doctrees of a
build that did not succeed are thrown away, and the site is written aside and put in place only when all is well.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import distributions
from pathlib import Path

from evidence.library.errors import InputError
from evidence.library.ledger import ledger_folder
from evidence.library.load import Library
from evidence.library.project import Project, write_aside

CODE_ROOMS = ("library", "rounds", "site")
LAB = ("card.py", "plot.py")
"""What of the package makes pages; the rest of the lab only measures."""


class BuildFailed(Exception):  # noqa: N818 - it is an outcome, not a mistake in the program
    """Sphinx found fault with the book; the message holds its warnings."""


def build_site(library: Library, progress: Callable[[str], None] = lambda line: None) -> Path:
    """The built site's folder; nothing is done if nothing that it is made of has changed.

    Raises:
        InputError: unreadable data, or a page of the table of contents that does not exist.
        BuildFailed: Sphinx warned; the last good site is still in place.
    """
    from evidence.site.exports import write_exports
    from evidence.site.pages import write_pages

    project = library.project
    stamp = {"data": data_hash(project), "prose": prose_hash(project), "machinery": machinery(project)}
    work, known = work_folder(project), read_stamp(project)
    if known == stamp and (project.site / "index.html").exists():
        progress("site: nothing has changed")
        return project.site
    if known is None or known["machinery"] != stamp["machinery"]:
        shutil.rmtree(work, ignore_errors=True)
        progress("site: building all pages")
    unchanged = known is not None and (known["data"], known["machinery"]) == (stamp["data"], stamp["machinery"])
    if not unchanged or not project.generated.exists():
        written, deleted = write_pages(library)
        write_exports(library)
        progress(f"site: {len(written)} pages of the data written, {len(deleted)} deleted")
    missing_pages(project)
    stamp_file(project).unlink(missing_ok=True)
    run_sphinx(project, work)
    prune(project, work / "html")
    swap_in(project, work / "html")
    with write_aside(stamp_file(project)) as aside:
        aside.write_text(json.dumps(stamp), encoding="utf-8")
    return project.site


def work_folder(project: Project) -> Path:
    """Where Sphinx works: doctrees, configuration, and the site before it is put in place."""
    return project.build / "work"


def stamp_file(project: Project) -> Path:
    return project.build / "stamp.json"


def read_stamp(project: Project) -> dict[str, str] | None:
    """What the last build was made of; None if it did not succeed, or there was none."""
    try:
        found = json.loads(stamp_file(project).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.keys() == {"data", "prose", "machinery"} else None


def data_hash(project: Project) -> str:
    """What generated pages are made of, and which chapters there are: links to a lever lead to its chapter."""
    chapters = [project.relative(path) for path in sorted(project.book.rglob("*.md")) if is_written(project, path)]
    notebooks = [project.executed_notebook(name) for name in project.notebook_names()]
    ledger = ledger_folder(project).glob("*.jsonl")
    files = hash_of(project, [*project.book.rglob("*.yml"), *notebooks, *ledger, project.bib])
    return hashlib.sha256("\n".join([files, *chapters]).encode()).hexdigest()


def prose_hash(project: Project) -> str:
    """What people wrote below `book/`."""
    return hash_of(project, [path for path in project.book.rglob("*") if is_written(project, path)])


def is_written(project: Project, path: Path) -> bool:
    return project.generated not in path.parents


def machinery(project: Project) -> str:
    """A hash of what makes pages out of files: configuration, contents, our code, versions of all packages."""
    package = Path(__file__).parent.parent
    code = [path for room in CODE_ROOMS for path in (package / room).rglob("*") if path.suffix != ".pyc"]
    lab = [package / "lab" / name for name in LAB]
    files = [project.root / "_config.yml", project.root / "_toc.yml", *lab, *code]
    installed = sorted(f"{found.metadata['Name']}=={found.version}" for found in distributions())
    return hashlib.sha256("\n".join([hash_of(project, files), sys.version, *installed]).encode()).hexdigest()


def hash_of(project: Project, files: Sequence[Path]) -> str:
    """A hash of the names and contents of files; what is not there counts as not there."""
    found = hashlib.sha256()
    for path in sorted(path for path in files if path.is_file()):
        found.update(project.relative(path).encode() + b"\0")
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def missing_pages(project: Project) -> None:
    """Raise for a page of `_toc.yml` that does not exist: Sphinx would say so, but not how to mend it."""
    contents = parsed(project, project.root / "_toc.yml")
    for name in names_in(contents):
        if not any((project.root / f"{name}{suffix}").exists() for suffix in (".md", ".ipynb", ".rst")):
            mend = "write the page, or take it out of _toc.yml"
            if name.startswith("notebooks/_executed/"):
                mend = f"evidence run {Path(name).name}"
            elif name.startswith("book/_generated/") and project.generated.exists():
                mend = "remove book/_generated, which every build writes again, or take the page out of _toc.yml"
            raise InputError(f"no page {name}", where="_toc.yml", mend=mend)


def parsed(project: Project, path: Path) -> object:
    """The content of a YAML file that Sphinx's tools read, not our own loader.

    Raises:
        InputError: it is missing, or is not YAML in UTF-8.
    """
    import yaml

    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        place = getattr(error, "problem_mark", None)
        line = f":{place.line + 1}" if place else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise InputError(f"not readable as YAML: {problem}", where=f"{project.relative(path)}{line}") from error


def names_in(contents: object) -> Iterator[str]:
    """Every `file` and `root` of a table of contents."""
    if isinstance(contents, dict):
        yield from (str(value) for key, value in contents.items() if key in ("file", "root"))
        contents = list(contents.values())
    if isinstance(contents, list):
        for part in contents:
            yield from names_in(part)


def run_sphinx(project: Project, work: Path) -> None:
    """Build strictly in a child process; every warning fails.

    Raises:
        BuildFailed: with the warnings; the doctrees are gone, so that the next build meets them again.
    """
    conf = work / "conf"
    conf.mkdir(parents=True, exist_ok=True)
    write_conf(project, conf / "conf.py")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "-n", "--keep-going", "-q"]
    command += ["-c", str(conf), "-d", str(work / "doctrees"), str(project.root), str(work / "html")]
    env = os.environ | {"PYTHONHASHSEED": "0", "NO_COLOR": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=project.root)
    if done.returncode != 0:
        shutil.rmtree(work, ignore_errors=True)
        raise BuildFailed(told(project, done.stderr or done.stdout))


def told(project: Project, output: str) -> str:
    """Sphinx's warnings with paths as a reader would type them."""
    lines = [line.replace(f"{project.root}/", "") for line in output.splitlines() if line.strip()]
    return "\n".join(lines)


def write_conf(project: Project, path: Path) -> None:
    """Sphinx's configuration as jupyter-book makes it from `_config.yml`; unchanged text keeps its date.

    Raises:
        InputError: a key or value that jupyter-book does not know.
    """
    from jsonschema import ValidationError  # type: ignore[import-untyped]
    from jupyter_book.config import get_final_config

    source = project.root / "_config.yml"
    parsed(project, source)
    try:
        config, _ = get_final_config(
            user_yaml=source, sourcedir=project.root, cli_config={"latex_individualpages": False}, raise_on_invalid=True
        )
    except (ValidationError, ValueError) as error:
        raise InputError(str(error).splitlines()[0], where=project.relative(source)) from error
    # Sphinx looks for these beside its conf.py, which lies elsewhere.
    for key in ("html_logo", "html_favicon"):
        if config.get(key):
            config[key] = str(project.root / config[key])
    config["bibtex_bibfiles"] = [str(project.root / name) for name in config.get("bibtex_bibfiles", [])]
    text = "".join(f"{key} = {value!r}\n" for key, value in sorted(config.items()))
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def prune(project: Project, built: Path) -> None:
    """Delete pages whose source is no more; Sphinx leaves them."""
    for path in [*(built / "book").rglob("*.html"), *(built / "notebooks").rglob("*.html")]:
        source = project.root / path.relative_to(built)
        if not any(source.with_suffix(suffix).exists() for suffix in (".md", ".ipynb")):
            path.unlink()


def swap_in(project: Project, built: Path) -> None:
    """Put a copy of what was built in the place of the last good site."""
    fresh, old = project.build / "html.next", project.build / "html.old"
    for folder in (fresh, old):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(built, fresh)
    if project.site.exists():
        project.site.rename(old)
    fresh.rename(project.site)
    shutil.rmtree(old, ignore_errors=True)
