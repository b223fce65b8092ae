"""The shape of what is known: sources, claims, techniques, rules, benchmarks and records.

These pydantic models are the only schema. Unknown keys and unknown words are errors; `library.load` adds file
and line to them. Numbers that an author wrote stay text where the text matters (`value: "3.5-4"`).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator

Lever = Literal[
    "batch-size", "precision", "parallelism", "overlap", "data", "kernels",
    "bert", "dlrm", "lora", "moe", "rules", "other",
]  # fmt: skip
Status = Literal["allowed", "conditional", "needs-approval", "not-allowed", "untested"]
StatusHere = Literal["allowed", "conditional", "needs-approval", "not-allowed", "untested", "n/a", "unknown"]
Check = Literal["confirmed", "differs", "not-found"]
Scope = Literal["end-to-end", "step", "kernel", "loading", "memory", "convergence", "none"]
Kind = Literal[
    "hyperparameter", "scoring", "graph-execution", "optimizer", "numerics", "other", "data", "timing", "model"
]
Quantity = Literal[
    "speedup", "slowdown", "time", "throughput", "scaling", "utilisation", "memory", "bytes", "compute", "cost",
    "quality", "quality-gap", "epochs", "steps", "samples", "batch-size", "hyperparameters", "size", "error", "share",
    "count", "property", "mechanism", "rule", "attribution",
]  # fmt: skip
EffectKind = Literal["ratio", "difference", "parity", "equivalence", "exact"]
How = Literal["measured", "counted", "emulated", "computed"]
Direction = Literal["above", "below", "within", "equal"]
Verdict = Literal["holds", "weaker", "contradicted", "inconclusive", "not-measured"]
Profile = Literal["smoke", "ci", "full"]

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(?:[-_.][a-z0-9]+)*$")]
EffectId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+/[a-z0-9.-]+$")]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Model(BaseModel):
    """Frozen, and strict about keys: a misspelt field is an error, not a silent default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Here(Model):
    """What differs on one benchmark."""

    status: StatusHere
    why: Text
    rules: list[Slug] = []
    condition: str = ""


class Compliance(Model):
    """A technique's status in one round, and the rules that decide it."""

    status: StatusHere
    rules: list[Slug] = []
    why: Text
    condition: str = ""
    benchmarks: dict[Slug, Here] = {}

    @model_validator(mode="after")
    def _says_enough(self) -> Compliance:
        if self.status == "conditional" and not (self.condition or self.benchmarks):
            raise ValueError("conditional without a condition: say what is checked, or on which benchmarks")
        if self.status not in ("unknown", "n/a") and not self.rules:
            raise ValueError("a status other than unknown needs the rules that decide it")
        return self


class Technique(Model):
    """Something a submitter could do.

    `equivalence` is an effect id, `counted: …`, `testable: …` (what a test would need) or `not testable: …`.
    """

    id: Slug
    title: Text
    kind: Kind
    also: list[Text] = []
    compliance: dict[str, Compliance]
    equivalence: Text
    remark: str = ""
    review_says: str = ""
    review_agrees: Literal["yes", "partly", "no", "n/a"] = "n/a"


class Conditions(Model):
    """Under which conditions a claim was made; empty where the source does not say."""

    model: str = ""
    system: str = ""
    scale: str = ""
    precision: str = ""
    other: str = ""


class Claim(Model):
    """One checkable statement that a source makes, in our own words.

    `see` are further sources, which the check was made against or the note leans on.
    """

    id: Slug
    source: Slug
    techniques: list[Slug] = []
    says: Text
    quantity: Quantity
    scope: Scope
    value: str = ""
    unit: str = ""
    baseline: str = ""
    conditions: Conditions = Conditions()
    check: Check
    checked_against: str = ""
    review_says: str = ""
    note: str = ""
    see: list[Slug] = []
    effects: list[EffectId] = []

    @model_validator(mode="after")
    def _differs_says_how(self) -> Claim:
        if self.check == "differs" and not (self.note or self.review_says):
            raise ValueError("check is differs: give review_says or a note that states the source's own value")
        return self


class LeverFile(Model):
    """One YAML file beside its chapter: two flat lists."""

    techniques: list[Technique] = []
    claims: list[Claim] = []


class Source(Model):
    """An entry of `references.bib`, with what was read of it."""

    key: Slug
    type: str
    title: Text
    authors: list[str] = []
    year: int | None = None
    venue: str = ""
    doi: str = ""
    eprint: str = ""
    url: str = ""
    read: str = ""
    checked: str = ""
    confidence: str = "high"
    note: str = ""


class Rule(Model):
    """One paraphrased rule of a round's rulebook."""

    id: Slug
    section: Text
    document: Text
    applies_to: list[Text]
    summary: Text
    changed_in: list[str] = []
    history: str = ""
    verifier: str = ""


