"""The official compliance, seed, system and RCP readers, asked so that none of their crashes reaches a user.

They are run on copies, never on a submitter's own folder (the package checker rewrites `scaling.json`), and never on a
log whose division is not one of the two words they know: the compliance checker builds the path of a rules file, whose
code it executes, from that value.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evidence.rounds.benchmarks import BENCHMARKS
from evidence.rounds.findings import LogFinding

RULE_OF_KEY = {
    "seed": "seed-logging",
    "cache_clear": "cache-flush",
    "init_start": "untimed-init",
    "init_stop": "untimed-init",
    "run_start": "timing-start-stop",
    "run_stop": "timing-start-stop",
    "eval_accuracy": "quality-metric",
    "eval_error": "quality-metric",
    "eval_samples": "quality-metric",
    "eval_start": "eval-on-clock",
    "eval_stop": "eval-on-clock",
    "evaluation_frequency": "eval-frequency",
    "block_start": "epoch-reporting",
    "block_stop": "epoch-reporting",
    "epoch_start": "epoch-reporting",
    "epoch_stop": "epoch-reporting",
    "opt_name": "optimizer-match",
    "max_sequence_length": "sequence-length-limit",
    "tensor_parallelism": "log-disclosure",
    "pipeline_parallelism": "log-disclosure",
    "context_parallelism": "log-disclosure",
    "expert_parallelism": "log-disclosure",
    "micro_batch_size": "log-disclosure",
    "config_filename": "log-disclosure",
}
"""Which rule stands behind a log key that the compliance checker objects to."""

DIVISIONS = ("closed", "open")


def rule_of(message: str) -> str:
    """The rule behind a message of the compliance checker, by the log key that it names."""
    found = re.search(r"(?:CHECK for|occurrence of|Failed checks for) '?(\w+)", message)
    key = found[1] if found else ""
    if key.startswith("lowest_numerical_precision"):
        return "log-disclosure"
    if key.startswith(("opt_", "lora_", "global_batch", "gradient_", "max_", "train_", "init_checkpoint")):
        return RULE_OF_KEY.get(key, "hyperparameters-tunable")
    return RULE_OF_KEY.get(key, "verifier-precedence")


@contextmanager
def _quietly() -> Iterator[list[str]]:
    """Collect what the official tools log, instead of letting them set up logging for the whole process."""
    said: list[str] = []

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.levelno >= logging.WARNING:
                said.append(record.getMessage())

    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers[:] = [Collect()]
    root.setLevel(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield said
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def _asked(tool: str, place: str, ask: Callable[[], Any]) -> tuple[Any, list[LogFinding]]:
    """The tool's answer, or a finding that it stopped. Whatever a log can provoke there ends here."""
    try:
        return ask(), []
    except Exception as error:
        said = f"the official {tool} stops with {type(error).__name__}: {' '.join(str(error).split())[:160]}"
        return None, [LogFinding(f"{tool.replace(' ', '-')}-stops", "error", place, said, "", "verifier-precedence")]


def compliance(file: Path, place: str, ruleset: str, division: str | None, benchmark: str | None) -> list[LogFinding]:
    """What the compliance checker says of one log.

    Args:
        file: the log, or a copy of it.
        place: how findings name it.
        division, benchmark: as logged; the checker is not run on words that it does not know.
    """
    from mlperf_logging.compliance_checker import mlp_compliance

    if division not in DIVISIONS:
        said = f"submission_division is {division!r}, not closed or open; the compliance checker was not run"
        return [LogFinding("compliance", "error", place, said, "log submission_division once", "closed-equivalence")]
    if benchmark not in BENCHMARKS:
        said = f"submission_benchmark is {benchmark!r}, no benchmark; the compliance checker was not run"
        return [LogFinding("compliance", "error", place, said, "log submission_benchmark once", "closed-equivalence")]
    mlp_compliance.enqueued_configs.clear()  # a crash on the log before leaves its rules in this global queue
    checker = mlp_compliance.make_checker("training", ruleset, True, False)
    with _quietly() as said_:
        _, findings = _asked(
            "compliance checker", place, lambda: checker.check_file(str(file), f"training_{ruleset}/common.yaml")
        )
    parsing = [line.strip() for line in said_ if line.startswith("   ^^")]
    messages = [*checker.overwritable.values(), *checker.not_overwritable]
    for message in messages:
        text = _short(message)
        if "parsing errors" in text and parsing:
            text += f" ({parsing[0].removeprefix('^^').strip()})"
        findings.append(LogFinding("compliance", "error", place, text, "", rule_of(message)))
    return findings


def _short(message: str) -> str:
    """The checker's message without the context that it prints: what was checked and where."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    test = next((line for line in lines if line.startswith("failed test:")), "")
    head = re.sub(r" in line (\d+):?$", r" in record \1", lines[0]) if lines else "no message"
    return f"{head}; {test}"[:300] if test else head[:300]


def seeds(files: Sequence[Path], place: str, ruleset: str) -> list[LogFinding]:
    """What the package checker's seed check says of a set."""
    from mlperf_logging.package_checker.seed_checker import SeedChecker

    with _quietly():
        messages, findings = _asked(
            "seed checker", place, lambda: SeedChecker(ruleset)._assert_unique_seed_per_run([str(f) for f in files])
        )
    for message in messages or []:
        text = re.sub(r"\S*/(result_\S*?\.txt)", r"\1", message)
        findings.append(
            LogFinding("seeds", "error", place, text[:300], "draw a new seed for every run", "seed-logging")
        )
    return findings


def system(file: Path, place: str, ruleset: str) -> list[LogFinding]:
    """What the system description checker says of one description."""
    from mlperf_logging.system_desc_checker import system_desc_checker

    with _quietly() as said:
        answer, findings = _asked(
            "system checker", place, lambda: system_desc_checker.check_system_desc(str(file), "training", ruleset)
        )
    if answer is not None and not answer[0]:
        text = said[0].partition(" : ")[2] if said else "not valid"
        findings.append(LogFinding("system", "error", place, text[:300], "", "software-availability"))
    return findings


def convergence(files: Sequence[Path], place: str, ruleset: str) -> tuple[Any, list[LogFinding]]:
    """What the RCP checker reads from a set: batch size, counts and benchmark, or None where it stops."""
    from mlperf_logging.rcp_checker import rcp_checker

    with _quietly():
        return _asked(
            "RCP checker", place, lambda: rcp_checker.get_submission_epochs([str(f) for f in files], ruleset, False)
        )
