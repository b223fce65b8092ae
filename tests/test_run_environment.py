"""The environment of a run's processes, without starting any."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import evidence
from evidence.library.project import Project
from evidence.runs.environment import child_environment, signal_group

SOURCE = str(Path(evidence.__file__).resolve().parents[1])


def test_a_checkout_imports_itself_before_what_the_user_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("site.getsitepackages", list)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", "/users/own"]))
    found = child_environment(Project(tmp_path), tmp_path)
    assert found["PYTHONPATH"] == os.pathsep.join([SOURCE, "/users/own"])


def test_an_installed_package_needs_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("site.getsitepackages", lambda: [SOURCE])
    monkeypatch.delenv("PYTHONPATH", raising=False)
    assert "PYTHONPATH" not in child_environment(Project(tmp_path), tmp_path)


def test_the_users_thread_counts_do_not_reach_a_measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "16")
    assert child_environment(Project(tmp_path), tmp_path)["OMP_NUM_THREADS"] == "1"


def test_a_group_that_is_gone_is_no_error() -> None:
    signal_group(None, signal.SIGTERM)
    done = subprocess.Popen([sys.executable, "-c", ""], start_new_session=True)
    done.wait()
    signal_group(done.pid, signal.SIGTERM)


def test_a_child_whose_parent_is_gone_already_ends_itself() -> None:
    code = (
        "import signal; from evidence.runs.environment import die_with_parent as d; d(1, signal.SIGTERM); print('on')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGTERM, "")
