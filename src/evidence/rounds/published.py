"""The committed run table: facts from the public result logs of v4.0 to v5.1 and a sample of v6.0.

`data/runs.csv.gz` is what `evidence logs summarize … --by run` makes of the logs; `data/runs.json` records the
command, the checksum of the table and of every archive, and which repository and commit the logs came from. The logs
themselves are not here.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evidence.rounds.gather import PLACE_COLUMNS, RUN_COLUMNS, Row
from evidence.rounds.runtable import Run
from evidence.rounds.sets import ResultSet, result_sets

if TYPE_CHECKING:
    import pandas as pd

DATA = Path(__file__).parent / "data"
TABLE, ORIGIN = DATA / "runs.csv.gz", DATA / "runs.json"


def origin() -> dict[str, Any]:
    """Where the table came from: command, checksums, and per round the repository, commit, number of logs, notes."""
    found: dict[str, Any] = json.loads(ORIGIN.read_text(encoding="utf-8"))
    return found


def checksum() -> str:
    """SHA-256 of the table as it lies here; equals `origin()["sha256"]` unless somebody edited one of the two."""
    return hashlib.sha256(TABLE.read_bytes()).hexdigest()


def runs() -> pd.DataFrame:
    """The run table; `round` is text."""
    import pandas as pd

    return pd.read_csv(TABLE, dtype={"round": str, "seeds": str}, low_memory=False)


@cache
def sets() -> tuple[ResultSet, ...]:
    """The set table of the committed runs, scored and judged as `evidence logs summarize --by set` does."""
    return tuple(result_sets(rows()))


def set_frame() -> pd.DataFrame:
    """The set table as a DataFrame."""
    import pandas as pd

    return pd.DataFrame([one.as_dict() for one in sets()])


@cache
def rows() -> tuple[Row, ...]:
    """The run table as the rows that `gather` would give."""
    with gzip.open(TABLE, "rt", encoding="utf-8", newline="") as file:
        return tuple(_row(record) for record in csv.DictReader(file))


def _row(record: dict[str, str]) -> Row:
    place = {name: _typed(_TYPES[name], record[name]) for name in PLACE_COLUMNS}
    facts = {name: _typed(_TYPES[name], record[name]) for name in RUN_COLUMNS}
    return Row(**place, run=Run(benchmark=place["benchmark"], **facts))


_TYPES = {field.name: str(field.type) for of in (Row, Run) for field in fields(of)}


def _typed(kind: str, text: str) -> Any:
    """A CSV cell as the field's type says; an empty cell of an optional field is None."""
    if not text and "None" in kind:
        return None
    if kind.startswith("int"):
        return int(text)
    return float(text) if kind.startswith("float") else text
