"""Why was my run rejected: what the official checkers object to, and what reviewers do, each with its rule.

Set by set: the logs are copied aside, the official tools read the copies, and our own checks look at the run table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from evidence.rounds import official
from evidence.rounds.benchmarks import dropped_runs, eval_interval, first_eval, required_runs, ruleset
from evidence.rounds.findings import LogFinding
from evidence.rounds.gather import Row, System, no_log, row_of, scaling_of, system_of
from evidence.rounds.mllog import BLOCK, read
from evidence.rounds.results import Entry, round_for, walk
from evidence.rounds.runtable import run_facts
from evidence.rounds.sets import judge

INIT_LIMIT_S = {"closed": 30 * 60, "open": 4 * 3600}
GPT3_INIT_LIMIT_S = 60 * 60
MAX_GAP_S = 60.0
"""A longer pause between init_stop and run_start is asked about; in v5.1 the longest was 0.2 s."""
INTERVAL_TOLERANCE = 0.03
"""Real logs count an evaluation one batch early or late; spacing off by more than this share is another schedule."""
FACTOR_TOLERANCE = 1e-6


@dataclass
class _Set:
    """One set while it is being read."""

    place: str
    rows: list[Row] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    scaling: float | None = None
    strangers: list[str] = field(default_factory=list)
    bypass: bytes | None = None


def check(path: Path, round_: str | None = None) -> Iterator[LogFinding]:
    """Everything that is wrong with the results below a path, set by set.

    Raises:
        InputError: the path cannot be read, holds no log, its round is not told, or mlperf-logging has no rules for it.
    """
    name = round_for(path, round_)
    rules = ruleset(name)
    with TemporaryDirectory(prefix="evidence-logs-") as aside:
        yield from _check(path, name, rules, Path(aside))


def _check(path: Path, round_: str, rules: str, aside: Path) -> Iterator[LogFinding]:
    sets: dict[tuple[str, str, str], _Set] = {}
    systems: dict[tuple[str, str], System] = {}
    for number, entry in enumerate(walk(path)):
        if isinstance(entry, LogFinding):
            yield entry
            continue
        place = entry.place
        if place.kind == "system":
            copy = _copy(entry, aside / f"{number}.json")
            with copy.open("rb") as stream:
                findings: list[LogFinding] = []
                systems[place.submitter, place.system] = system_of(Entry(place, stream), findings)
            yield from findings or official.system(copy, place.file, rules)
        elif place.benchmark:
            here = sets.setdefault(place.set, _Set(place.file.rpartition("/")[0] or "."))
            yield from _take(here, entry, round_, rules, aside / str(number))
    filled = [here for here in sets.values() if here.rows]
    if not filled:
        raise no_log(path)
    for here in filled:
        yield from _set_findings(here, rules, systems)


def _copy(entry: Entry, to: Path) -> Path:
    to.parent.mkdir(parents=True, exist_ok=True)
    with to.open("wb") as out:
        while block := entry.stream.read(BLOCK):
            out.write(block)
    return to


def _take(here: _Set, entry: Entry, round_: str, rules: str, folder: Path) -> Iterator[LogFinding]:
    place = entry.place
    file = place.file.rpartition("/")[2]
    if place.kind == "scaling":
        findings: list[LogFinding] = []
        here.scaling = scaling_of(entry, findings)
        yield from findings
    elif place.kind != "log":
        if file == "package_checker_params":
            here.bypass = entry.stream.read(4096)
        else:
            here.strangers.append(file)
    else:
        copy = _copy(entry, folder / file)
        here.files.append(copy)
        with copy.open("rb") as stream:
            run, found = run_facts(read(stream, place.file, strict=True), place.benchmark, place.file)
        here.rows.append(row_of(round_, entry, run))
        yield from found
        yield from official.compliance(copy, place.file, rules, run.division, run.logged_benchmark)
        yield from _run_findings(here.rows[-1])


def _run_findings(row: Row) -> Iterator[LogFinding]:
    """Our own checks of one run."""
    run = row.run
    limit = INIT_LIMIT_S.get(run.division or "closed", INIT_LIMIT_S["closed"])
    if run.benchmark == "gpt3":
        limit = max(limit, GPT3_INIT_LIMIT_S)
    if run.init_s is not None and run.init_s >= limit:
        said = f"initialisation took {run.init_s:.0f} s; from {limit} s on the clock should have been running"
        yield LogFinding("init-limit", "error", row.file, said, "start the clock at the limit", "untimed-init")
    if run.gap_s is not None and run.gap_s > MAX_GAP_S:
        said = f"{run.gap_s:.0f} s between init_stop and run_start belong to neither"
        yield LogFinding("init-gap", "warning", row.file, said, "log init_stop when it stops", "untimed-init")
    if row.benchmark and run.logged_benchmark and run.logged_benchmark != row.benchmark:
        said = f"logged as {run.logged_benchmark}, filed as {row.benchmark}"
        yield LogFinding("benchmark-folder", "error", row.file, said, "file it where it belongs", "closed-equivalence")
    if run.status not in (None, "success"):
        said = f"run_stop has status {run.status!r}: the run did not converge"
        yield LogFinding("not-converged", "warning", row.file, said, "", "non-converging-runs")
    yield from _schedule(row)


def _schedule(row: Row) -> Iterator[LogFinding]:
    """Whether the evaluations lie where the round's rules want them; the official checkers do not look."""
    run = row.run
    if run.division == "open" or run.global_batch_size is None:
        return
    wanted = eval_interval(run.benchmark, row.round, run.global_batch_size)
    if wanted is None:
        return
    if run.interval is not None and abs(run.interval / wanted - 1) > INTERVAL_TOLERANCE:
        said = f"evaluations lie {run.interval:g} {run.unit} apart; the rules of v{row.round} say {wanted:g}"
        more = "the quality must be measured no more seldom than the rules say" if run.interval > wanted else ""
        yield LogFinding(
            "eval-interval", "error" if run.interval > wanted else "warning", row.file, said, more, "eval-frequency"
        )
    first = first_eval(run.benchmark, row.round, run.global_batch_size)
    if first is not None and run.first_eval is not None and run.first_eval > first * (1 + INTERVAL_TOLERANCE):
        said = f"the first evaluation came at {run.first_eval:g} {run.unit}; the rules of v{row.round} say {first:g}"
        yield LogFinding("eval-first", "warning", row.file, said, "", "eval-frequency")


