"""`evidence rcp` on the command line: what it prints, and one line with exit code 2 for bad input."""

import io
import json
from pathlib import Path

import pandas as pd
import pytest

from evidence.cli import main
from evidence.rounds.rcp import table


def evidence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of one call."""
    monkeypatch.setattr("sys.argv", ["evidence", *words])
    monkeypatch.setenv("EVIDENCE_ROOT", str(Path(__file__).parents[1]))
    with pytest.raises(SystemExit) as left:
        main()
    out, err = capsys.readouterr()
    return int(left.value.code or 0), out, err


def test_show_gives_the_table_in_every_format(monkeypatch, capsys) -> None:  # type: ignore[no-untyped-def]
    _, text, _ = evidence(monkeypatch, capsys, "rcp", "show", "llama2_70b_lora", "--round", "6.0")
    assert "[rcp-pruning]" in text
    assert "4,032" in text
    _, csv, _ = evidence(monkeypatch, capsys, "rcp", "show", "llama2_70b_lora", "--format", "csv")
    ours = pd.read_csv(io.StringIO(csv))
    pd.testing.assert_frame_equal(ours, table("llama2_70b_lora", "6.0").frame(), check_dtype=False)
    _, out, err = evidence(monkeypatch, capsys, "rcp", "show", "llama31_405b", "--format", "json")
    rows = json.loads(out)
    assert err == ""
    assert {"leeway", "spread"} <= {each["kind"] for each in rows[0]["differences"]}
    _, md, _ = evidence(monkeypatch, capsys, "rcp", "show", "llama31_8b", "--format", "markdown")
    assert md.startswith("| global_batch_size | runs |")
    assert len(md.splitlines()) == 2 + 5


def test_plan_names_the_best_and_what_limits_it(monkeypatch, capsys, tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "t.csv"
    path.write_text("global_batch_size,samples_per_second\n32,60\n128,180\n")
    call = ("rcp", "plan", "llama31_8b", "--throughput-csv", str(path), "--eval-seconds", "4")
    code, out, _ = evidence(monkeypatch, capsys, *call)
    assert code == 0
    assert "best: batch 96" in out
    assert "limited by: the trade" in out
    _, out, err = evidence(monkeypatch, capsys, *call, "--format", "json")
    plan = json.loads(out)
    assert err == ""
    assert plan["best"]["batch"] == 96
    assert plan["best"]["runs"] == 20
    _, out, _ = evidence(monkeypatch, capsys, *call, "--round", "6.1", "--multiple-of", "32", "--format", "csv")
    assert set(pd.read_csv(io.StringIO(out))["batch"]) == {32, 64, 96, 128}


def test_plan_counts_request_dates_from_the_rounds_deadline(monkeypatch, capsys) -> None:  # type: ignore[no-untyped-def]
    points = ("--throughput", "1152=40", "--throughput", "4608=150")
    _, out, _ = evidence(monkeypatch, capsys, "rcp", "plan", "llama31_405b", *points)
    assert "9 weeks before the deadline (2026-03-13)" in out
    assert "best: batch 4,608" in out


@pytest.mark.parametrize(
    "words",
    [
        ("show", "nope"),
        ("show", "llama31_8b", "--round", "7.0"),
        ("plan", "llama31_8b"),
        ("plan", "llama31_8b", "--throughput", "128"),
        ("plan", "llama31_8b", "--throughput", "128=-1"),
        ("plan", "llama31_8b", "--throughput", "256=100"),
        ("plan", "llama31_8b", "--throughput", "64=100", "--eval-seconds", "-1"),
        ("plan", "llama31_8b", "--throughput", "64=100", "--convergence", "0.5"),
        ("plan", "bert", "--throughput", "64=100", "--round", "5.0"),
        ("plan", "llama31_8b", "--throughput", "32=1e-308"),
        ("plan", "llama31_8b", "--throughput", "32=1e-308", "--throughput", "64=1e-308"),
        ("plan", "llama31_8b", "--throughput", "64=100", "--eval-seconds", "1e308"),
        ("plan", "llama31_8b", "--throughput", "64=100", "--interval", "9" * 400),
        ("plan", "llama31_8b", "--throughput-csv", "no-such-file.csv"),
    ],
)
def test_bad_input_is_one_line_and_two(monkeypatch, capsys, words) -> None:  # type: ignore[no-untyped-def]
    code, out, err = evidence(monkeypatch, capsys, "rcp", *words)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("evidence: ")


def test_plan_says_of_which_rounds_it_knows_the_rules(monkeypatch, capsys) -> None:  # type: ignore[no-untyped-def]
    plan = ("rcp", "plan", "llama31_8b", "--throughput", "64=100")
    code, _, err = evidence(monkeypatch, capsys, *plan, "--round", "5.1")
    assert code == 2
    assert "the book has those of 6.0 and 6.1" in err
    code, out, err = evidence(monkeypatch, capsys, *plan, "--interval", "0")
    assert (code, out) == (2, "")
    assert "--interval" in err
