"""The committed run table: whole, what its record says, and free of what does not belong there."""

from __future__ import annotations

import gzip
import re

from evidence.rounds import published
from evidence.rounds.gather import COLUMNS


def test_the_table_is_the_one_that_was_recorded() -> None:
    said = published.origin()
    assert published.checksum() == said["sha256"]
    assert len(published.rows()) == said["rows"] == sum(each["logs"] for each in said["rounds"].values())
    assert {row.round for row in published.rows()} == set(said["rounds"])
    assert all(each["repository"] and each["note"] for each in said["rounds"].values())


def test_the_file_is_reproducible_and_names_no_machine() -> None:
    data = published.TABLE.read_bytes()
    assert data[4:8] == b"\0\0\0\0" and len(data) < 600_000  # no time stamp in the header; small enough for git
    text = gzip.decompress(data).decode()
    assert text.splitlines()[0] == ",".join(COLUMNS)
    assert not re.search(r"(^|[\s,])/(work|tmp|root|home)/", text)


def test_frame_and_rows_tell_the_same() -> None:
    frame, rows = published.runs(), published.rows()
    assert len(frame) == len(rows)
    assert list(frame["file"]) == [row.file for row in rows]
    assert frame["run_s"].fillna(0).tolist() == [row.run.run_s or 0 for row in rows]
    assert frame["round"].tolist() == [row.round for row in rows]


def test_time_is_accounted_for_in_every_run() -> None:
    """Training, waiting and the rest make up the run, to the millisecond of each rounded part."""
    told = [row.run for row in published.rows() if row.run.eval_blocking_s is not None and row.run.run_s]
    assert len(told) > 4000
    for run in told:
        parts = (run.train_s or 0) + (run.eval_blocking_s or 0) + (run.uncovered_s or 0)
        assert abs(parts - (run.run_s or 0)) < 0.01, run


def test_every_complete_set_of_the_packed_rounds_is_judged() -> None:
    """The checker's verdict on all of these sets was compared with ours when the table was made (perf/logs.py)."""
    complete = [one for one in published.sets() if one.round != "6.0"]
    assert len(complete) == 656
    assert sum(one.rcp_pass is True for one in complete) == 655
    (missing,) = [one for one in complete if not one.rcp_pass]
    assert (missing.submitter, missing.benchmark) == ("Dell", "ssd") and "Missing RCP" in missing.rcp


def test_the_v6_sample_says_that_it_is_one() -> None:
    sample = [row for row in published.rows() if row.round == "6.0"]
    assert len(sample) == 56
    assert sum(row.run.evals is None for row in sample) > 30
    assert "sample" in published.origin()["rounds"]["6.0"]["note"]