def _set_findings(here: _Set, rules: str, systems: dict[tuple[str, str], System]) -> Iterator[LogFinding]:
    """Our checks of a set, with what the official seed and RCP checkers read."""
    first = here.rows[0]
    division = systems.get((first.submitter, first.system), System()).division
    yield from _counts(here, first)
    yield from _duplicates(here)
    if division != "open":
        yield from official.seeds(here.files, here.place, rules)
        _, stopped = official.convergence(here.files, here.place, rules)
        yield from stopped
        yield from _rcp(here)


def _counts(here: _Set, first: Row) -> Iterator[LogFinding]:
    wanted, count = required_runs(first.benchmark), len(here.rows)
    if wanted is not None and count != wanted:
        said = f"{count} result files; the package checker wants exactly {wanted}"
        mend = "the M runs of a window stay at home, its N runs are filed" if count > wanted else "file all of them"
        yield LogFinding("run-count", "error", here.place, said, mend, "runs-required")
    failed = sum(not row.run.converged for row in here.rows)
    if failed > dropped_runs(first.benchmark):
        said = f"{failed} of {count} runs did not converge; {dropped_runs(first.benchmark)} may be dropped"
        yield LogFinding("not-converged", "error", here.place, said, "", "non-converging-runs")
    for name in here.strangers:
        if name.endswith(".txt"):
            said = f"{name} is no result file for the official tools, which look for result_*.txt"
            yield LogFinding("file-name", "warning", here.place, said, "rename it", "runs-required")
    if here.bypass is not None:
        yield _bypass(here, here.bypass)


def _bypass(here: _Set, content: bytes) -> LogFinding:
    lines = content.decode("utf-8", "replace").splitlines(keepends=True)
    if "rcp-bypass" in lines or "seed-checker-bypass" in lines:
        said, mend = "a bypass flag is set: the results chair must be told, and an audit follows", ""
    else:
        said = "package_checker_params sets no flag: the checker compares whole lines, and a line feed spoils them"
        mend = "write rcp-bypass without dashes and without a line feed after it"
    return LogFinding("bypass", "warning", f"{here.place}/package_checker_params", said, mend, "rcp-bypass")


def _duplicates(here: _Set) -> Iterator[LogFinding]:
    """Runs that are one run: their clocks started and stopped in the same milliseconds."""
    stamps = Counter((row.run.started_ms, row.run.stopped_ms) for row in here.rows if row.run.started_ms is not None)
    for (started, stopped), count in stamps.items():
        if count > 1:
            names = [
                row.file.rpartition("/")[2]
                for row in here.rows
                if (row.run.started_ms, row.run.stopped_ms) == (started, stopped)
            ]
            said = f"{', '.join(names)} have the same start and stop: one run filed {count} times"
            yield LogFinding("duplicate-run", "error", here.place, said, "file each run once", "runs-required")


def _rcp(here: _Set) -> Iterator[LogFinding]:
    verdict = judge(here.rows)
    if verdict.passed is None:
        yield LogFinding("rcp", "warning", here.place, f"no RCP verdict: {verdict.message}", "", "rcp-purpose")
        return
    if not verdict.passed:
        rule = "rcp-missing" if verdict.message.startswith("Missing") else "rcp-ttest"
        said = f"RCP test failed: {verdict.message}"
        if verdict.limit is not None:
            said += f" (mean {verdict.mean:g}, limit {verdict.limit:g})"
        mend = "ask for a point" if rule == "rcp-missing" else "see rcp-failure-appeal for the way that is left"
        yield LogFinding("rcp", "error", here.place, said, mend, rule)
    wanted = verdict.factor if verdict.passed and verdict.factor is not None else 1.0
    published = here.scaling
    if published is None and wanted > 1 + FACTOR_TOLERANCE:
        said = f"scaling.json is missing: the set converged faster than the RCP mean, factor {wanted:.6f}"
        yield LogFinding("scaling", "warning", here.place, said, "run the RCP checker on it", "score-scaling")
    elif published is not None and abs(published - wanted) > FACTOR_TOLERANCE:
        said = f"scaling.json says {published:.6f}, these logs give {wanted:.6f}: it is stale or a committee's"
        yield LogFinding("scaling", "warning", here.place, said, "run the RCP checker again", "score-scaling")


def worst(findings: Sequence[LogFinding]) -> int:
    """The exit code: 1 if anything would get a set rejected."""
    return int(any(finding.level == "error" for finding in findings))
