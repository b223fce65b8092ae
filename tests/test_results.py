"""Folders, single logs and archives give the same rows; what cannot be read is said in one line."""

from __future__ import annotations

import os
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from evidence.library.errors import InputError
from evidence.rounds.benchmarks import round_of, ruleset
from evidence.rounds.gather import accelerator_family, gather
from evidence.rounds.rejected import check
from evidence.rounds.results import locate, round_for
from mllogs import SYSTEM, lora, write_set


def packed(root: Path, name: str) -> Path:
    path = root.parent / name
    with tarfile.open(path, "w:xz" if name.endswith("xz") else "w") as archive:
        archive.add(root, arcname=".")
    return path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "training_results_v5.1"
    (write_set(root, [3456] * 3) / "scaling.json").write_text('{"scaling_factor": 1.02}')
    return root


def test_a_repository_its_parts_and_its_archives_tell_the_same(tree: Path) -> None:
    whole = gather([tree])
    assert [(r.submitter, r.system, r.benchmark) for r in whole.rows] == [("Acme", "box", "llama2_70b_lora")] * 3
    assert whole.rows[0].file == "Acme/results/box/llama2_70b_lora/result_0.txt"
    assert (whole.rows[0].accelerator, whole.rows[0].accelerators) == ("GB200", 8)
    assert list(whole.scaling.values()) == [1.02]
    for other in (packed(tree, "v5.1.tar"), packed(tree, "v5.1.tar.xz"), tree / "Acme"):
        found = gather([other])
        assert found.rows == whole.rows and found.scaling == whole.scaling
    part = gather([tree / "Acme" / "results" / "box" / "llama2_70b_lora"])
    assert [row.run for row in part.rows] == [row.run for row in whole.rows]


def test_one_log_of_any_name_and_a_folder_outside_a_repository(tmp_path: Path) -> None:
    folder = tmp_path / "my_runs"
    folder.mkdir()
    (folder / "slurm-17.out").write_bytes(lora())
    (row,) = gather([folder / "slurm-17.out"], "5.1").rows
    assert row.benchmark == "llama2_70b_lora" and row.run.converged
    with pytest.raises(InputError, match=r"no log found.*result_\*\.txt"):
        gather([folder], "5.1")
    (folder / "result_0.txt").write_bytes(lora())
    assert gather([folder], "5.1").rows[0].file == "my_runs/result_0.txt"


@pytest.mark.parametrize("kept", [0.02, 0.4, 0.8])
@pytest.mark.parametrize("name", ["v5.1.tar", "v5.1.tar.xz"])
def test_a_truncated_archive_is_one_line(tree: Path, name: str, kept: float) -> None:
    path = packed(tree, name)
    path.write_bytes(path.read_bytes()[: int(kept * path.stat().st_size)])
    with pytest.raises(InputError, match="cannot be read to its end"):
        gather([path])


def test_an_archive_that_is_none_and_a_path_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "v5.1.tar.gz").write_bytes(b"nothing packed")
    with pytest.raises(InputError, match="cannot be read"):
        gather([tmp_path / "v5.1.tar.gz"])
    with pytest.raises(InputError, match="no such file"):
        gather([tmp_path / "v5.1"])


