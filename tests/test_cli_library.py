"""`evidence check` and `evidence show` as a user or a script meets them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import pytest

from conftest import MiniBook, Ran
from evidence.checks import CATALOGUE
from evidence.checks.finding import finding
from evidence.cli.check import as_annotation

Evidence = Callable[..., Ran]
CHAPTER = "book/levers/precision.md"


def test_a_sound_book_passes(evidence: Evidence) -> None:
    ran = evidence("check")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("0 errors, 0 warnings in 2 sources, 1 claims")


def test_an_error_fails_and_a_warning_does_not(mini_book: MiniBook, evidence: Evidence) -> None:
    mini_book.edit(CHAPTER, " {cite}`roe2023formats`", "")
    ran = evidence("check")
    assert ran.code == 0 and "references.bib:12: warning: nothing uses 'roe2023formats'" in ran.out
    mini_book.append(CHAPTER, "\n{cite}`nobody`\n")
    for _ in range(2):  # also the second time, on an unchanged book
        ran = evidence("check")
        assert ran.code == 1 and f"{CHAPTER}:9: error: 'nobody' is not in references.bib" in ran.out
        assert "[cite-unknown]" in ran.out and "1 error, 1 warning" in ran.err


def test_json_on_stdout_and_nothing_else(mini_book: MiniBook, evidence: Evidence) -> None:
    mini_book.append(CHAPTER, "\n{cite}`nobody`\n")
    ran = evidence("check", "--format", "json")
    data = json.loads(ran.out)
    assert ran.code == 1 and set(data) == {"findings", "checked"}
    [found] = data["findings"]
    assert set(found) == {"id", "level", "place", "message", "mend"} and found["place"] == f"{CHAPTER}:9"
    assert data["checked"]["claims"] == 1


def test_annotations(mini_book: MiniBook, evidence: Evidence) -> None:
    mini_book.append(CHAPTER, "\nGains 40 % {cite}`doe2024rounding`.\n")
    ran = evidence("check", "--format", "github")
    assert ran.out.startswith(f"::error file={CHAPTER},line=9,title=number-bare::") and "40 %25" in ran.out
    cell = as_annotation(finding("notebook-syntax", "notebooks/a,b.ipynb:cell 3", "not\nPython", "correct it"))
    assert cell == "::error file=notebooks/a%2Cb.ipynb,title=notebook-syntax::cell 3: not%0APython; correct it"


def test_ids_lists_the_catalogue(evidence: Evidence) -> None:
    lines = evidence("check", "--ids").out.splitlines()
    assert [line.split()[0] for line in lines] == list(CATALOGUE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "--format", "jsn"], "evidence: --format: unknown format 'jsn'; did you mean 'json'?"),
        (["show", "claim"], "evidence: cannot show 'claim'; did you mean 'claims'?"),
        (["show", "claims", "--format", "xml"], "evidence: --format: unknown format 'xml'"),
        (["show", "rules", "--source", "x"], "evidence: --source: rules have no source"),
        (["frobnicate"], "evidence: No such command 'frobnicate'; see `evidence --help`"),
        (["show"], "evidence: Missing argument 'kind'; see `evidence show --help`"),
        (["run", "--profil", "ci"], "evidence: No such option: --profil (Possible options: --profile); see"),
        (["run", "--profile", "tiny"], "evidence: Invalid value for '--profile': Value error, 'tiny' is not one of"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(evidence: Evidence, arguments: list[str], message: str) -> None:
    ran = evidence(*arguments)
    assert ran.code == 2 and ran.out == ""
    assert ran.err.startswith(message) and ran.err.count("\n") == 1


def test_a_misspelt_status_is_one_line_and_exit_code_2(mini_book: MiniBook, evidence: Evidence) -> None:
    mini_book.edit("book/levers/precision.yml", "status: conditional", "status: condtional")
    for command in (["check"], ["check", "--format", "json"], ["show", "claims"]):
        ran = evidence(*command)
        assert ran.code == 2 and ran.out == "" and ran.err.count("\n") == 1
        assert ran.err.startswith("evidence: book/levers/precision.yml:8:") and "'conditional'" in ran.err


def test_show_in_every_format(evidence: Evidence) -> None:
    data = json.loads(evidence("show", "techniques", "--benchmark", "tiny_moe", "--format", "json").out)
    assert [(each["id"], each["status"]) for each in data] == [("rounding", "not-allowed")]
    assert evidence("show", "sources", "--format", "csv").out.startswith("key,type,title")
    assert evidence("show", "rules", "--format", "markdown").out.startswith("| round | id |")
    assert json.loads(evidence("show", "claims", "--format", "schema").out)["type"] == "array"
    table = evidence("show", "claims")
    assert "Rounding at random trains 3.5 times faster than not rounding." in " ".join(table.out.split())
    assert table.err == "1 claims\n"


def test_nothing_found_is_an_empty_list(evidence: Evidence) -> None:
    ran = evidence("show", "claims", "--check", "differs", "--format", "json")
    assert (ran.code, ran.out, ran.err) == (0, "[]\n", "0 claims\n")


def test_the_check_path_imports_nothing_heavy(mini_book: MiniBook) -> None:
    code = (
        "import sys; from pathlib import Path; from evidence.library.load import load;"
        "from evidence.library.project import Project; from evidence.checks import run_checks; import evidence.cli;"
        "evidence.cli.build_app(); run_checks(load(Project(Path(sys.argv[1]))));"
        "print(sorted({'torch', 'pandas', 'sphinx', 'scipy', 'numpy', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, mini_book.root], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
