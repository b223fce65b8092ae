"""Every finding of the catalogue, each provoked by the one mistake that it is there for."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from conftest import MiniBook, make_cell, measured
from evidence.checks import CATALOGUE, report, run_checks

LEVER, CHAPTER, BIB = "book/levers/precision.yml", "book/levers/precision.md", "references.bib"
NOTEBOOK, RUN, EXPECTED = "notebooks/precision.ipynb", "notebooks/_executed/precision.ipynb", "records/expected.yml"
CELL = f"{NOTEBOOK}:cell"
ENTRY = "title = {New}, author = {A B}, year = {2020}, read = {abstract}, checked = {by eye}"
Break = Callable[[MiniBook], object]


def edit(path: str, old: str, new: str) -> Break:
    return lambda book: book.edit(path, old, new)


def bib(text: str) -> Break:
    """Add to the bibliography, and use what is added."""
    return lambda book: (book.append(BIB, text), book.append(CHAPTER, "\n{cite}`new` {cite}`new2`\n"))


def prose(text: str) -> Break:
    return lambda book: book.append(CHAPTER, f"\n{text}\n")


def code(text: str, **more: object) -> Break:
    """Another code cell in the notebook."""

    def change(book: MiniBook) -> None:
        notebook = json.loads(book.text(NOTEBOOK))
        notebook["cells"].append(make_cell("code", text) | more)
        book.write(NOTEBOOK, json.dumps(notebook))

    return change


def run(*displays: dict[str, object], complete: bool = True) -> Break:
    return lambda book: book.executed("precision", displays, complete)


def data(stem: str, text: str) -> Break:
    return lambda book: book.write(f"book/rules/{stem}.yml", text)


ROUND_6 = "book/rules/v6.0.yml"
BUILT_ON = "source: doe2024rounding\nlisted_by: a page\ncited_by: 1\ndata_through: 2026-01-01\nworks:\n"
CORRECTIONS = """checked: 1
right: 0
against: [doe2024rounding]
corrections:
  - id: one
    number: 1
    says: x
    verdict: wrong
    right: y
    section: 5.2
    sources: [roe2023formats]
    follows: z
    rules: [format]
