"""Two collections side by side: who is paired with whom, and what the ratios say."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.rounds.compare import compare
from evidence.rounds.gather import gather
from mllogs import SYSTEM, lora, write_set


def quicker(run: int, log: bytes) -> bytes:
    """The same run with every time from its start on halved."""
    import re

    start = int(re.search(rb'"time_ms": (\d+)[^\n]*"key": "run_start"', log)[1])  # type: ignore[index]
    return re.sub(rb'(?<="time_ms": )\d+', lambda m: str(int(start + max(0, int(m[0]) - start) / 2)).encode(), log)


def test_speedup_is_convergence_times_pace(tmp_path: Path) -> None:
    write_set(tmp_path / "v5.0")
    write_set(tmp_path / "v5.1", [3072] * 10, quicker)
    ((pair,), alone) = compare(gather([tmp_path / "v5.0"]), gather([tmp_path / "v5.1"]))
    assert not alone
    assert pair.convergence_ratio == pytest.approx(3456 / 3072)
    assert pair.pace_ratio * pair.convergence_ratio == pytest.approx(2, rel=1e-3)  # type: ignore[operator]
    assert pair.speedup == pytest.approx(2 / (3178.6667 / 3072), rel=1e-3)  # the faster set is scaled back
    assert pair.same_runs == 0


def test_resubmitted_logs_are_seen(tmp_path: Path) -> None:
    write_set(tmp_path / "v5.0")
    write_set(tmp_path / "v5.1", edit=lambda run, log: log if run < 7 else lora(run + 50, 3456))
    ((pair,), _) = compare(gather([tmp_path / "v5.0"]), gather([tmp_path / "v5.1"]))
    assert pair.same_runs == 7 and pair.speedup == pytest.approx(1)


def several(root: Path, systems: dict[str, str], benchmark: str = "llama2_70b_lora") -> Path:
    """Sets of the same runs on several systems of one submitter: name -> nodes."""
    for number, (name, nodes) in enumerate(systems.items()):
        write_set(root / str(number), [3456] * 3, system=SYSTEM | {"number_of_nodes": nodes})
        for part in ("results", "systems"):
            (root / "Acme" / part).mkdir(parents=True, exist_ok=True)
        folder = root / str(number) / "Acme"
        (folder / "results" / "box").rename(root / "Acme" / "results" / name)
        (folder / "systems" / "box.json").rename(root / "Acme" / "systems" / f"{name}.json")
    return root


def test_pairs_by_name_then_by_accelerators(tmp_path: Path) -> None:
    a = gather([several(tmp_path / "v5.0", {"same": "2", "old": "4", "large": "64"})])
    b = gather([several(tmp_path / "v5.1", {"same": "2", "new": "4", "small": "1"})])
    pairs, alone = compare(a, b)
    assert {(p.a, p.b, p.paired_by) for p in pairs} == {
        ("Acme/same", "Acme/same", "name"),
        ("Acme/old", "Acme/new", "accelerators"),
        ("Acme/large", "Acme/small", "benchmark"),
    }
    assert not alone


def test_sets_without_a_partner_are_named(tmp_path: Path) -> None:
    a = gather([several(tmp_path / "v5.0", {"same": "2", "large": "64", "larger": "128"})])
    b = gather([several(tmp_path / "v5.1", {"same": "2", "small": "1"})])
    pairs, alone = compare(a, b)
    assert len(pairs) == 1
    assert alone == [
        "only in A: Acme/large/llama2_70b_lora",
        "only in A: Acme/larger/llama2_70b_lora",
        "only in B: Acme/small/llama2_70b_lora",
    ]
