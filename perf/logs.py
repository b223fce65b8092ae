"""How fast `evidence logs` is, and whether its verdicts are the official checker's.

    python perf/logs.py v5.1.tar.xz                 speed on every tenth set, memory on one and on three copies
    python perf/logs.py v5.1.tar.xz --parity        the official RCP verdict on every set, differences listed

The peer is what a submitter runs today on the same files: mlperf-logging's compliance checker on every log and its
RCP checker on every set, called in process so that it pays no start-up. Both sides read the same unpacked files in
the same run, set by set in turn. Prints JSON; exit code 1 if a verdict differs or a claim of the book is missed.
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
import tarfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from evidence.rounds.benchmarks import round_of, ruleset
from evidence.rounds.gather import gather
from evidence.rounds.sets import ResultSet, result_sets

CLAIMED_RATIO, CLAIMED_SECONDS = 10.0, 20.0
ALONE = """
import resource, sys, time
from pathlib import Path
from evidence.rounds.gather import gather
from evidence.rounds.sets import result_sets
begun = time.perf_counter()
found = gather([Path(sys.argv[1])] * int(sys.argv[2]))
result_sets(found.rows, found.scaling)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(len(found.rows), time.perf_counter() - begun, peak)
"""


def whole(archive: Path, copies: int) -> dict[str, float]:
    """Our set table of the whole archive in a process of its own: logs, seconds, peak memory in MiB."""
    said = subprocess.run(
        [sys.executable, "-c", ALONE, str(archive), str(copies)], capture_output=True, text=True, check=True
    ).stdout.split()
    return {"logs": int(said[0]), "seconds": round(float(said[1]), 2), "peak_mib": round(float(said[2]), 1)}


def folders(root: Path) -> Iterator[Path]:
    """The benchmark folders of an unpacked round."""
    yield from sorted({file.parent for file in root.glob("*/results/*/*/result_*.txt")})


def official(folder: Path, rules: str) -> tuple[bool, str, float]:
    """The official RCP checker's answer on a folder."""
    from mlperf_logging.rcp_checker import rcp_checker

    return rcp_checker.check_directory(str(folder), "training", rules, False, False, rcp_pass="pruned_rcps")


def peer(folder: Path, rules: str) -> None:
    """Both official checkers on a set; their crashes cost them nothing here."""
    from mlperf_logging.compliance_checker import mlp_compliance

    for file in sorted(folder.glob("result_*.txt")):
        mlp_compliance.enqueued_configs.clear()
        checker = mlp_compliance.make_checker("training", rules, True, False)
        try:
            checker.check_file(str(file), f"training_{rules}/common.yaml")
        except Exception as error:
            print(f"{file.name}: the compliance checker stops with {error!r}", file=sys.stderr)
    try:
        official(folder, rules)
    except Exception as error:
        print(f"{folder.name}: the RCP checker stops with {error!r}", file=sys.stderr)


def speed(root: Path, name: str, every: int) -> dict[str, float]:
    """Seconds per log of the peer and of ours on every n-th set, in turn."""
    ours = theirs = 0.0
    logs = 0
    for number, folder in enumerate(list(folders(root))[::every]):
        arms = [(0, lambda f=folder: result_sets(gather([f], name).rows)), (1, lambda f=folder: peer(f, ruleset(name)))]
        for arm, work in arms if number % 2 else arms[::-1]:
            begun = time.perf_counter()
            work()
            spent = time.perf_counter() - begun
            ours, theirs = (ours, theirs + spent) if arm else (ours + spent, theirs)
        logs += len(list(folder.glob("result_*.txt")))
    return {
        "logs": logs,
        "ours_ms_per_log": round(1e3 * ours / logs, 3),
        "peer_ms_per_log": round(1e3 * theirs / logs, 3),
        "ratio": round(theirs / ours, 1),
    }


def parity(root: Path, name: str) -> list[str]:
    """Where our verdict, message or factor differs from the official checker's, or the checker stops."""
    rules, different = ruleset(name), []
    for one in result_sets(gather([root], name).rows):
        folder = root / one.submitter / "results" / one.system / one.benchmark
        try:
            passed, message, factor = official(folder, rules)
        except Exception as error:
            different.append(f"{_name(one)}: the official checker stops with {error!r}; ours: {one.rcp}")
            continue
        same = passed == one.rcp_pass and message == one.rcp
        if not same or (passed and abs(factor - (one.normalisation or 0)) > 1e-9):
            different.append(f"{_name(one)}: official {passed} {message} {factor}; ours {one.rcp_pass} {one.rcp}")
    return different


def _name(one: ResultSet) -> str:
    return f"{one.submitter}/{one.system}/{one.benchmark}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--every", type=int, default=10, help="measure every n-th set")
    parser.add_argument("--parity", action="store_true")
    asked = parser.parse_args()
    name = round_of(asked.archive.name)
    if name is None:
        parser.error("the archive's name must tell its round, as v5.1.tar.xz does")
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    with TemporaryDirectory() as folder:
        root = Path(folder)
        with tarfile.open(asked.archive) as archive:
            archive.extractall(root, filter="data")
        if asked.parity:
            different = parity(root, name)
            found: dict[str, object] = {"round": name, "sets": len(list(folders(root))), "different": different}
            ok = not different
        else:
            once, thrice = whole(asked.archive, 1), whole(asked.archive, 3)
            per_log = speed(root, name, asked.every)
            grown = 1024 * (thrice["peak_mib"] - once["peak_mib"]) / (thrice["logs"] - once["logs"])
            found = {"round": name, "once": once, "three_copies": thrice, "kib_per_further_log": round(grown, 1)}
            found["per_log"] = per_log
            ok = per_log["ratio"] >= CLAIMED_RATIO and once["seconds"] <= CLAIMED_SECONDS
    print(json.dumps(found, indent=2))
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