"""
ROUND_7 = "round: 7.0\ndated: 2027-01-01\nbase: 6.0\norigin: {}\nrules: []\nbenchmarks: []\n"

MISTAKES: list[tuple[str, Break, str, str]] = [
    # id, what goes wrong, where the finding must stand, what it must name
    (
        "cite-unknown",
        edit(CHAPTER, "{cite}`roe2023formats`", "{cite}`roe2023format`"),
        f"{CHAPTER}:3",
        "'roe2023formats'",
    ),
    ("cite-unused", edit(CHAPTER, " {cite}`roe2023formats`", ""), f"{BIB}:12", "roe2023formats"),
    ("bib-malformed", bib("@misc{new, title = {A}\n year = {2020}}\n@misc{new2, " + ENTRY + "}\n"), f"{BIB}:22", "new"),
    ("bib-malformed", bib("@misc{new, " + ENTRY + "\n@misc{new2, " + ENTRY + "}\n"), f"{BIB}:21", "new"),
    ("bib-malformed", bib("@misc{new, month = foo, " + ENTRY + "}\n@misc{new2, " + ENTRY + "}\n"), f"{BIB}:21", "foo"),
    ("bib-malformed", bib("@misc{a key, " + ENTRY + "}\n"), f"{BIB}:21", "syntax error"),
    ("bib-entry", bib("@misc{, " + ENTRY + "}\n"), f"{BIB}:21", "not a valid id"),
    ("bib-duplicate", bib("@misc{doe2024rounding, " + ENTRY + "}\n"), f"{BIB}:21", "given twice"),
    (
        "bib-duplicate",
        bib("@misc{new, " + ENTRY + "}\n@misc{New, " + ENTRY + "}\n"),
        f"{BIB}:22",
        "differ only in case",
    ),
    ("bib-duplicate-field", bib("@misc{new, note = {a}, note = {b}, " + ENTRY + "}\n"), f"{BIB}:21", "note"),
    ("bib-duplicate-field", bib("@misc{new, Note = {a}, note = {b}, " + ENTRY + "}\n"), f"{BIB}:21", "note"),
    ("bib-entry", bib("@misc{new, year = {2020}}\n"), f"{BIB}:21", "title"),
    ("bib-entry", bib("@misc{new, " + ENTRY.replace("2020", "in print") + "}\n"), f"{BIB}:21", "year"),
    ("bib-parsers", bib("@comment{@misc{new, " + ENTRY + "}}\n"), f"{BIB}:21", "only pybtex"),
    (
        "bib-parsers",
        bib("@string{p = {P}}\n@misc{new, publisher = p # { Q}, " + ENTRY + "}\n"),
        f"{BIB}:22",
        "publisher",
    ),
    ("bib-comment", bib("%@misc{new, " + ENTRY + "}\n"), f"{BIB}:21", "live"),
    ("bib-year", bib("@misc{new, " + ENTRY.replace("year = {2020}, ", "") + "}\n"), f"{BIB}:21", "no year"),
    ("bib-year", edit(BIB, "{2023}", f"{{{datetime.now(UTC).year + 1}}}"), f"{BIB}:12", "is not in"),
    ("bib-doi", edit(BIB, "{10.1000/xyz123}", "{https://doi.org/10.1000/xyz123}"), f"{BIB}:12", "bare DOI"),
    ("bib-doi", bib("@misc{new, DOI = {doi:10.1/x}, " + ENTRY + "}\n"), f"{BIB}:21", "doi:10.1/x"),
    ("bib-arxiv", edit(BIB, "eprint = {2401.00001}", "eprint = {arXiv:2401.00001}"), f"{BIB}:1", "bare id"),
    ("bib-arxiv", edit(BIB, "eprint = {2401.00001}", "eprint = {2401.00002}"), f"{BIB}:1", "two works"),
    ("bib-same-work", bib("@misc{new, doi = {10.1000/XYZ123}, " + ENTRY + "}\n"), f"{BIB}:21", "roe2023formats"),
    ("bib-read", edit(BIB, "read = {abstract}", "read = {skimmed}"), f"{BIB}:12", "skimmed"),
    ("bib-read", edit(BIB, "  checked = {publisher page, 2026-11-01},\n", ""), f"{BIB}:12", "no checked"),
    (
        "claim-source",
        edit(LEVER, "source: doe2024rounding", "source: doe2024roundings"),
        f"{LEVER}:19",
        "doe2024rounding'",
    ),
    (
        "claim-source",
        edit(LEVER, "    effects: [precision/rounding]", "    see: [roe2023format]\n    effects: [precision/rounding]"),
        f"{LEVER}:29",
        "'roe2023formats'",
    ),
    ("claim-technique", edit(LEVER, "techniques: [rounding]", "techniques: [roundin]"), f"{LEVER}:20", "'rounding'"),
    (
        "claim-effect",
        edit(LEVER, "effects: [precision/rounding]", "effects: [precision/round]"),
        f"{LEVER}:29",
        "precision/rounding",
    ),
    ("claim-link", edit(LEVER, "    effects: [precision/rounding]\n", ""), f"{LEVER}:18", "does not name it"),
    ("claim-link", edit(NOTEBOOK, 'claims=[\\"doe2024-rounding\\"]', "claims=[]"), f"{LEVER}:29", "does not answer it"),
    (
        "data-reference",
        data("left-out", "claims:\n  - {id: a, why: merged, into: doe}\n"),
        "book/rules/left-out.yml:2",
        "doe",
    ),
    (
        "data-reference",
        data("built-on", BUILT_ON + "  - {title: T, year: 2024, arxiv: x, key: doe2024}\n"),
        "book/rules/built-on.yml:6",
        "doe2024",
    ),
    ("data-reference", data("corrections", CORRECTIONS), "book/rules/corrections.yml:13", "format"),
    (
        "data-reference",
        edit(ROUND_6, "origin: {repository: example/rules}", "origin: {text: {key: nobody}}"),
        f"{ROUND_6}:3",
        "nobody",
    ),
    (
        "technique-round",
        edit(LEVER, "    compliance:\n", "    compliance:\n      5.9: {status: unknown, why: old}\n"),
        f"{LEVER}:7",
        "5.9",
    ),
    ("technique-round", lambda book: book.write("book/rules/v7.0.yml", ROUND_7), f"{LEVER}:6", "7.0"),
    ("technique-rule", edit(LEVER, "rules: [formats]", "rules: [format]"), f"{LEVER}:9", "'formats'"),
    ("technique-rule", edit(LEVER, "rules: [router]", "rules: [routers]"), f"{LEVER}:13", "'router'"),
    ("technique-benchmark", edit(LEVER, "tiny_llm: {", "tiny_lm: {"), f"{LEVER}:14", "'tiny_llm'"),
    ("technique-benchmark", edit(LEVER, "tiny_llm: {", "old_net: {"), f"{LEVER}:14", "cannot be entered"),
    ("technique-condition", edit(LEVER, "{status: allowed,", "{status: conditional,"), f"{LEVER}:14", "tiny_llm"),
    (
        "technique-equivalence",
        edit(LEVER, "equivalence: precision/rounding", "equivalence: precision/no"),
        f"{LEVER}:15",
        "precision/no",
    ),
    (
        "technique-equivalence",
        edit(LEVER, "equivalence: precision/rounding", "equivalence: 'testable: yes'"),
        f"{LEVER}:15",
        "too little",
    ),
    (
        "effect-claim",
        edit(NOTEBOOK, '\\"doe2024-rounding\\"', '\\"doe2024-round\\"'),
        f"{CELL} 4",
        "'doe2024-rounding'",
    ),
    ("effect-claim", edit(NOTEBOOK, 'techniques=[\\"rounding', 'techniques=[\\"rounds'), f"{CELL} 4", "'rounding'"),
    ("effect-control", edit(NOTEBOOK, 'fault=\\"rounding off\\"', 'fault=\\"\\"'), f"{CELL} 4", "no fault"),
    ("effect-control", run(measured(control=(3.0, 3.1, 3.2))), f"{RUN}:cell 1", "came out holds"),
    ("effect-control", run(measured(control=(1.0, 2.0, 9.0))), f"{RUN}:cell 1", "came out inconclusive"),
    ("effect-expected", edit(EXPECTED, "precision/rounding", "precision/other"), f"{CELL} 4", "precision/rounding"),
    (
        "effect-expected",
        run(measured(), measured("precision/made-in-a-loop", claims=())),
        f"{RUN}:cell 2",
        "made-in-a-loop",
    ),
    ("expected-effect", edit(EXPECTED, "precision/rounding", "precision/other"), f"{EXPECTED}:1", "precision/other"),
    ("effect-twice", run(measured(), measured()), f"{RUN}:cell 2", "cell 1"),
    ("effect-home", code('Effect(id="overlap/x", fault="off")'), f"{CELL} 5", "precision/x"),
    ("run-incomplete", run(measured(), complete=False), RUN, "last cell"),
    ("notebook-parameters", edit(NOTEBOOK, '"parameters"', '"parameter"'), NOTEBOOK, "0 cells"),
    (
        "notebook-outputs",
        code("1", outputs=[{"output_type": "stream", "name": "stdout", "text": "1"}]),
        f"{CELL} 5",
        "nbstripout",
    ),
    ("notebook-syntax", code("run = = 3"), f"{CELL} 5", "not Python"),
    (
        "chapter-table",
        edit(CHAPTER, "{evidence-table} precision", "{evidence-table} overlap"),
        f"{CHAPTER}:1",
        "precision",
    ),
    ("chapter-notebook", lambda book: book.write("book/plays/bert.md", "# BERT\n"), "book/plays/bert.md:1", "bert"),
    (
        "chapter-play",
        lambda book: book.write(
            "book/plays/flux1.md", "# F\n\n```{play} free tiny_moe\n```\n\n```{play} dates tiny_moe\n```\n"
        ),
        "book/plays/flux1.md:1",
        "fixed",
    ),
    (
        "chapter-play",
        lambda book: book.write(
            "book/plays/flux1.md",
            "# F\n\n" + "".join(f"```{{play}} {part} tiny_mo\n```\n\n" for part in ("fixed", "free", "dates")),
        ),
        "book/plays/flux1.md:1",
        "tiny_mo",
    ),
    (
        "chapter-missing",
        lambda book: book.write("book/levers/data.yml", "claims: []\n"),
        "book/levers/data.yml:1",
        "data.md",
    ),
    (
        "role-target",
        edit(CHAPTER, "{claim}`doe2024-rounding`", "{claim}`doe2024-round`"),
        f"{CHAPTER}:3",
        "'doe2024-rounding'",
    ),
    (
        "role-target",
        edit(CHAPTER, "{measured}`precision/rounding`", "{measured}`precision/round`"),
        f"{CHAPTER}:4",
        "precision/rounding",
    ),
    ("role-target", edit(CHAPTER, "{technique}`rounding`", "{technique}`round`"), f"{CHAPTER}:4", "round"),
    ("role-target", edit(CHAPTER, "{rule}`formats`", "{rule}`format`"), f"{CHAPTER}:4", "'formats'"),
    ("role-target", prose("{fact}`6.0/tiny_llm/quality.goal`"), f"{CHAPTER}:9", "goal"),
    (
        "number-bare",
        prose("It is twice as fast, says one {cite}`doe2024rounding`:\nsomething like 40 %."),
        f"{CHAPTER}:10",
        "'40 %'",
    ),
    ("number-reason", prose("It gains 40 % {cite}`doe2024rounding`. <!-- number: -->"), f"{CHAPTER}:9", "no reason"),
    (
        "number-idle",
        prose("It gains much {cite}`doe2024rounding`. <!-- number: from a talk -->"),
        f"{CHAPTER}:9",
        "from a talk",
    ),
]


@pytest.mark.parametrize(("id", "mistake", "place", "names"), MISTAKES)
def test_the_mistake_is_found_where_it_stands(
    mini_book: MiniBook, id: str, mistake: Break, place: str, names: str
) -> None:
    mistake(mini_book)
    found = [each for each in run_checks(mini_book.load()) if each.id == id]
    assert [each.place for each in found] == [place]
    assert names in f"{found[0].message} {found[0].mend}" and found[0].mend


def test_every_id_of_the_catalogue_is_provoked_above() -> None:
    assert {each[0] for each in MISTAKES} == set(CATALOGUE)


@pytest.mark.parametrize("executed", [False, True])
def test_a_sound_book_has_no_findings(mini_book: MiniBook, executed: bool) -> None:
    if executed:
        mini_book.executed("precision", [measured()])
    found = report(mini_book.load())
    assert found.findings == []
    assert found.checked["claims"] == 1 and found.checked["citations"] == 2 and found.checked["roles"] == 6
    assert found.checked["records"] == int(executed)


def test_one_broken_entry_is_one_finding(mini_book: MiniBook) -> None:
    """The other parser's view of an entry that is known to be broken would only repeat it."""
    bib("@misc{new, title = {A}\n year = {2020}}\n@misc{new2, " + ENTRY + "}\n")(mini_book)
    assert [each.id for each in run_checks(mini_book.load()) if each.id.startswith("bib")] == ["bib-malformed"]


