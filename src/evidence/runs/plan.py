"""From a notebook's name and what the user asked for to a job: what is run, with which values, and where it goes.

| run | executed notebook | shown in the book |
|---|---|---|
| profile `ci` or `full`, default parameters | `_executed/precision.ipynb` | yes |
| with `-p seed=3` | `_executed/precision@seed=3.ipynb` | no |
| profile `smoke` | `_executed/smoke/precision.ipynb` | no |
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from evidence.library.errors import InputError, nearest
from evidence.library.harvest import Notebook, read_notebook
from evidence.library.models import Profile
from evidence.library.project import Project
from evidence.runs.parameters import Declared, Value, declared, typed, unread

LIMITS: Mapping[str, float] = {"smoke": 300.0, "ci": 1200.0, "full": 6 * 3600.0}
"""Seconds that a whole notebook may take; generous, because a limit is for what hangs."""

SHOWN = ("ci", "full")
"""Profiles whose runs the book shows."""


@dataclass(frozen=True)
class Request:
    """What the user asks for; `profile` None keeps the profile of the run that is there, else `ci`."""

    given: Mapping[str, str]
    device: str = "auto"
    profile: str | None = None
    limit: float | None = None
    cell_limit: float | None = None


@dataclass(frozen=True)
class Job:
    """One execution of a notebook: everything is known and checked, nothing has been run.

    `values` are all parameters as the notebook will see them, `injected` those that differ from its defaults;
    `device` is what `auto` comes to here; limits are seconds.
    """

    project: Project
    name: str
    label: str
    source: Notebook
    parameters: Declared
    values: Mapping[str, Value]
    injected: Mapping[str, Value]
    profile: str
    device: str
    limit: float
    cell_limit: float | None = None

    @property
    def destination(self) -> Path:
        return self.project.executed / f"{self.label}.ipynb"

    @property
    def log(self) -> Path:
        return self.project.executed / "logs" / f"{self.label}.log"

    @property
    def failed(self) -> Path:
        """Where a run that failed is kept, beside the last good one."""
        return self.project.executed / "failed" / f"{self.label}.ipynb"

    @property
    def injected_at(self) -> int | None:
        """Where papermill puts the injected parameters in the executed notebook."""
        return self.parameters.index + 1 if self.injected else None


def plan(project: Project, name: str, request: Request | None = None) -> Job:
    """Read the notebook, check it, and decide with which values it runs and where the result goes.

    Raises:
        InputError: no such notebook, a notebook that cannot be run as it is, an unknown or mistyped parameter,
            an unknown profile, or a device that is not here.
    """
    request = request or Request({})
    source = find_notebook(project, name)
    parameters = declared(source)
    unread(source, parameters)
    for option in ("device", "profile"):
        if option in request.given:
            raise InputError(f"-p {option}=… is an option of its own", where="-p", mend=f"use --{option}")
    values = {key: typed(key, text, parameters) for key, text in request.given.items()}
    changed = {key: value for key, value in values.items() if value != parameters.defaults[key]}
    variant = name + ("@" + ",".join(f"{key}={_safe(changed[key])}" for key in sorted(changed)) if changed else "")
    profile = request.profile or shown_profile(project, variant)
    if profile not in get_args(Profile):
        raise InputError(f"unknown profile {profile!r}", "--profile", nearest(profile, list(get_args(Profile))))
    device = resolve_device(request.device)
    wanted = {**parameters.defaults, **changed, "profile": profile}
    if request.device != "auto":
        wanted["device"] = request.device
    return Job(
        project=project,
        name=name,
        label=f"smoke/{variant}" if profile == "smoke" else variant,
        source=source,
        parameters=parameters,
        values=wanted,
        injected={key: value for key, value in wanted.items() if value != parameters.defaults[key]},
        profile=profile,
        device=device,
        limit=request.limit or LIMITS[profile],
        cell_limit=request.cell_limit,
    )


def find_notebook(project: Project, name: str) -> Notebook:
    """The notebook by its name; a path to it is understood too.

    Raises:
        InputError: no notebook by that name, or it is not one of format 4.
    """
    stem = Path(name).stem if name.endswith(".ipynb") else name
    path = project.notebook(stem)
    if stem not in project.notebook_names():
        raise InputError(f"no notebook {name!r}", project.relative(path), nearest(stem, project.notebook_names()))
    notebook = read_notebook(path, project.relative(path))
    if notebook.data.get("nbformat") != 4:
        raise InputError(f"is of notebook format {notebook.data.get('nbformat')}", notebook.name, "save it as format 4")
    return notebook


def run_of(path: Path) -> Mapping[str, Any]:
    """What a complete run wrote about itself into an executed notebook; empty if there is none to rely on."""
    if not path.exists():
        return {}
    try:
        notebook = read_notebook(path, path.name)
    except InputError:
        return {}
    return notebook.run if notebook.complete else {}


def shown_profile(project: Project, label: str) -> str:
    """The profile of the run that the book shows, so that a patient `full` run is not replaced by a `ci` one."""
    profile = run_of(project.executed / f"{label}.ipynb").get("profile")
    return str(profile) if profile in SHOWN else "ci"


def resolve_device(device: str) -> str:
    """`cpu` or `cuda`; torch is imported only where there may be a GPU.

    Raises:
        InputError: an unknown device, or `cuda` on a machine without one.
    """
    known = ["auto", "cpu", "cuda"]
    if device not in known:
        raise InputError(f"unknown device {device!r}", "--device", nearest(device, known))
    driver = any(Path(node).exists() for node in ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd"))
    if device == "cpu" or (device == "auto" and sys.platform == "linux" and not driver):
        return "cpu"
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if device == "cuda":
        raise InputError("no CUDA device on this machine", "--device", "use auto or cpu")
    return "cpu"


def _safe(value: Value) -> str:
    """A value as part of a file name; what would not survive there is told apart by a digest."""
    text = str(value)
    safe = re.sub(r"[^\w.+-]", "_", text)[:40]
    return safe if safe == text else f"{safe}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"
