"""What the built pages of a tiny book show: tables, badges, live citations, anchors, nothing from outside."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import jsonschema
import pytest
from bs4 import BeautifulSoup

from conftest import MiniBook
from sitebook import page

EVIDENCE = ["Claim", "Value", "System", "Scope of the gain", "Sources", "Checked", "Compliance", "Measured here"]


@pytest.fixture(scope="module")
def site(site_book: MiniBook) -> Path:
    return site_book.project.site


@pytest.fixture(scope="module")
def chapter(site: Path) -> BeautifulSoup:
    return page(site, "book/levers/precision")


def words(element: object) -> str:
    return " ".join(element.get_text(" ").split())  # type: ignore[attr-defined]


def test_an_evidence_table_has_a_caption_scopes_and_the_columns_of_the_design(chapter: BeautifulSoup) -> None:
    table = chapter.select_one("table.ev-evidence")
    assert words(table.caption).startswith("1 claim about precision: 1 confirmed")
    assert [words(head) for head in table.select("thead th")] == EVIDENCE
    assert {head["scope"] for head in table.select("thead th")} == {"col"}
    assert {head["scope"] for head in table.select("tbody th")} == {"row"}


def test_every_table_of_the_site_has_scopes_and_can_be_scrolled_by_keyboard(site: Path) -> None:
    tables = 0
    for path in site.rglob("*.html"):
        html = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for table in html.select("article table"):
            tables += 1
            assert table.caption and words(table.caption), path
            assert all(head.get("scope") in ("col", "row") for head in table.select("th")), path
            region = table.find_parent(attrs={"role": "region"})
            assert region["tabindex"] == "0" and region["aria-label"], path
    assert tables > 8


def test_a_row_shows_value_badges_and_what_was_measured(chapter: BeautifulSoup) -> None:
    row = chapter.select_one("tr#claim-doe2024-rounding")
    claim, value, _system, scope, strength, check, compliance, measured = row.find_all(["th", "td"])
    assert "3.5 times faster" in words(claim)
    assert words(value) == "3.5× against no rounding"
    assert words(scope) == "step" and words(strength) == "1 source"
    assert check.select_one(".ev-badge.ev-confirmed").text == "confirmed"
    assert compliance.select_one(".ev-badge.ev-conditional").text == "conditional"
    assert measured.select_one(".ev-badge.ev-holds").text == "holds"
    assert "3.099× 2.86 to 3.358; n = 3" in words(measured)
    link = measured.a["href"]
    assert link.endswith("notebooks/_executed/precision.html#effect-precision-rounding")


def test_links_to_rows_techniques_rules_and_cards_lead_to_something(site: Path) -> None:
    followed = 0
    for path in site.rglob("*.html"):
        html = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for link in html.select("article a[href], nav a[href]"):
            target, _, anchor = link["href"].partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            there = (path.parent / target).resolve() if target else path
            assert there.exists(), f"{path}: {link['href']}"
            if anchor and there.suffix == ".html":
                found = BeautifulSoup(there.read_text(encoding="utf-8"), "html.parser").find(id=anchor)
                assert found is not None, f"{path}: {link['href']}"
                followed += 1
    assert followed > 10


def test_citations_are_live_and_lead_to_the_page_of_the_source(chapter: BeautifulSoup, site: Path) -> None:
    link = chapter.select_one("tr#claim-doe2024-rounding .bibtex-citation a")
    assert "2024" in words(link) and "sources/doe2024rounding.html" in link["href"]
    source = page(site, "book/_generated/sources/doe2024rounding")
    assert "Rounding With Care" in words(source.h1) and "Jane Doe" in words(source.article)
    assert "full text" in words(source.select_one(".ev-facts"))
    assert "1 claim drawn from this source" in words(source.select_one("table.ev-evidence caption"))


def test_roles_put_the_data_into_prose(chapter: BeautifulSoup) -> None:
    prose = words(chapter.select_one("article p"))
    assert "3.5×" in prose and "Roe" in prose
    assert chapter.select_one("p .ev-measured .ev-holds") is not None
    assert chapter.select_one("p a .ev-rule").text == "§ 5.2 formats"


def test_the_notebook_page_shows_the_card(site: Path) -> None:
    card = page(site, "notebooks/_executed/precision").select_one("#effect-precision-rounding")
    assert "rounding off" in words(card) and card.select_one(".ev-badge.ev-holds") is not None


def test_the_map_says_what_differs_on_a_benchmark(site: Path) -> None:
    table = page(site, "book/_generated/compliance-map").select_one("table.ev-map")
    heads = [words(head) for head in table.select("thead th")]
    assert heads == ["Technique", "In general", "tiny_llm", "tiny_moe"]  # the retired benchmark cannot be entered
    cells = [words(cell) for cell in table.select("tbody tr")[0].find_all("td")]
    assert cells == ["conditional", "allowed", "not allowed"]


def test_a_rule_names_the_techniques_that_it_decides(site: Path) -> None:
    rule = page(site, "book/_generated/rules/router")
    assert "computes what the reference computes" in words(rule.article)
    assert "Stochastic rounding" in words(rule.table)


def test_nothing_is_fetched_from_another_host(site: Path) -> None:
    """Scripts, styles, fonts, images and frames; a link that a reader may follow is no request."""
    looked = 0
    for path in site.rglob("*.html"):
        html = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for element in html.select("script, link, img, iframe, source, video, audio, object, embed"):
            if element.name == "link" and element.get("rel") in (["canonical"], ["license"]):
                continue
            for name in ("src", "href", "srcset", "data"):
                looked += 1
                assert not re.match(r"\s*(https?:)?//", element.get(name) or ""), f"{path}: {element}"
        for script in html.select("script:not([src])"):
            assert not re.search(r"https?://", script.text), f"{path}: {script.text[:200]}"
    for path in [*site.rglob("*.css"), *(site / "_static").glob("evidence*")]:
        found = re.findall(r"(?:url\(|@import)\s*['\"]?((?:https?:)?//[^'\")]+)", path.read_text(encoding="utf-8"))
        assert not found, f"{path}: {found}"
    assert looked > 100


def test_the_first_page_is_found_from_the_folder(site: Path) -> None:
    index = (site / "index.html").read_text(encoding="utf-8")
    assert "url=book/intro.html" in index and (site / "book" / "intro.html").exists()


def test_the_data_can_be_downloaded_and_fits_its_schema(site: Path) -> None:
    downloads = page(site, "book/_generated/data")
    links = {link["href"].rpartition("/")[2]: link["href"] for link in downloads.select("article a.download")}
    assert len(links) == 18
    folder = site / "book" / "_generated"
    rows = json.loads((folder / links["claims.json"]).read_text(encoding="utf-8"))
    jsonschema.validate(rows, json.loads((folder / links["claims.schema.json"]).read_text(encoding="utf-8")))
    assert [row["id"] for row in rows] == ["doe2024-rounding"]
    with (folder / links["claims.csv"]).open(encoding="utf-8", newline="") as lines:
        table = list(csv.DictReader(lines))
    assert table[0]["says"] == rows[0]["says"] and json.loads(table[0]["effects"]) == ["precision/rounding"]
