"""Parts of the site that need no build: words, escaping, formulas, mended HTML, independence, other machines."""

from __future__ import annotations

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from hypothesis import given
from hypothesis import strategies as st
from myst_parser.parsers.docutils_ import Parser

from conftest import MiniBook, measured
from evidence.library.ledger import append
from evidence.library.models import EFFECT_MIME, Record, Source
from evidence.site import nodes as n
from evidence.site.a11y import mend
from evidence.site.elsewhere import elsewhere, waiting
from evidence.site.maths import mathml
from evidence.site.pages import pages
from evidence.site.tables import independent, measured_inline, strength
from evidence.site.words import effect_anchor, markdown, quantity_text


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        ("3.5-4", "x", "3.5–4×"),
        ("65536", "sequences", "65,536 sequences"),
        ("2048", "", "2048"),
        ("-4", "%", "-4 %"),
        ("fastest", "", "fastest"),
        ("2025-12-09", "", "2025-12-09"),
    ],
)
def test_a_value_is_set_with_its_unit(value: str, unit: str, shown: str) -> None:
    assert quantity_text(value, unit) == shown


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), min_size=1).filter(lambda text: text.strip()))
def test_escaped_text_is_shown_letter_for_letter(text: str) -> None:
    made = publish_doctree("# " + markdown(text), parser=Parser(), settings_overrides={"report_level": 5})
    assert made.astext() == " ".join(text.split())


def test_code_spans_become_literals_and_nothing_else_is_markup() -> None:
    literal, rest = n.text("`gbs` costs *$5*")
    assert isinstance(literal, nodes.literal) and literal.astext() == "gbs"
    assert rest.astext() == " costs *$5*"


def test_a_table_refuses_a_row_of_another_width() -> None:
    with pytest.raises(ValueError, match="1 cells under 2 heads"):
        n.table("Numbers", ["a", "b"], [n.Row(["1"])])


def test_formulas_become_mathml_without_a_script() -> None:
    assert mathml("a^2", block=False).startswith("<math")
    assert 'display="block"' in mathml(r"\frac{1}{n}\sum_i x_i", block=True)


def test_pandas_tables_get_scopes_and_lose_their_empty_head() -> None:
    made = mend(
        '<table border="1" class="dataframe"><thead><tr><th></th><th>a</th></tr></thead>'
        "<tbody><tr><th>0</th><td>1</td></tr></tbody></table>"
    )
    assert '<td></td><th scope="col">a</th>' in made and '<th scope="row">0</th>' in made


def test_a_region_that_scrolls_is_named_by_its_caption() -> None:
    inside = '<table class="table"><caption><span>Claims &amp; "gains"</span></caption></table>'
    made = mend(f'<div class="pst-scrollable-table-container">{inside}</div>')
    assert 'role="region" tabindex="0" aria-label="Claims &amp; &quot;gains&quot;"' in made


def test_a_card_gets_the_id_that_links_lead_to() -> None:
    made = mend('<div class="ev-effect" data-effect="precision/fp8-parity">')
    assert f'id="{effect_anchor("precision/fp8-parity")}"' in made and 'tabindex="0"' in made


def source(key: str, *authors: str) -> Source:
    return Source(key=key, type="misc", title=key, authors=list(authors))


def test_sources_that_share_an_author_are_not_independent() -> None:
    a, b, c = source("a", "Ann", "Bob"), source("b", "Cid"), source("c", "Bob", "Cid")
    assert independent([a, b]) == 2
    assert independent([a, b, c]) == 1  # the third joins the other two
    assert independent([source("x"), source("y")]) == 2  # nobody named: nothing shared


def test_strength_counts_sources_on_the_same_technique_and_scope(mini_book: MiniBook) -> None:
    claims = mini_book.text("book/levers/precision.yml").partition("claims:\n")[2]
    again = claims.replace("doe2024-rounding\n", "roe2023-rounding\n").replace("doe2024rounding", "roe2023formats")
    mini_book.append("book/levers/precision.yml", again)
    library = mini_book.load()
    assert strength(library, library.claims["doe2024-rounding"]) == "2 sources, 2 independent"


def test_what_another_machine_found_stands_beside_what_this_one_cannot_show(mini_book: MiniBook) -> None:
    found = Record.model_validate(measured()[EFFECT_MIME])
    gpu = {"class": "cuda-nvidia-h200", "name": "NVIDIA H200"}
    append(mini_book.project, [found.model_copy(update={"machine": gpu, "measured_at": "2026-11-02T08:00:00+00:00"})])
    unjudged = {**measured()[EFFECT_MIME], "verdict": "not-measured", "estimate": None, "reason": "no tensor cores"}
    mini_book.executed("precision", [{EFFECT_MIME: unjudged}])
    library = mini_book.load()
    assert [record.machine["name"] for record in elsewhere(library, found.id)] == ["NVIDIA H200"]
    shown = "".join(node.astext() for node in n.inline(measured_inline(library, found.id)))
    assert shown == "not measured here; holds 3.099× (2.86 to 3.358; n = 3) on NVIDIA H200, 2026-11-02"
    listed = waiting(library)[0].astext()
    assert "no tensor cores" in listed and "NVIDIA H200" in listed

    append(mini_book.project, [found.model_copy(update={"machine": gpu, "verdict": "weaker"})])
    assert [record.verdict for record in elsewhere(library, found.id)] == ["weaker"]  # newer, and read again


def test_a_lever_has_a_generated_page_until_its_chapter_is_written(mini_book: MiniBook) -> None:
    assert "levers/precision" not in {page.name for page in pages(mini_book.load())}
    (mini_book.root / "book/levers/precision.md").unlink()
    generated = {page.name: page.text for page in pages(mini_book.load())}
    assert "{evidence-table} precision" in generated["levers/precision"]
    assert "/book/_generated/levers/precision.md" in generated["techniques/precision"]
