"""What a notebook's processes run in: their environment variables, and how they end when their parent does.

Every executed notebook depends on this module, so that a change here makes all of them stale.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import site
import sys
from pathlib import Path

import evidence
from evidence.lab.device import PINNED_ALLOCATOR
from evidence.library.project import Project

ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""Pools that libraries open at import; a second thread on a shared machine measures the neighbour."""

PR_SET_PDEATHSIG = 1


def child_environment(project: Project, folder: Path) -> dict[str, str]:
    """The variables for a worker and its kernel; `folder` is the run's own scratch folder.

    The user's IPython profile and start-up files are left out, because they could change what a notebook measures.
    """
    variables = dict(os.environ) | PINNED_ALLOCATOR | dict.fromkeys(ONE_THREAD, "1")
    variables |= {
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "EVIDENCE_ROOT": str(project.root),
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(folder),
    }
    source = str(Path(evidence.__file__).resolve().parents[1])
    installed = [*site.getsitepackages(), site.getusersitepackages()]
    if source not in installed:  # a checkout: the notebook must import the package that runs it
        others = [path for path in variables.get("PYTHONPATH", "").split(os.pathsep) if path]
        variables["PYTHONPATH"] = os.pathsep.join([source, *others])
    return variables


def die_with_parent(parent: int, number: signal.Signals) -> None:
    """Have the system send this process `number` when its parent ends, however that happens (Linux).

    Elsewhere a worker ends when it next reports progress into the closed pipe, and its kernel, which looks for its
    parent every second, after it.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if os.getppid() != parent:  # it was gone before we asked
        os.kill(os.getpid(), number)


def signal_group(leader: int | None, number: signal.Signals) -> None:
    """Send a signal to the process group of `leader`; nothing happens if it is gone or was never started."""
    if leader:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, number)
