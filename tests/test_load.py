"""Loading: what a valid book gives, and that every mistake names file, line, field and the nearest spelling."""

from __future__ import annotations

import pytest

from conftest import MiniBook, measured
from evidence.library.errors import InputError
from evidence.library.load import round_order

LEVER, ROUND = "book/levers/precision.yml", "book/rules/v6.0.yml"


def test_the_mini_book_in_full(mini_book: MiniBook) -> None:
    mini_book.executed("precision", [measured()])
    library = mini_book.load()
    assert list(library.sources) == ["doe2024rounding", "roe2023formats"]
    assert library.sources["doe2024rounding"].authors == ["Jane Doe", "Maria de la Cruz"]
    assert library.claims["doe2024-rounding"].value == "3.5"
    assert library.lever_of == {"rounding": "precision", "doe2024-rounding": "precision"}
    assert (library.rounds, library.current_round) == (["6.0"], "6.0")
    assert list(library.rules["6.0"]) == ["formats", "router"]
    assert library.benchmarks["6.0"]["tiny_llm"].runs_required == 10
    assert library.records["precision/rounding"].verdict == "holds"
    assert library.expected["precision/rounding"]["default"].verdict == "holds"


def test_places(mini_book: MiniBook) -> None:
    mini_book.executed("precision", [measured()])
    library = mini_book.load()
    assert library.place("technique", "rounding") == f"{LEVER}:2"
    assert library.place("technique", "rounding", "compliance", "6.0", "rules") == f"{LEVER}:9"
    assert library.place("claim", "doe2024-rounding", "effects") == f"{LEVER}:29"
    assert library.place("rule", "router") == library.place("rule", "6.0/router") == f"{ROUND}:10"
    assert library.place("benchmark", "tiny_moe") == f"{ROUND}:24"
    assert library.place("source", "roe2023formats") == "references.bib:12"
    assert library.place("expected", "precision/rounding") == "records/expected.yml:1"
    assert library.place("effect", "precision/rounding") == "notebooks/_executed/precision.ipynb:cell 1"
    for kind in ("claim", "rule", "source", "effect"):
        with pytest.raises(KeyError):
            library.place(kind, "nothing")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("benchmark", "round", "status", "rules"),
    [
        ("tiny_moe", "6.0", "not-allowed", ["router"]),
        ("tiny_llm", "6.0", "allowed", ["formats"]),
        ("old_net", "6.0", "n/a", []),
        ("nothing", "6.0", "n/a", []),
        ("tiny_llm", "7.0", "unknown", []),
    ],
)
def test_status_on_a_benchmark(mini_book: MiniBook, benchmark: str, round: str, status: str, rules: list[str]) -> None:
    here = mini_book.load().status("rounding", benchmark, round)
    assert (here.status, here.rules) == (status, rules)


def test_status_without_an_own_entry_is_the_general_one_with_its_condition(mini_book: MiniBook) -> None:
    mini_book.edit(LEVER, "          tiny_llm: {status: allowed, why: named in the table}\n", "")
    here = mini_book.load().status("rounding", "tiny_llm", "6.0")
    assert (here.status, here.condition) == ("conditional", "the function at infinite precision stays the same")


