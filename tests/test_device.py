"""What a run stands on: chosen device, profile, threads, and a fingerprint that says enough and no more."""

from __future__ import annotations

import getpass
import json
import os
import platform
import socket
import subprocess
import sys

import numpy as np
import pytest
import torch

from evidence.lab.device import PINNED_ALLOCATOR, Run, fingerprint, has_flag, machine_class, start, versions
from evidence.library.errors import InputError


def test_start_chooses_a_device_that_is_there_and_sets_threads_and_seed() -> None:
    before = torch.get_num_threads()
    try:
        run = start(seed=7, threads=2)
        assert run.device == ("cuda" if torch.cuda.is_available() else "cpu")
        assert (run.profile, run.seed, run.machine["threads"]) == ("ci", 7, "2")
        assert torch.get_num_threads() == 2
        drawn = torch.rand(3)
        start(device="cpu", seed=7)
        assert torch.equal(drawn, torch.rand(3)) and torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("arguments", "what", "mend"),
    [
        ({"device": "gpu"}, "unknown device 'gpu'", "cpu"),
        ({"profile": "smok"}, "unknown profile 'smok'", "did you mean 'smoke'?"),
        ({"threads": 0}, "threads must be at least 1", "1"),
        ({"seed": "x"}, "seed must be a whole number", "0"),
        ({"seed": -1}, "seed must be a whole number", "0"),
    ],
)
def test_a_wrong_parameter_is_one_line_that_says_what_is_allowed(
    arguments: dict[str, str], what: str, mend: str
) -> None:
    with pytest.raises(InputError) as error:
        start(**arguments)  # type: ignore[arg-type]
    line = str(error.value)
    assert what in line and mend in line and "\n" not in line


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_cuda_without_a_gpu_is_refused() -> None:
    with pytest.raises(InputError, match="no CUDA device"):
        start(device="cuda")


def test_a_profile_picks_its_value() -> None:
    runs = {profile: Run("cpu", profile, 0) for profile in ("smoke", "ci", "full")}  # type: ignore[arg-type]
    assert [runs[name].pick(1, 2, 3) for name in ("smoke", "ci", "full")] == [1, 2, 3]
    assert runs["full"].pick(1, 2) == 2
    assert runs["full"].pick(1, 2, 0) == 0


def test_the_fingerprint_is_text_that_groups_machines_and_names_no_person() -> None:
    found = fingerprint("cpu", 1)
    assert all(isinstance(value, str) for value in found.values())
    assert {"class", "name", "device", "cpu", "cores", "flags", "os", "allocator", "threads"} == set(found)
    assert int(found["cores"]) == len(os.sched_getaffinity(0))
    assert found["class"] == machine_class("cpu") and found["class"].startswith(f"cpu-{platform.machine()}")
    text = json.dumps(found)
    assert socket.gethostname() not in text and f"/{getpass.getuser()}" not in text


def test_the_class_names_the_best_instruction_set_that_bears_on_number_formats() -> None:
    best = [flag for flag in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if has_flag(flag)][-1:]
    assert machine_class("cpu") == "-".join(["cpu", platform.machine(), *best])
    assert not has_flag("avx") or has_flag("sse2"), "flags are whole words"
    assert not has_flag("vx512")


def test_the_fingerprint_says_whether_the_allocator_was_pinned() -> None:
    script = "from evidence.lab.device import fingerprint; print(fingerprint()['allocator'])"
    bare = {key: value for key, value in os.environ.items() if key not in PINNED_ALLOCATOR}
    part = bare | dict(list(PINNED_ALLOCATOR.items())[:1])
    for env, expected in ((bare, "default"), (part, "default"), (bare | PINNED_ALLOCATOR, "pinned")):
        found = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
        assert found.stdout.strip() == expected


def test_versions_are_those_in_use() -> None:
    found = versions()
    assert found["torch"] == torch.__version__ and found["numpy"] == np.__version__
    assert found["python"] == platform.python_version()
