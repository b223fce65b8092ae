"""Where logs lie: a folder, a results repository, or an archive that is read as a stream and never unpacked.

The layout of a results repository is `SUBMITTER/results/SYSTEM/BENCHMARK/result_*.txt` with `SUBMITTER/systems/
SYSTEM.json`; any part of it may be given. The folder is trusted for names, because logs often still carry the
placeholders of a launcher.
"""

from __future__ import annotations

import json
import os
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO, Literal

from evidence.library.errors import InputError
from evidence.rounds.benchmarks import round_of, ruleset
from evidence.rounds.findings import LogFinding
from evidence.rounds.mllog import Stream

Kind = Literal["log", "system", "scaling", "other"]
ARCHIVES = (".tar", ".xz", ".gz", ".tgz", ".txz", ".bz2", ".zst")
LOG_NAME = re.compile(r"result_.*\.txt")
MAX_JSON = 1 << 20
"""Bytes of a system description or scaling file that are read."""


@dataclass(frozen=True)
class Place:
    """What a path says: `file` is the path from the submitter's folder on, or as given where there is none."""

    kind: Kind
    submitter: str
    system: str
    benchmark: str
    file: str

    @property
    def set(self) -> tuple[str, str, str]:
        """What the logs of one result have in common."""
        return self.submitter, self.system, self.benchmark


@dataclass(frozen=True)
class Entry:
    """A file with its place. `stream` can be read until the next entry is asked for."""

    place: Place
    stream: Stream

    def json(self) -> Any:
        """The content as JSON.

        Raises:
            ValueError: it is not JSON, or too large to be a description.
        """
        raw = self.stream.read(MAX_JSON + 1)
        if len(raw) > MAX_JSON:
            raise ValueError(f"more than {MAX_JSON} bytes")
        try:
            return json.loads(raw.decode("utf-8", "replace"))
        except RecursionError:
            raise ValueError("nested too deeply") from None


@dataclass(frozen=True)
class _Guarded:
    """A stream whose failures to read are bad input, said in one line."""

    stream: IO[bytes]
    path: Path

    def read(self, size: int, /) -> bytes:
        try:
            return self.stream.read(size)
        except Exception as error:  # what a damaged archive raises is up to its format
            raise _unreadable(self.path, error) from None


def locate(path: PurePosixPath) -> Place:
    """Submitter, system and benchmark by the path's position around `results/` or `systems/`."""
    parts = [part for part in path.parts if part not in ("/", ".")]
    folders = parts[:-1]
    if folders and folders[-1] == "systems" and path.suffix == ".json":
        return Place("system", (["", *folders])[-2], path.stem, "", "/".join(parts[-3:]))
    if "results" in folders:
        at = len(folders) - 1 - folders[::-1].index("results")
        submitter = folders[at - 1] if at else ""
        system, benchmark = [*folders[at + 1 : at + 3], "", ""][:2]
        file = "/".join(parts[max(0, at - 1) :])
    else:
        submitter, system, benchmark = ["", "", "", *folders][-3:]
        file = "/".join(parts)
    kind: Kind = "other"
    if LOG_NAME.fullmatch(path.name):
        kind = "log"
    elif path.name == "scaling.json":
        kind = "scaling"
    return Place(kind, submitter, system, benchmark, file)


def walk(path: Path) -> Iterator[Entry | LogFinding]:
    """Every file that matters below a folder, in an archive, or the one log given.

    What has the name of a log and is no regular file is a finding.

    Raises:
        InputError: there is no such path, it is a device or a pipe, or an archive that cannot be read to its end.
    """
    if path.is_dir():
        yield from _folder(path)
    elif path.exists() and not path.is_file():
        # A device may have no end, and nobody may ever write into a pipe.
        raise InputError("is neither a regular file nor a folder", where=str(path), mend="save the log to a file")
    elif path.suffix.lower() in ARCHIVES:
        yield from _archive(path)
    else:
        with _opened(path) as stream:
            yield Entry(replace(_place(path, path.parent), kind="log"), _Guarded(stream, path))


def _place(file: Path, root: Path) -> Place:
    """A file's place by its whole path if that goes through `results/`, otherwise from the folder given on."""
    full = file.resolve()
    if "results" in full.parent.parts or full.parent.name == "systems":
        return locate(PurePosixPath(full.as_posix()))
    return locate(PurePosixPath(root.resolve().name, file.relative_to(root).as_posix()))


def _opened(file: Path) -> BinaryIO:
    try:
        return file.open("rb")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(file)) from None


def _folder(root: Path) -> Iterator[Entry | LogFinding]:
    """By name, folder for folder. Folders that are links are left out, so that nothing is read twice or for ever."""
    waiting = _below(str(root))
    while waiting:
        here = waiting.pop()
        if _is_file(here):
            file = Path(here.path)
            with _opened(file) as stream:
                yield Entry(_place(file, root), _Guarded(stream, file))
        elif LOG_NAME.fullmatch(here.name):
            yield LogFinding("log-no-file", "error", here.path, "has the name of a log and is no regular file")
        elif here.is_dir(follow_symlinks=False):
            waiting += _below(here.path)


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Also through a link; one that leads nowhere, or round in a circle, is none."""
    try:
        return entry.is_file()
    except OSError:
        return False


def _below(folder: str) -> list[os.DirEntry[str]]:
    """What a folder holds and does not hide, the last name first."""
    try:
        with os.scandir(folder) as entries:
            shown = [entry for entry in entries if not entry.name.startswith(".")]
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=folder) from None
    return sorted(shown, key=lambda entry: entry.name, reverse=True)


def _archive(path: Path) -> Iterator[Entry]:
    try:
        with tarfile.open(path, "r|*") as archive:
            for member in archive:
                stream = archive.extractfile(member) if member.isfile() else None
                if stream is not None:
                    yield Entry(locate(PurePosixPath(member.name)), _Guarded(stream, path))
    except (tarfile.TarError, EOFError, OSError, ValueError, ArithmeticError) as error:
        raise _unreadable(path, error) from None
    except Exception as error:
        # lzma.LZMAError and zlib.error derive from nothing more narrow than Exception.
        if type(error).__module__ not in ("_lzma", "lzma", "zlib", "bz2"):
            raise
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> InputError:
    return InputError(f"cannot be read to its end ({error})", where=str(path), mend="fetch it again")


def round_for(path: Path, asked: str | None) -> str:
    """The round of a path: as asked for, else as the path's own names say.

    Raises:
        InputError: neither says one, nobody knows the rules of the one said, or there is no such path.
    """
    if not path.exists():
        raise InputError("no such file or folder", where=str(path))
    found = asked.removeprefix("v") if asked else round_of(path.name, str(path.resolve()))
    if not found:
        raise InputError("the name tells no round", where=str(path), mend="say it: --round 5.1")
    return ruleset(found).removesuffix(".0")
