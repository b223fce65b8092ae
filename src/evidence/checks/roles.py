"""Roles that put data into prose name something that exists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.checks.finding import Finding, finding
from evidence.checks.pages import Role
from evidence.checks.subject import Subject
from evidence.library.errors import nearest
from evidence.library.facts import fact


def check(subject: Subject) -> Iterator[Finding]:
    library = subject.library
    rules = {name: None for round in library.rounds for name in library.rules[round]}
    targets: Mapping[str, Mapping[str, Any]] = {
        "claim": library.claims,
        "measured": subject.effects,
        "technique": library.techniques,
        "rule": rules,
    }
    for page in subject.pages:
        for role in page.roles:
            if role.name in targets and role.target.strip() not in targets[role.name]:
                mend = nearest(role.target, list(targets[role.name]))
                yield _unknown(role, f"unknown {role.name} {role.target!r}", mend)
            elif role.name == "fact":
                try:
                    fact(library, role.target.strip())
                except LookupError as error:
                    mend = "write round/benchmark-or-rule/field, as in 6.0/llama31_8b/quality.target"
                    yield _unknown(role, str(error.args[0]), mend)


def _unknown(role: Role, message: str, mend: str) -> Finding:
    return finding("role-target", role.place, f"{{{role.name}}}: {message}", mend)
