"""`python -m evidence.runs.worker FOLDER FD`: one notebook through papermill, in a process of its own.

The folder holds `spec.json` and `in.ipynb`; papermill writes `out.ipynb` there. What happens is told to the parent as
JSON lines on the file descriptor, because only the kernel's own replies tell whether a cell ran: after a dead kernel
papermill marks every cell completed, and it lets `sys.exit(0)` and a swallowed exception pass.

Events: `{"event": "kernel", "pid"}`, `{"event": "cells", "total"}`, `{"event": "start", "index"}`,
`{"event": "done", "index", "count", "status", "what"}` and, last, `{"event": "end", "error"}`.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import sys
from pathlib import Path
from typing import Any, ClassVar

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

from evidence.runs.environment import die_with_parent, signal_group

SOCKET_PATH = 60
"""Unix sockets hold about a hundred characters, of which the kernel's names need up to forty."""


class ThisPython(AsyncKernelManager):
    """A kernel of the interpreter that runs this, whatever kernels are installed under the notebook's name."""

    latest: ClassVar[ThisPython | None] = None

    def __init__(self, **options: Any) -> None:
        folder = Path(os.environ["JUPYTER_RUNTIME_DIR"])
        if len(str(folder)) <= SOCKET_PATH:  # no ports that another kernel could take first
            options["transport"] = "ipc"
        super().__init__(connection_file=str(folder / "k.json"), **options)
        ThisPython.latest = self

    @property
    def kernel_spec(self) -> KernelSpec:
        return KernelSpec(
            argv=[sys.executable, "-m", "evidence.runs.kernel", "-f", "{connection_file}"],
            display_name="Python 3",
            language="python",
        )

    @classmethod
    def pid(cls) -> int | None:
        return getattr(cls.latest and cls.latest.provisioner, "pid", None)


class EndedBadlyError(Exception):
    """A cell that the kernel called well, and that did not end well."""


class AtomicFiles:
    """papermill's way to files, so that whoever reads a notebook while it runs sees a whole one."""

    def read(self, path: str) -> str:
        return Path(path).read_text(encoding="utf-8")

    def write(self, text: str, path: str) -> None:
        aside = Path(path).with_suffix(".part")
        aside.write_text(text, encoding="utf-8")
        aside.replace(path)

    def pretty_path(self, path: str) -> str:
        return Path(path).name


class Reporter:
    """nbclient's hooks: every reply of the kernel goes to the parent."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def tell(self, event: str, **fields: Any) -> None:
        os.write(self.descriptor, json.dumps({"event": event, **fields}).encode() + b"\n")

    def begin(self, notebook: Any) -> None:
        self.tell("kernel", pid=ThisPython.pid())
        code = [c for c in notebook.cells if c.cell_type == "code" and c.source.strip()]
        self.tell("cells", total=len(code))

    def start(self, cell: Any, cell_index: int) -> None:
        self.tell("start", index=cell_index)

    def done(self, cell: Any, cell_index: int, execute_reply: Any) -> None:
        reply = execute_reply["content"]
        what = what_went_wrong(reply, cell.outputs)
        count, status = reply.get("execution_count"), reply["status"]
        self.tell("done", index=cell_index, count=count, status=status, what=what)
        for line in reply.get("traceback", []):
            print(re.sub(r"\x1b\[[0-9;]*m", "", line), file=sys.stderr)
        if what and status == "ok":
            raise EndedBadlyError(what)


def what_went_wrong(reply: Any, outputs: Any) -> str:
    """One line; empty if the cell ended well. `reply` is the content of the kernel's answer."""
    if reply["status"] != "ok":
        return _error(reply.get("ename", reply["status"]), reply.get("evalue", ""))
    for output in outputs:
        if output["output_type"] == "error":
            return f"swallowed {_error(output['ename'], output['evalue'])}"
    if any(payload.get("source") == "ask_exit" for payload in reply.get("payload", [])):
        return "asked the kernel to exit"
    return ""


def _error(name: str, value: str) -> str:
    first = next(iter(re.sub(r"\x1b\[[0-9;]*m", "", value).strip().splitlines()), "")
    return f"{name}: {first[:300]}" if first else name


def main(folder: Path, descriptor: int) -> int:
    """Run the notebook; 0 if papermill came to the end, 1 otherwise. The parent judges, not this code."""
    spec = json.loads((folder / "spec.json").read_text(encoding="utf-8"))

    def ended(*_: object) -> None:
        signal_group(ThisPython.pid(), signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)  # the parent may be gone, and nobody needs a stopped run
        os._exit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, ended)
    die_with_parent(spec["parent"], signal.SIGTERM)
    reporter = Reporter(descriptor)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    try:
        execute(folder, spec["parameters"], reporter)
    except Exception as error:
        logging.error("%s: %s", type(error).__name__, error)
        provisioner = ThisPython.latest and ThisPython.latest.provisioner
        process = getattr(provisioner, "process", None)
        reporter.tell("end", error=_error(type(error).__name__, str(error)), code=process and process.poll())
        return 1
    reporter.tell("end", error="", code=None)
    return 0


def execute(folder: Path, parameters: dict[str, Any], reporter: Reporter) -> None:
    """papermill with our kernel and our hooks."""
    import papermill
    from papermill.iorw import papermill_io

    papermill_io.register("/", AtomicFiles())
    papermill.execute_notebook(
        str(folder / "in.ipynb"),
        str(folder / "out.ipynb"),
        parameters=parameters,
        kernel_name="python3",
        language="python",
        progress_bar=False,
        log_output=True,
        start_timeout=120,
        iopub_timeout=60,  # a loaded machine may be slow to hand over a large figure
        coalesce_streams=True,  # a progress bar leaves its last state, not every state
        force_raise_errors=True,  # a tag that allows errors does not make a run complete
        kernel_manager_class=ThisPython,
        on_notebook_start=reporter.begin,
        on_cell_execute=reporter.start,
        on_cell_executed=reporter.done,
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