def test_an_effect_that_this_machine_cannot_show_needs_no_control(mini_book: MiniBook) -> None:
    from evidence.library.models import EFFECT_MIME

    bundle = measured()
    bundle[EFFECT_MIME] |= {"verdict": "not-measured", "control": None, "reason": "no GPU"}
    mini_book.executed("precision", [bundle])
    assert run_checks(mini_book.load()) == []


def test_what_the_source_computes_is_read_from_the_run(mini_book: MiniBook) -> None:
    mini_book.edit(NOTEBOOK, 'claims=[\\"doe2024-rounding\\"]', "claims=answered")
    mini_book.executed("precision", [measured(claims=())])
    assert [each.id for each in run_checks(mini_book.load())] == ["claim-link"]
    mini_book.executed("precision", [measured()])
    assert run_checks(mini_book.load()) == []


def test_a_source_named_by_a_data_file_is_used(mini_book: MiniBook) -> None:
    mini_book.edit(CHAPTER, " {cite}`roe2023formats`", "")
    mini_book.write("book/rules/corrections.yml", CORRECTIONS.replace("[format]", "[formats]"))
    assert run_checks(mini_book.load()) == []


def test_findings_come_in_the_order_of_the_files(mini_book: MiniBook) -> None:
    mini_book.append(CHAPTER, "\n" * 100 + "{cite}`b`\n")
    mini_book.edit(CHAPTER, "{cite}`roe2023formats`", "{cite}`a` {cite}`roe2023formats`")
    assert [each.place for each in run_checks(mini_book.load())] == [f"{CHAPTER}:3", f"{CHAPTER}:108"]