def test_a_round_that_states_only_its_differences(mini_book: MiniBook) -> None:
    rule = "{id: router, section: '5.3', document: training_rules, applies_to: [all], summary: Anything goes.}"
    text = f"round: 6.1\ndated: 2026-06-01\nbase: 6.0\norigin: {{}}\nrules:\n  - {rule}\nbenchmarks: []\n"
    mini_book.write("book/rules/v6.1.yml", text)
    library = mini_book.load()
    assert library.rounds == ["6.0", "6.1"]
    assert library.rules["6.1"]["router"].summary == "Anything goes."
    assert library.benchmarks["6.1"]["tiny_llm"].round == "6.1"
    assert library.place("rule", "6.1/router") == "book/rules/v6.1.yml:6"
    assert library.place("rule", "6.1/formats") == f"{ROUND}:5"
    assert library.current_round == "6.0"


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        (
            LEVER,
            "status: conditional",
            "status: condtional",
            [":8: techniques[rounding].compliance.6.0.status", "did you mean 'conditional'?"],
        ),
        (
            LEVER,
            "    kind: numerics",
            "    kinds: numerics",
            [":4: techniques[rounding].kinds", "unknown key", "did you mean 'kind'?"],
        ),
        (LEVER, "    title: Stochastic rounding\n", "", [":2: techniques[rounding].title", "'title' is missing"]),
        (
            LEVER,
            "    quantity: speedup",
            "    quantity: speed",
            [":22: claims[doe2024-rounding].quantity", "'speedup'"],
        ),
        (LEVER, "{model: MLP,", "{modell: MLP,", ["conditions.modell", "did you mean 'model'?"]),
        (
            LEVER,
            "    check: confirmed",
            "    check: differs",
            [":18: claims[doe2024-rounding]", "give review_says or a note"],
        ),
        (LEVER, "id: doe2024-rounding", "id: Doe 2024", ["claims[Doe 2024].id", "not a valid id", "lower-case"]),
        (LEVER, "effects: [precision/rounding]", "effects: [rounding]", ["effects[0]", "notebook/name"]),
        (LEVER, "techniques: [rounding]", "techniques: rounding", ["techniques", "list"]),
        (
            LEVER,
            "says: Rounding at random trains 3.5 times faster than not rounding.",
            "says: ''",
            ["says", "is empty"],
        ),
        (
            LEVER,
            "why: named in the table}",
            "why: named in the table, rule: [x]}",
            ["tiny_llm.rule", "did you mean 'rules'?"],
        ),
        (
            ROUND,
            "runs_required: 10",
            "runs_required: ten",
            [":21: benchmarks[tiny_llm].runs_required", "integer", "'ten'"],
        ),
        (ROUND, "round: 6.0\ndated", "round: 6.1\ndated", [":1: round", "name it as the file: 6.0"]),
        (ROUND, "round: 6.0\ndated", "round: 6.0\nbase: 5.1\ndated", [":2: base", "not an earlier round"]),
        (ROUND, "id: router", "id: formats", [":10: rules[formats]", "already the id of a rule", f"{ROUND}:5"]),
        (LEVER, "id: rounding", "id: doe2024-rounding", ["already the id of a technique"]),
        (
            "records/expected.yml",
            "verdict: holds",
            "verdict: weaker",
            [":2: precision/rounding.default", "without a reason"],
        ),
        ("records/expected.yml", "verdict: holds", "verdict: hold", ["did you mean 'holds'?"]),
    ],
)
def test_mistakes_name_place_field_and_remedy(
    mini_book: MiniBook, file: str, old: str, new: str, expected: list[str]
) -> None:
    mini_book.edit(file, old, new)
    with pytest.raises(InputError) as caught:
        mini_book.load()
    message = str(caught.value)
    assert message.startswith(file) and "\n" not in message
    for part in expected:
        assert part in message


def test_conditional_needs_a_condition(mini_book: MiniBook) -> None:
    text = mini_book.text(LEVER)
    start, end = text.index("        condition:"), text.index("    equivalence:")
    mini_book.write(LEVER, text[:start] + text[end:])
    with pytest.raises(
        InputError, match=r":7: techniques\[rounding\]\.compliance\.6\.0: conditional without a condition"
    ):
        mini_book.load()


def test_several_problems_are_counted(mini_book: MiniBook) -> None:
    mini_book.edit(LEVER, "scope: step", "scope: stop")
    mini_book.edit(LEVER, "check: confirmed", "check: maybe")
    with pytest.raises(InputError, match=r"and 1 more problem in this file"):
        mini_book.load()


def test_a_file_that_is_no_lever(mini_book: MiniBook) -> None:
    mini_book.write("book/levers/precison.yml", "claims: []\n")
    with pytest.raises(
        InputError, match=r"book/levers/precison.yml: 'precison' is not a lever; did you mean 'precision'"
    ):
        mini_book.load()


def test_a_lever_with_two_files(mini_book: MiniBook) -> None:
    mini_book.write("book/plays/precision.yml", "claims: []\n")
    with pytest.raises(InputError, match=r"two files; keep book/levers/precision\.yml"):
        mini_book.load()


def test_no_bibliography_is_said(mini_book: MiniBook) -> None:
    (mini_book.root / "references.bib").unlink()
    with pytest.raises(InputError, match=r"references\.bib: cannot be read"):
        mini_book.load()


def test_rounds_sort_as_numbers() -> None:
    assert sorted(["10.0", "6.1", "6.0"], key=round_order) == ["6.0", "6.1", "10.0"]
