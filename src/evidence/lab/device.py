"""Which machine this is, and how a notebook takes hold of it: device, threads, seed, fingerprint."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, get_args

from evidence.library.errors import InputError, nearest
from evidence.library.models import Profile

PINNED_ALLOCATOR = {
    "MALLOC_MMAP_THRESHOLD_": str(8 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(8 << 30),
    "MALLOC_TOP_PAD_": str(256 << 20),
}
"""glibc gives large blocks back to the kernel, so that an arm with large temporaries pays page faults: an artefact of
the C library that inflated or flipped ratios. It reads these before the process starts; `runs` sets them."""

CPU_FLAGS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")


@dataclass(frozen=True)
class Run:
    """What one execution of a notebook stands on. Made by `start`; every `Effect.judge` takes it."""

    device: str
    profile: Profile
    seed: int
    machine: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def cuda(self) -> bool:
        return self.device == "cuda"

    def pick(self, smoke: Any, ci: Any, full: Any = None) -> Any:
        """The value for this profile; `full` defaults to the value for `ci`."""
        return {"smoke": smoke, "ci": ci, "full": ci if full is None else full}[self.profile]


def start(device: str = "auto", profile: str = "ci", seed: int = 0, threads: int = 1) -> Run:
    """Take hold of the machine for a notebook: choose the device, set torch's threads and seed, fingerprint it.

    Args:
        device: `auto` (a GPU if there is one), `cpu` or `cuda`.
        profile: `smoke`, `ci` or `full`.
        seed: seeds torch; derive further generators from `run.seed`.
        threads: torch threads; one by default, because two threads on a shared machine measure the neighbour.

    Raises:
        InputError: an unknown profile or device, `cuda` on a machine without one, or an unusable seed or threads.
    """
    import torch

    for what, value, allowed in (
        ("device", device, ("auto", "cpu", "cuda")),
        ("profile", profile, get_args(Profile)),
    ):
        if value not in allowed:
            raise InputError(f"unknown {what} {value!r}", where=what, mend=nearest(str(value), list(allowed)))
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed must be a whole number from 0 on, not {seed!r}", where="seed", mend="write seed=0")
    if threads < 1:
        raise InputError(f"threads must be at least 1, not {threads}", where="threads", mend="write threads=1")
    has_cuda = torch.cuda.is_available()
    if device == "cuda" and not has_cuda:
        raise InputError("no CUDA device on this machine", where="device", mend="use auto or cpu")
    chosen = "cuda" if has_cuda and device != "cpu" else "cpu"
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    return Run(chosen, profile, seed, fingerprint(chosen, threads), versions())  # type: ignore[arg-type]


def has_flag(flag: str) -> bool:
    """Whether the CPU says that it has an instruction set, by its Linux name (`avx512_bf16`)."""
    return flag in cpu_flags()


@cache
def cpu_flags() -> frozenset[str]:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return frozenset()
    found = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", text, re.M)
    return frozenset(found.group(1).split()) if found else frozenset()


def cpu_name() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.*)$", text, re.M)
    return found.group(1).strip() if found else platform.processor() or platform.machine()


def machine_class(device: str) -> str:
    """Machines of one class should give one verdict: `cpu-x86_64-avx512_bf16`, `cuda-nvidia-h200`."""
    if device == "cuda":
        import torch

        return "cuda-" + re.sub(r"[^a-z0-9]+", "-", torch.cuda.get_device_name().lower()).strip("-")
    best = next((flag for flag in reversed(CPU_FLAGS) if has_flag(flag)), "")
    return "-".join(part for part in ("cpu", platform.machine(), best) if part)


def fingerprint(device: str = "cpu", threads: int | None = None) -> dict[str, str]:
    """What a reader needs to compare machines. All values are text; `class` groups, `name` is for people."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    found = {
        "class": machine_class(device),
        "name": f"{cpu_name()}, {cores} cores",
        "device": device,
        "cpu": cpu_name(),
        "cores": str(cores),
        "flags": " ".join(flag for flag in CPU_FLAGS if has_flag(flag)),
        "os": f"{platform.system()} {platform.machine()}",
        "allocator": "pinned" if PINNED_ALLOCATOR.items() <= os.environ.items() else "default",
    }
    if threads is not None:
        found["threads"] = str(threads)
    if device == "cuda":
        import torch

        properties = torch.cuda.get_device_properties(0)
        found |= {
            "name": torch.cuda.get_device_name(),
            "gpu": torch.cuda.get_device_name(),
            "gpu_memory_gib": f"{properties.total_memory / 2**30:.0f}",
            "capability": ".".join(map(str, torch.cuda.get_device_capability())),
            "cuda": str(torch.version.cuda),
        }
    return found


def versions() -> dict[str, str]:
    """The versions that a measurement depends on."""
    import numpy
    import torch

    from evidence import __version__

    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
        "evidence": __version__,
    }