class Hyperparameter(Model):
    """One row of the hyperparameter table: what it must be and what the official checker does about it."""

    name: Text
    constraint: Text
    tunable: bool
    verifier: str = ""
    value: str = ""
    expr: str = ""
    source: str = ""


class ReferencePoint(Model):
    """One reference convergence point, with the limit that the official checker makes of it.

    `mean` and `stdev_checker` are in the benchmark's convergence unit; `max_speedup_checker` is mean / smallest mean.
    """

    gbs: int
    runs: int
    precision: Text
    mean: float
    stdev_checker: float
    min_mean_checker: float
    max_speedup_checker: float
    kept_after_pruning: bool
    min_mean_with_leeway: float | None = None
    max_speedup_with_leeway: float | None = None


class Benchmark(Model):
    """One benchmark of a round. Expressions are Python over `gbs` and `math`.

    `removed` left with this round, `retired` left before it (`last_round` says when it ran last); neither can be
    entered, and a technique's `benchmarks` names only those that can.
    """

    id: Slug
    round: str
    status: Literal["current", "new", "removed", "retired"] = "current"
    last_round: str = ""
    area: str = ""
    problem: str = ""
    model: str = ""
    dataset: str = ""
    quality: dict[str, str] = {}
    runs_required: int | None = None
    dropped_runs: dict[str, str] = {}
    eval: dict[str, str] = {}
    convergence_unit: str = ""
    optimizer: str = ""
    hyperparameters: list[Hyperparameter] = []
    gbs_constraints: str = ""
    lr_formula: str = ""
    special_rules: list[str] = []
    origin: str = ""
    rcp: list[ReferencePoint] = []


class RoundFile(Model):
    """`book/rules/v<round>.yml`.

    With `base` the file holds only what differs from that round: rules and benchmarks given here replace those of
    the same id, `rules_dropped` names rules that ended, and everything else continues. `over` puts the two together.
    """

    round: str
    dated: str
    base: str = ""
    origin: dict[str, Any]
    rules: list[Rule]
    rules_dropped: list[Slug] = []
    benchmarks: list[Benchmark]
    checker_facts: dict[str, list[str]] = {}
    changes: list[str] = []

    def over(self, base: RoundFile) -> RoundFile:
        """This round in full: what `base` holds, with this file's rules and benchmarks over it.

        Benchmarks that continue get this round's number; the base's order is kept, what is new comes last.

        Raises:
            ValueError: `base` is not the round that this file names, or a dropped rule is unknown there.
        """
        if base.round != self.base:
            raise ValueError(f"round {self.round} builds on {self.base or 'no other round'}, not on {base.round}")
        rules = {rule.id: rule for rule in base.rules}
        if unknown := sorted(set(self.rules_dropped) - set(rules)):
            raise ValueError(f"rules_dropped names rules that round {base.round} does not have: {', '.join(unknown)}")
        rules |= {rule.id: rule for rule in self.rules}
        benchmarks = {each.id: each.model_copy(update={"round": self.round}) for each in base.benchmarks}
        benchmarks |= {each.id: each for each in self.benchmarks}
        kept = [rule for rule in rules.values() if rule.id not in self.rules_dropped]
        return self.model_copy(update={"base": "", "rules": kept, "benchmarks": list(benchmarks.values())})


class Expectation(Model):
    """What an effect promised before it was measured."""

    direction: Direction
    bound: float
    null: float | None = None
    cited: float | list[float] | str | None = None


class ControlRecord(Model):
    """The same measurement, deliberately broken."""

    fault: Text
    verdict: Verdict
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    samples: list[float] = []


class Record(Model):
    """One effect as measured once. This is also the JSON that an executed notebook carries.

    `machine` is the fingerprint of `lab.device.fingerprint`; `machine["class"]` names the machine class.
    """

    schema_version: Literal[1] = 1
    id: EffectId
    title: str = ""
    kind: EffectKind
    how: How
    claims: list[Slug] = []
    techniques: list[Slug] = []
    expectation: Expectation
    verdict: Verdict
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    n: int = 0
    samples: list[float] = []
    guards: dict[str, str] = {}
    control: ControlRecord | None = None
    machine: dict[str, str] = {}
    versions: dict[str, str] = {}
    profile: str = "ci"
    seed: int = 0
    reason: str = ""
    measured_at: str = ""
    notebook: str = ""


BROKEN: frozenset[Verdict] = frozenset({"weaker", "contradicted"})
"""What a control must come out as; anything else means that the measurement cannot tell right from wrong."""

EFFECT_MIME = "application/vnd.evidence.effect+json"
"""The MIME type under which a notebook output carries a `Record`."""
