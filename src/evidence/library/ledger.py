"""Records kept over time: `records/ledger/<machine class>.jsonl`, one record a line, oldest first.

The executed notebook is the record of now; the ledger is what a machine that is elsewhere, or a version that is past,
has found. Only what was measured goes in.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from evidence.library.errors import InputError
from evidence.library.models import Record
from evidence.library.project import Project, write_aside


def ledger_folder(project: Project) -> Path:
    return project.records / "ledger"


def ledger_file(project: Project, machine_class: str) -> Path:
    """The file of a machine class.

    Raises:
        InputError: the class is no word that a file could be named by.
    """
    if not re.fullmatch(r"[a-z0-9][a-z0-9_.-]*", machine_class):
        raise InputError(f"{machine_class!r} is no machine class", mend="run the notebook again on its machine")
    return ledger_folder(project) / f"{machine_class}.jsonl"


def read_ledger(path: Path, name: str) -> list[Record]:
    """The records of one file; `name` is how messages call it.

    Raises:
        InputError: unreadable, or a line that is no record; names the line.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise InputError(f"cannot be read: {reason}", name, "give a file of records/ledger") from error
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(Record.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(step) for step in first["loc"])
            where = f"{name}:{number}" + (f": {field}" if field else "")
            raise InputError(f"is no record: {first['msg']}", where, "take the line out") from error
    return found


def latest(records: Iterable[Record]) -> dict[str, Record]:
    """The newest record of every effect."""
    found: dict[str, Record] = {}
    for record in records:
        if record.id not in found or record.measured_at >= found[record.id].measured_at:
            found[record.id] = record
    return found


def everywhere(project: Project) -> dict[str, dict[str, Record]]:
    """The newest record of every effect by machine class: class → effect → record."""
    files = sorted(ledger_folder(project).glob("*.jsonl"))
    return {path.stem: latest(read_ledger(path, project.relative(path))) for path in files}


def append(project: Project, records: Iterable[Record]) -> dict[Path, int]:
    """Append what was measured and is not there yet; each file is written aside and renamed.

    Returns:
        How many records each file of a machine class among `records` gained; 0 where all were there.

    Raises:
        InputError: a ledger that cannot be read, or a record without a machine class; nothing is written then.
    """
    by_file: dict[Path, list[Record]] = defaultdict(list)
    for record in records:
        if record.verdict != "not-measured":
            by_file[ledger_file(project, record.machine.get("class", ""))].append(record)
    merged: dict[Path, tuple[list[Record], int]] = {}
    for path, new in by_file.items():
        old = read_ledger(path, project.relative(path)) if path.exists() else []
        known = {(record.id, record.measured_at) for record in old}
        fresh = [record for record in new if (record.id, record.measured_at) not in known]
        merged[path] = (sorted([*old, *fresh], key=lambda record: record.measured_at), len(fresh))
    for path, (all_of_it, gained) in merged.items():
        if gained:
            with write_aside(path) as aside:
                aside.write_text("".join(_line(record) for record in all_of_it), encoding="utf-8")
    return {path: gained for path, (_, gained) in merged.items()}


def _line(record: Record) -> str:
    return json.dumps(record.model_dump(mode="json"), ensure_ascii=False) + "\n"
