"""`load(project) -> Library`: everything that is known, read and validated once.

Files that cannot be read or do not fit the models raise `InputError` with file, line, field and the nearest valid
spelling. Ids that point nowhere are not the loader's business: `checks` reports all of them, with places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from evidence.library.bib import Bibliography, read_bib
from evidence.library.errors import InputError, nearest
from evidence.library.expected import ExpectedVerdicts, read_expected
from evidence.library.harvest import Harvest, harvest
from evidence.library.models import (
    Benchmark,
    Claim,
    Here,
    Lever,
    LeverFile,
    Record,
    RoundFile,
    Rule,
    Source,
    Technique,
)
from evidence.library.project import Project
from evidence.library.validate import validate
from evidence.library.yamlsource import Loc, YamlFile, read_yaml

if TYPE_CHECKING:
    import pandas as pd

    from evidence.library.rows import Kind

LEVERS: tuple[str, ...] = get_args(Lever)
ENTERABLE = ("current", "new")
"""The states of a benchmark in a round in which it can be entered."""

CURRENT_ROUND = "6.0"
"""The round that answers when none is named: the newest whose rules' own text is in the book."""

Placed = Literal["claim", "technique", "source", "rule", "benchmark", "effect", "expected"]
Named = Claim | Technique | Rule | Benchmark


@dataclass(frozen=True)
class Library:
    """What is known. Dictionaries keep the order of the files; ids are as their authors wrote them.

    `rules`, `benchmarks` and `rulefiles` are by round (`"6.0"`), each round in full. `lever_of` answers for techniques
    and claims. `records` come from complete runs only.
    """

    project: Project
    sources: Mapping[str, Source]
    techniques: Mapping[str, Technique]
    claims: Mapping[str, Claim]
    rules: Mapping[str, Mapping[str, Rule]]
    benchmarks: Mapping[str, Mapping[str, Benchmark]]
    rounds: list[str]
    rulefiles: Mapping[str, RoundFile]
    lever_of: Mapping[str, Lever]
    records: Mapping[str, Record]
    expected: ExpectedVerdicts
    bib: Bibliography
    harvest: Harvest
    spots: Mapping[tuple[str, str], tuple[YamlFile, Loc]]

    @property
    def current_round(self) -> str:
        """The round that answers when none is named."""
        return CURRENT_ROUND if CURRENT_ROUND in self.rounds or not self.rounds else self.rounds[-1]

    def place(self, kind: Placed, name: str, *fields: str | int) -> str:
        """`file:line` of what is called `name`, or of a field in it.

        A rule or benchmark is `id` (where the first round states it) or `round/id`. An effect stands in a cell of an
        executed notebook: `notebooks/_executed/precision.ipynb:cell 7`.

        Raises:
            KeyError: there is nothing of that name.
        """
        if kind == "source":
            if name not in self.bib.entries:
                raise KeyError(name)
            return f"{self.bib.name}:{self.bib.line(name)}"
        if kind == "effect":
            return self.harvest.places[name]
        file, loc = self._spot(kind, name)
        return file.place((*loc, *fields))

    def _spot(self, kind: str, name: str) -> tuple[YamlFile, Loc]:
        """Where it stands; what a round takes over from an earlier one stands there."""
        if kind not in ("rule", "benchmark"):
            return self.spots[kind, name]
        round, _, plain = name.rpartition("/")
        rounds = self.rounds[: self.rounds.index(round) + 1][::-1] if round in self.rounds else self.rounds
        for each in rounds:
            if (kind, f"{each}/{plain}") in self.spots:
                return self.spots[kind, f"{each}/{plain}"]
        raise KeyError(name)

    def status(self, technique: str, benchmark: str, round: str) -> Here:
        """What a technique's compliance is on one benchmark of one round.

        The benchmark's own entry decides, otherwise the technique's general status; `n/a` if the benchmark cannot be
        entered in that round, `unknown` if nothing is recorded for the round.

        Raises:
            KeyError: no such technique.
        """
        general = self.techniques[technique].compliance.get(round)
        if general is None:
            return Here(status="unknown", why=f"nothing is recorded for round {round}")
        here = general.benchmarks.get(benchmark)
        if here is not None:
            return here if here.rules else here.model_copy(update={"rules": general.rules})
        found = self.benchmarks.get(round, {}).get(benchmark)
        if found is None or found.status not in ENTERABLE:
            return Here(status="n/a", why=f"{benchmark} cannot be entered in round {round}")
        return Here(status=general.status, why=general.why, rules=general.rules, condition=general.condition)

    def frame(self, kind: Kind) -> pd.DataFrame:
        """The rows of `library.rows` as a DataFrame."""
        import pandas as pd

        from evidence.library.rows import ROWS, rows

        return pd.DataFrame([row.model_dump() for row in rows(self, kind)], columns=list(ROWS[kind].model_fields))


