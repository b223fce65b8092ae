"""What is wrong with a log or a set of logs, said with its place and its rule."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal


@dataclass(frozen=True)
class LogFinding:
    """One thing that a reviewer, or a checker, would object to.

    `error` would get the set rejected, `warning` may. `place` is a file with a line where there is one. `rule` is the
    id of a rule in `book/rules/`; empty where only a tool objects.
    """

    id: str
    level: Literal["error", "warning"]
    place: str
    message: str
    mend: str = ""
    rule: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)

    def __str__(self) -> str:
        tail = "".join(f"; {part}" for part in (self.mend, f"rule {self.rule}" if self.rule else "") if part)
        return f"{self.place}: {self.level}: {self.message}{tail} [{self.id}]"
