"""`evidence logs` as a user calls it: what goes to stdout, what to stderr, and the exit codes."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evidence.cli import build_app
from evidence.library.errors import InputError
from evidence.rounds.gather import COLUMNS
from mllogs import lora, write_set

ASKED = (
    "round", "submitter", "system", "benchmark", "division", "accelerators", "global_batch_size", "runs", "converged",
    "time_to_train_min", "convergence", "rcp_mean", "rcp_min_mean", "rcp_pass", "normalisation", "score_min",
    "eval_share", "init_s_median",
)  # fmt: skip


RAISE = {"catch_exceptions": False}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_set(tmp_path / "v5.1", [3072] * 10)
    return tmp_path / "v5.1"


def call(*words: object, code: int = 0) -> tuple[str, str]:
    result = CliRunner().invoke(build_app(), ["logs", *map(str, words)])
    assert result.exit_code == code, (result.output, result.exception)
    return result.stdout, result.stderr


def test_summarize_by_set_has_what_was_promised(root: Path) -> None:
    out, _ = call("summarize", root, "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(out))
    assert set(ASKED) <= set(row)
    assert (row["round"], row["rcp_pass"], row["converged"]) == ("5.1", "True", "10")
    assert float(row["score_min"]) == pytest.approx(float(row["time_to_train_min"]) * 3178.6667 / 3072, rel=1e-5)


def test_json_is_all_of_stdout_and_has_no_infinities(root: Path) -> None:
    for words in (["summarize", root], ["summarize", root, "--by", "run"], ["compare", root, root]):
        out, _ = call(*words, "--format", "json")
        assert json.loads(out, parse_constant=lambda name: pytest.fail(name))
    out, _ = call("window", root, "--runs", 5, "--format", "json")
    assert json.loads(out)["needed"] == 5
    out, _ = call("check", root, "--format", "json")
    assert [f["rule"] for f in json.loads(out)["findings"]] == ["score-scaling"]


def test_by_run_gives_every_column(root: Path) -> None:
    out, _ = call("summarize", root, "--by", "run", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert tuple(rows[0]) == COLUMNS and len(rows) == 10


def test_an_output_file_is_the_same_every_time(root: Path, tmp_path: Path) -> None:
    files = [tmp_path / "a.csv.gz", tmp_path / "b.csv.gz"]
    for file in files:
        out, _ = call("summarize", root, "--by", "run", "--format", "csv", "--output", file)
        assert out == ""
    assert files[0].read_bytes() == files[1].read_bytes()
    assert gzip.decompress(files[0].read_bytes()).startswith(b"round,submitter")


def test_findings_go_to_stderr(root: Path) -> None:
    log = root / "Acme" / "results" / "box" / "llama2_70b_lora" / "result_3.txt"
    log.write_bytes(log.read_bytes() + b":::MLLOG {\n")
    out, err = call("summarize", root)
    assert "record-damaged" in err and "result_3.txt:" in err and "record-damaged" not in out


def test_check_exits_1_on_errors_only(root: Path) -> None:
    out, err = call("check", root)
    assert "[scaling]" in out and "0 errors, 1 warnings" in err
    (root / "Acme" / "results" / "box" / "llama2_70b_lora" / "result_3.txt").unlink()
    out, _ = call("check", root, code=1)
    assert "rule runs-required [run-count]" in out


def test_window_says_what_to_submit(root: Path) -> None:
    out, _ = call("window", root, "--runs", 5)
    assert out.count("submit these") == 1 and "picking is forbidden" in out
    for run in (4, 5, 6):
        log = root / "Acme" / "results" / "box" / "llama2_70b_lora" / f"result_{run}.txt"
        log.write_bytes(log.read_bytes().replace(b'"success"', b'"aborted"'))
    out, _ = call("window", root, "--runs", 5, code=1)
    assert "invalid, counts as infinite" in out


def test_two_single_sets_are_paired_whatever_they_are_called(root: Path, tmp_path: Path) -> None:
    write_set(tmp_path / "v5.0")
    (tmp_path / "v5.0" / "Acme").rename(tmp_path / "v5.0" / "Other")
    out, err = call("compare", tmp_path / "v5.0", root)
    assert "given" in out and err == ""


def test_compare_without_a_pair_exits_1(root: Path, tmp_path: Path) -> None:
    other = write_set(tmp_path / "v5.0", edit=lambda run, _: lora(run, submission_benchmark="llama31_8b"))
    other.rename(other.with_name("llama31_8b"))
    write_set(tmp_path / "more")
    (tmp_path / "more" / "Acme").rename(tmp_path / "v5.0" / "Other")
    (tmp_path / "v5.0" / "Other" / "results" / "box" / "llama2_70b_lora").rename(
        tmp_path / "v5.0" / "Other" / "results" / "box" / "bert"
    )
    _, err = call("compare", tmp_path / "v5.0", root, code=1)
    assert "only in A: Acme/box/llama31_8b" in err and "only in B: Acme/box/llama2_70b_lora" in err


def test_junk_is_not_paired_with_junk(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_bytes(b"\x00\xff junk\n" * 99)
    out, err = call("compare", tmp_path / "a.txt", tmp_path / "b.txt", "--round", "5.1", "--format", "json", code=1)
    assert json.loads(out) == [] and err.count("(no score)") == 2


def test_an_output_that_cannot_be_written_leaves_nothing(root: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.rglob("*"))
    for target in (tmp_path / "folder", tmp_path / "none" / "t.csv", tmp_path / ("x" * 255), Path("/dev/null")):
        with pytest.raises(InputError, match=r"no such folder|no regular file|cannot be written"):
            CliRunner().invoke(build_app(), ["logs", "summarize", str(root), "--output", str(target)], **RAISE)
    assert sorted(tmp_path.rglob("*")) == before and not Path("/dev/null").is_file()


@pytest.mark.parametrize("command", ["summarize", "check", "window"])
@pytest.mark.parametrize("round_", ["9", "nan", "5.1x", "-1"])
def test_a_round_that_nobody_knows(root: Path, command: str, round_: str) -> None:
    with pytest.raises(InputError, match="no rules for round"):
        CliRunner().invoke(build_app(), ["logs", command, str(root), f"--round={round_}"], **RAISE)


def test_bad_input_is_one_line_and_exit_2(root: Path) -> None:
    nameless = root.rename(root.with_name("runs"))
    empty = root.with_name("v5.1")
    empty.mkdir()
    for words in (
        ["summarize", str(nameless)],
        ["check", str(nameless)],
        ["check", str(empty)],
        ["check", "/dev/zero", "--round", "5.1"],
        ["window", "no-such-folder"],
    ):
        done = subprocess.run(
            [sys.executable, "-c", "from evidence.cli import main; main()", "logs", *words],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2 and done.stdout == ""
        assert done.stderr.startswith("evidence: ") and done.stderr.count("\n") == 1
