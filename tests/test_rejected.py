"""Every reason for a rejection has a submission that must be caught, and one that must not."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from evidence.library.errors import InputError
from evidence.library.load import load
from evidence.library.project import Project
from evidence.rounds.findings import LogFinding
from evidence.rounds.official import RULE_OF_KEY, rule_of
from evidence.rounds.rejected import check, worst
from mllogs import SYSTEM, Edit, lora, write_set

ROOT = Path(__file__).parents[1]


def findings(root: Path, **how: object) -> list[LogFinding]:
    write_set(root / "v5.1", **how)  # type: ignore[arg-type]
    return list(check(root / "v5.1"))


def ids(found: list[LogFinding]) -> set[str]:
    return {finding.id for finding in found}


def test_a_good_set_gives_nothing(tmp_path: Path) -> None:
    assert findings(tmp_path) == []


def replaced(old: bytes, new: bytes, only: int | None = None) -> Edit:
    return lambda run, log: log.replace(old, new) if only in (None, run) else log


def slow_init(run: int, log: bytes) -> bytes:
    return re.sub(
        rb'("time_ms": )(\d+)(?=[^\n]*"key": "init_start")', lambda m: m[1] + str(int(m[2]) - 1_800_000).encode(), log
    )


def late_start(run: int, log: bytes) -> bytes:
    return re.sub(
        rb'("time_ms": )(\d+)(?=[^\n]*"key": "(?:init_stop|init_start)")',
        lambda m: m[1] + str(int(m[2]) - 120_000).encode(),
        log,
    )


def seldom(run: int, log: bytes) -> bytes:
    """Evaluations twice as far apart: every sample count doubled."""
    return re.sub(rb'("samples_count": )(\d+)', lambda m: m[1] + str(2 * int(m[2])).encode(), log)


MISNAMED = b"lowest_numerical_precision_linear"
CASES: dict[str, tuple[dict[str, object], str, str, str]] = {
    "nine runs": ({"counts": [3456] * 9}, "run-count", "error", "runs-required"),
    "eleven runs": ({"counts": [3456] * 11}, "run-count", "error", "runs-required"),
    "two runs that do not converge": (
        {"edit": lambda run, log: log.replace(b'"success"', b'"aborted"') if run < 2 else log},
        "not-converged", "error", "non-converging-runs",
    ),
    "evaluation too seldom": ({"edit": seldom}, "eval-interval", "error", "eval-frequency"),
    "one run filed twice": (
        {"edit": lambda run, log: lora(0, 3456, seed=run) if run == 7 else log},
        "duplicate-run", "error", "runs-required",
    ),
    "factor missing": ({"counts": [3072] * 10}, "scaling", "warning", "score-scaling"),
    "initialisation over the limit": ({"edit": slow_init}, "init-limit", "error", "untimed-init"),
    "clock started late": ({"edit": late_start}, "init-gap", "warning", "untimed-init"),
    "too fast": ({"counts": [2688] * 10}, "rcp", "error", "rcp-ttest"),
    "batch beyond the points": (
        {"edit": replaced(b'"global_batch_size", "value": 8', b'"global_batch_size", "value": 512')},
        "rcp", "error", "rcp-missing",
    ),
    "equal seeds": ({"edit": lambda run, _: lora(run, 3456, seed=5)}, "seeds", "error", "seed-logging"),
    "no cache_clear": (
        {"edit": replaced(b'"key": "cache_clear"', b'"key": "cache_cleared"')}, "compliance", "error", "cache-flush",
    ),
    "another rank of LoRA": (
        {"edit": replaced(b'"lora_rank", "value": 16', b'"lora_rank", "value": 8')},
        "compliance", "error", "hyperparameters-tunable",
    ),
    "target missed": (
        {"edit": replaced(b'"key": "eval_accuracy", "value": 0.9', b'"key": "eval_accuracy", "value": 1.9')},
        "compliance", "error", "quality-metric",
    ),
    "description incomplete": (
        {"system": {k: v for k, v in SYSTEM.items() if k != "cooling"}}, "system", "error", "software-availability",
    ),
    "description with a number, which stops the official checker": (
        {"system": SYSTEM | {"accelerators_per_node": 4}}, "system-checker-stops", "error", "verifier-precedence",
    ),
    "filed under another benchmark's log": (
        {"edit": replaced(b'"llama2_70b_lora"', b'"llama31_8b"')}, "benchmark-folder", "error", "closed-equivalence",
    ),
    "precision under a name of its own": (
        {"edit": replaced(b'"key": "lora_alpha", "value": 32', b'"key": "%s", "value": "fp8"' % MISNAMED)},
        "precision-key", "warning", "log-disclosure",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_every_reason_is_found_with_its_rule(name: str, tmp_path: Path) -> None:
    how, kind, level, rule = CASES[name]
    found = findings(tmp_path, **how)
    assert (kind, level, rule) in {(f.id, f.level, f.rule) for f in found}, [str(f) for f in found]
    assert worst(found) == any(f.level == "error" for f in found)
    assert all("evidence-logs-" not in f.message + f.place for f in found), "a path of the copies shows"


@pytest.mark.parametrize(
    ("factor", "expected"), [("1.0034722222", False), (str(3178.6666666666665 / 3072), True), ("1.5", False)]
)
def test_a_stale_factor(factor: str, expected: bool, tmp_path: Path) -> None:
    folder = write_set(tmp_path / "v5.1", [3072] * 10)
    (folder / "scaling.json").write_text(json.dumps({"scaling_factor": float(factor)}))
    assert ("scaling" not in ids(list(check(tmp_path / "v5.1")))) == expected


def test_a_factor_that_is_not_needed_is_stale(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "v5.1")
    (folder / "scaling.json").write_text('{"scaling_factor": 1.0}')
    assert "scaling" not in ids(list(check(tmp_path / "v5.1")))
    (folder / "scaling.json").write_text('{"scaling_factor": 1.01}')
    assert "scaling" in ids(list(check(tmp_path / "v5.1")))


@pytest.mark.parametrize(("content", "says"), [(b"rcp-bypass", "bypass flag is set"), (b"rcp-bypass\n", "no flag")])
def test_a_bypass_file_and_its_trap(content: bytes, says: str, tmp_path: Path) -> None:
    folder = write_set(tmp_path / "v5.1")
    (folder / "package_checker_params").write_bytes(content)
    (finding,) = check(tmp_path / "v5.1")
    assert says in finding.message and finding.rule == "rcp-bypass"


def test_a_folder_without_logs_is_not_in_order(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("none")
    with pytest.raises(InputError, match="no log found"):
        list(check(tmp_path, "5.1"))


def test_a_log_under_a_wrong_name(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "v5.1")
    (folder / "result_9.txt").rename(folder / "run_9.txt")
    assert ids(list(check(tmp_path / "v5.1"))) == {"run-count", "file-name"}


def test_the_submission_is_left_as_it_was(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "v5.1", [3072] * 10)
    (folder / "scaling.json").write_text('{"scaling_factor": 1.5}')

    def state() -> dict[str, str]:
        files = sorted(f for f in tmp_path.rglob("*") if f.is_file())
        return {str(f): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}

    before = state()
    assert list(check(tmp_path / "v5.1"))
    assert state() == before


def test_a_division_cannot_name_a_rules_file_to_execute(tmp_path: Path) -> None:
    """The compliance checker executes code from a file whose path it builds from the logged division."""
    trap, sprung = tmp_path / "trap_common.yaml", tmp_path / "sprung"
    trap.write_text(f"- BEGIN:\n    CODE: \"open({str(sprung)!r}, 'w')\"\n")
    up = "../" * 20 + str(trap).removeprefix("/").removesuffix("_common.yaml")
    found = findings(tmp_path, counts=[3456], edit=lambda run, _: lora(run, submission_division=up))
    assert any("was not run" in f.message for f in found)
    assert not sprung.exists()


def test_the_rules_are_in_the_book(tmp_path: Path) -> None:
    known = load(Project(ROOT)).rules["6.0"]
    source = "".join(f.read_text() for f in sorted((ROOT / "src/evidence/rounds").glob("*.py")))
    named = {rule for _, _, _, rule in CASES.values()} | set(RULE_OF_KEY.values())
    named |= {rule_of(f"Required EXACTLY_ONE occurrence of '{key}'") for key in ("seed", "opt_x", "nothing")}
    assert named <= set(known)
    in_findings = set(re.findall(r'LogFinding\([^()]*"([a-z]+(?:-[a-z]+)+)"\s*\)', source))
    assert len(in_findings) > 8 and in_findings <= set(known)