def load(project: Project) -> Library:
    """Read the whole library of a checkout.

    Raises:
        InputError: the first file that cannot be used, with file, line, field and what to write instead.
    """
    spots = _Spots()
    techniques: dict[str, Technique] = {}
    claims: dict[str, Claim] = {}
    lever_of: dict[str, Lever] = {}
    for lever, path in lever_files(project):
        source = read_yaml(path, project.relative(path))
        content = validate(LeverFile, source)
        spots.add("technique", content.techniques, source, "techniques")
        spots.add("claim", content.claims, source, "claims")
        techniques |= {each.id: each for each in content.techniques}
        claims |= {each.id: each for each in content.claims}
        lever_of |= dict.fromkeys(
            [each.id for each in content.techniques] + [each.id for each in content.claims], lever
        )
    rulefiles = _read_rounds(project, spots)
    expected, expected_source = read_expected(project)
    spots.found |= {("expected", effect): (expected_source, (effect,)) for effect in expected}
    bib, harvested = read_bib(project), harvest(project)
    return Library(
        project=project,
        sources=bib.sources,
        techniques=techniques,
        claims=claims,
        rules={name: {rule.id: rule for rule in file.rules} for name, file in rulefiles.items()},
        benchmarks={name: {each.id: each for each in file.benchmarks} for name, file in rulefiles.items()},
        rounds=list(rulefiles),
        rulefiles=rulefiles,
        lever_of=lever_of,
        records=harvested.records,
        expected=expected,
        bib=bib,
        harvest=harvested,
        spots=spots.found,
    )


def lever_files(project: Project) -> list[tuple[Lever, Path]]:
    """The YAML files of techniques and claims, in the order of the levers; a file is named as its lever.

    Raises:
        InputError: a file in `book/levers` or `book/plays` that is named otherwise, or a lever with two files.
    """
    found: dict[str, Path] = {}
    for folder in ("levers", "plays", "rules"):
        for path in sorted((project.book / folder).glob("*.yml")):
            name = project.relative(path)
            if path.stem in found:
                raise InputError(f"lever {path.stem} has two files", name, f"keep {project.relative(found[path.stem])}")
            if path.stem in LEVERS:
                found[path.stem] = path
            elif folder != "rules":  # there also lie the rounds, and data of single pages
                raise InputError(f"{path.stem!r} is not a lever", name, nearest(path.stem, list(LEVERS)))
    return [(lever, found[lever]) for lever in get_args(Lever) if lever in found]


@dataclass
class _Spots:
    """Where each named thing stands, and that no name is given twice."""

    found: dict[tuple[str, str], tuple[YamlFile, Loc]] = field(default_factory=dict)

    def add(self, kind: str, items: Sequence[Named], source: YamlFile, key: str, prefix: str = "") -> None:
        """Note the items of the list `key` of a file.

        Raises:
            InputError: a name that is taken, by this kind or by the other of technique and claim.
        """
        rivals = ("technique", "claim") if kind in ("technique", "claim") else (kind,)
        for index, item in enumerate(items):
            loc, name = (key, index), prefix + item.id
            for rival in rivals:
                if (rival, name) in self.found:
                    file, first = self.found[rival, name]
                    where, mend = (
                        f"{source.place(loc)}: {key}[{item.id}]",
                        f"rename one or merge them: {file.place(first)}",
                    )
                    raise InputError(f"id {item.id!r} is already the id of a {rival}", where, mend)
            self.found[kind, name] = (source, loc)


def _read_rounds(project: Project, spots: _Spots) -> dict[str, RoundFile]:
    """Every `book/rules/v<round>.yml` in full, oldest first."""
    rounds: dict[str, RoundFile] = {}
    for path in sorted((project.book / "rules").glob("v[0-9]*.yml"), key=lambda each: round_order(each.stem[1:])):
        source = read_yaml(path, project.relative(path))
        file = validate(RoundFile, source)
        if file.round != path.stem[1:]:
            where, mend = f"{source.place(('round',))}: round", f"name it as the file: {path.stem[1:]}"
            raise InputError(f"round is {file.round!r}", where, mend)
        spots.add("rule", file.rules, source, "rules", f"{file.round}/")
        spots.add("benchmark", file.benchmarks, source, "benchmarks", f"{file.round}/")
        rounds[file.round] = _in_full(file, source, rounds) if file.base else file
    return rounds


def _in_full(file: RoundFile, source: YamlFile, earlier: Mapping[str, RoundFile]) -> RoundFile:
    if file.base not in earlier:
        where, mend = f"{source.place(('base',))}: base", nearest(file.base, list(earlier))
        raise InputError(f"{file.base!r} is not an earlier round", where, mend)
    try:
        return file.over(earlier[file.base])
    except ValueError as error:
        raise InputError(str(error), f"{source.place(('rules_dropped',))}: rules_dropped") from error


def round_order(round: str) -> tuple[int, ...]:
    """The key that sorts `6.0` before `6.1` before `10.0`."""
    return tuple(int(part) if part.isdigit() else -1 for part in round.split("."))
