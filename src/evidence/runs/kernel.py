"""`python -m evidence.runs.kernel -f FILE`: an IPython kernel that does not outlive the worker that started it."""

from __future__ import annotations

import os
import signal

from evidence.runs.environment import die_with_parent

if __name__ == "__main__":
    die_with_parent(int(os.environ["JPY_PARENT_PID"]), signal.SIGKILL)
    from ipykernel import kernelapp

    kernelapp.launch_new_instance()