@pytest.mark.parametrize("name", ["result_0.txt", "v5.1.tar"])
def test_only_files_are_read_to_their_end(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    for path in (tmp_path / name, Path("/dev/zero"), Path("/dev/null")):
        with pytest.raises(InputError, match="neither a regular file nor a folder"):
            gather([path], "5.1")


@pytest.mark.parametrize("kind", ["pipe", "folder", "dangling", "circle"])
def test_a_log_that_is_no_file_is_a_finding(tree: Path, kind: str) -> None:
    log = tree / "Acme" / "results" / "box" / "llama2_70b_lora" / "result_9.txt"
    {
        "pipe": lambda: os.mkfifo(log),
        "folder": log.mkdir,
        "dangling": lambda: log.symlink_to("nowhere"),
        "circle": lambda: log.symlink_to(log),
    }[kind]()
    found = gather([tree])
    assert len(found.rows) == 3
    assert [(f.id, f.place) for f in found.findings] == [("log-no-file", str(log))]
    assert "log-no-file" in {f.id for f in check(tree)}


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A log below 1,500 folders; taken away again, because pytest's own cleaning recurses."""
    home, root = Path.cwd(), tmp_path / "deep"
    root.mkdir()
    os.chdir(root)
    for _ in range(1500):
        Path("d").mkdir()
        os.chdir("d")
    Path("result_0.txt").write_bytes(lora())
    os.chdir(home)
    yield root
    subprocess.run(["rm", "-rf", str(root)], check=True)


def test_folders_nested_deeply(deep: Path) -> None:
    assert len(gather([deep], "5.1").rows) == 1


def test_folders_in_a_circle(tree: Path) -> None:
    (tree / "Acme" / "again").symlink_to(tree)
    assert len(gather([tree]).rows) == 3


def test_damaged_side_files_are_findings(tree: Path) -> None:
    (tree / "Acme" / "systems" / "box.json").write_text("[1, 2")
    (tree / "Acme" / "results" / "box" / "llama2_70b_lora" / "scaling.json").write_text('{"scaling_factor": "much"}')
    found = gather([tree])
    assert {f.id for f in found.findings} == {"system-damaged", "scaling-damaged"}
    assert found.rows[0].accelerators is None and not found.scaling


@pytest.mark.parametrize(
    ("nodes", "each", "count"),
    [("2", "4", 8), (2, 4, 8), (" 2 ", "4", 8), ("two", "4", None), (True, 4, None), (2, -4, None)],
)
def test_counts_are_often_text(tmp_path: Path, nodes: object, each: object, count: int | None) -> None:
    write_set(tmp_path / "v5.1", [3456], system=SYSTEM | {"number_of_nodes": nodes, "accelerators_per_node": each})
    assert gather([tmp_path / "v5.1"]).rows[0].accelerators == count


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("NVIDIA/results/dgx/bert/result_1.txt", ("log", "NVIDIA", "dgx", "bert")),
        ("./IBM+CoreWeave/results/s/rgat/result_4952-24_raw_06.txt", ("log", "IBM+CoreWeave", "s", "rgat")),
        ("results/dgx/bert/scaling.json", ("scaling", "", "dgx", "bert")),
        ("NVIDIA/systems/dgx.json", ("system", "NVIDIA", "dgx", "")),
        ("NVIDIA/results/dgx/bert/slurm.txt", ("other", "NVIDIA", "dgx", "bert")),
        ("bert/result_0.txt", ("log", "", "", "bert")),
        ("result_0.txt", ("log", "", "", "")),
        ("systems.json", ("other", "", "", "")),
    ],
)
def test_places(path: str, place: tuple[str, ...]) -> None:
    found = locate(PurePosixPath(path))
    assert (found.kind, found.submitter, found.system, found.benchmark) == place


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("v5.1.tar.xz", "5.1"),
        ("training_results_v4.0", "4.0"),
        ("x/v5.0/NVIDIA", "5.0"),
        ("mlv5.1", None),
        ("v5", None),
    ],
)
def test_the_round_is_in_the_name(name: str, told: str | None) -> None:
    assert round_of(name) == told


def test_a_round_that_nobody_tells_or_knows(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--round"):
        round_for(tmp_path, None)
    assert round_for(tmp_path, "v5.0") == "5.0"
    assert round_for(tmp_path, "5.1.0") == "5.1"
    with pytest.raises(InputError, match=r"9\.9"):
        ruleset("9.9")
    (tmp_path / "v9.9").mkdir()
    with pytest.raises(InputError, match=r"9\.9"):
        round_for(tmp_path / "v9.9", None)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("NVIDIA H100-SXM5-80GB", "H100-SXM"),
        ("NVIDIA H100 80GB HBM3", "H100-SXM"),
        ("H100 NVL Tensor Core GPU (PCIe)", "H100-NVL"),
        ("NVIDIA Blackwell Ultra GPU (GB300)", "GB300"),
        ("NVIDIA Blackwell GPU (B200-SXM-180GB)", "B200"),
        ("AMD Instinct MI325X 256GB HBM3E DLC", "MI325X"),
        ("TPU-trillium", "TPU trillium"),
        ("Something new", "Something new"),
        (None, None),
    ],
)
def test_spellings_of_an_accelerator(model: str | None, family: str | None) -> None:
    assert accelerator_family(model) == family
