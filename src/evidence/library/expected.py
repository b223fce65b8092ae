"""`records/expected.yml`: the verdict that the book stands on, per effect and machine class.

```yaml
precision/bf16-parity:
  default: {verdict: holds}
  cuda-nvidia-h200: {verdict: weaker, reason: "memory-bound at this size"}
```
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import model_validator

from evidence.library.models import Model, Verdict
from evidence.library.project import Project
from evidence.library.validate import validate_map
from evidence.library.yamlsource import YamlFile, read_yaml

DEFAULT = "default"
"""The machine class that speaks for every class without an entry of its own."""


class Expected(Model):
    """A verdict, with the reason for every one that is not `holds`."""

    verdict: Verdict
    reason: str = ""

    @model_validator(mode="after")
    def _says_why(self) -> Expected:
        if self.verdict != "holds" and not self.reason.strip():
            raise ValueError(f"verdict {self.verdict} without a reason: say why the book stands on it")
        return self


ExpectedVerdicts = Mapping[str, Mapping[str, Expected]]
"""Effect id → machine class (or `default`) → verdict."""


def read_expected(project: Project) -> tuple[dict[str, dict[str, Expected]], YamlFile]:
    """The expected verdicts and the file that they stand in; both empty if there is no file yet.

    Raises:
        InputError: an unknown word or key, or a verdict other than `holds` without a reason.
    """
    name = project.relative(project.expected)
    if not project.expected.exists():
        return {}, YamlFile(name, {}, {})
    source = read_yaml(project.expected, name)
    return validate_map(Expected, source), source


def expected_verdict(expected: ExpectedVerdicts, effect: str, machine_class: str) -> Expected | None:
    """What the book expects of an effect on a machine class; None where it says nothing."""
    entry = expected.get(effect, {})
    return entry.get(machine_class) or entry.get(DEFAULT)
