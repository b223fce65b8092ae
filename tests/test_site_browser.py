"""The site of the tiny book in a real browser: no errors, no request to anyone else, both colours, narrow and wide."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from axe_core_python.selenium import Axe
from bs4 import BeautifulSoup
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from conftest import MiniBook

pytestmark = [
    pytest.mark.browser,
    # CI sets this, so that a missing browser fails there; a reader without one sees the reason.
    pytest.mark.skipif(
        not shutil.which("chromedriver") and os.environ.get("EVIDENCE_BROWSER") != "required",
        reason="needs chromium and chromedriver",
    ),
]

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
CHAPTER, NOTEBOOK = "book/levers/precision", "notebooks/_executed/precision"
PAGES = [
    "book/intro", CHAPTER, NOTEBOOK, "book/_generated/compliance-map", "book/_generated/evidence",
    "book/_generated/sources/doe2024rounding", "book/_generated/benchmarks/tiny_llm",
]  # fmt: skip
THEMES_OWN = {"region"}  # the theme's logo lies outside the landmarks
"""Rules of axe that the theme's own frame breaks on every page."""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address(site_book: MiniBook) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site_book.project.site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    for flag in [*FLAGS.split(), f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    yield driver
    driver.quit()


def show(browser: webdriver.Chrome, url: str, width: int = 1280, mode: str = "light") -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(url)
    browser.execute_script("for (const key of ['mode', 'theme']) localStorage.setItem(key, arguments[0])", mode)
    browser.get(url)


def requests(browser: webdriver.Chrome) -> list[str]:
    """The addresses that were asked for since the last call."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [each["params"]["request"]["url"] for each in events if each["method"] == "Network.requestWillBeSent"]


def test_pages_load_without_an_error_and_ask_nobody_else(browser: webdriver.Chrome, address: str) -> None:
    requests(browser), browser.get_log("browser")
    for page in PAGES:
        browser.get(f"{address}/{page}.html")
    asked = [url for url in requests(browser) if url.startswith(("http", "ws"))]
    assert len(asked) > len(PAGES)
    assert [url for url in asked if not url.startswith(address)] == []
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []


def test_pages_work_from_plain_files(browser: webdriver.Chrome, site_book: MiniBook) -> None:
    requests(browser), browser.get_log("browser")
    browser.get((site_book.project.site / f"{CHAPTER}.html").as_uri())
    assert browser.find_element(By.CSS_SELECTOR, "table.ev-evidence .ev-sort").is_displayed()
    assert [url for url in requests(browser) if url.startswith(("http", "ws"))] == []
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_axe_finds_nothing_and_nothing_sticks_out(
    browser: webdriver.Chrome, address: str, width: int, mode: str
) -> None:
    for page in PAGES:
        show(browser, f"{address}/{page}.html", width, mode)
        assert browser.find_element(By.TAG_NAME, "html").get_attribute("data-theme") == mode
        root = "document.documentElement"
        assert browser.execute_script(f"return {root}.scrollWidth - {root}.clientWidth") <= 0, page
        found = [each for each in Axe().run(browser)["violations"] if each["id"] not in THEMES_OWN]
        told = [(each["id"], node["html"][:200]) for each in found for node in each["nodes"]]
        assert not told, f"{page} at {width}, {mode}"


def test_the_colour_button_changes_the_page(browser: webdriver.Chrome, address: str) -> None:
    show(browser, f"{address}/{CHAPTER}.html")
    background = "return getComputedStyle(document.body).backgroundColor"
    light = browser.execute_script(background)
    for _ in range(3):  # light, dark and the system's own take turns
        browser.find_element(By.CSS_SELECTOR, ".theme-switch-button").click()
        if browser.find_element(By.TAG_NAME, "html").get_attribute("data-theme") == "dark":
            break
    assert browser.execute_script(background) != light


def rows(browser: webdriver.Chrome, table: str) -> list[str]:
    """The first cells of the rows that are seen."""
    cells = browser.find_elements(By.CSS_SELECTOR, f"{table} tbody tr > :first-child")
    return [cell.text.splitlines()[0] for cell in cells if cell.is_displayed()]


def test_a_table_is_sorted_by_its_heads_by_mouse_and_keyboard(browser: webdriver.Chrome, address: str) -> None:
    show(browser, f"{address}/book/_generated/sources.html")
    whole = rows(browser, "table.ev-sources")
    assert whole == ["Formats Compared", "Rounding With Care"]
    head = browser.find_element(By.CSS_SELECTOR, "table.ev-sources thead th:nth-child(2)")
    button = head.find_element(By.TAG_NAME, "button")
    button.click()
    assert head.get_attribute("aria-sort") == "ascending" and rows(browser, "table.ev-sources") == whole
    button.send_keys(Keys.ENTER)
    assert head.get_attribute("aria-sort") == "descending" and rows(browser, "table.ev-sources") == whole[::-1]
    button.send_keys(Keys.SPACE)
    assert head.get_attribute("aria-sort") is None and rows(browser, "table.ev-sources") == whole


def test_a_long_table_is_filtered_by_words_and_by_facets(
    browser: webdriver.Chrome, address: str, site_book: MiniBook
) -> None:
    page = site_book.project.site / f"{CHAPTER}.html"
    long, html = page.with_name("long.html"), BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    row = html.select_one("table.ev-evidence tbody tr")
    for number in range(7):
        more = BeautifulSoup(
            str(row).replace("confirmed", "differs").replace("faster", f"slower, case{number},"), "html.parser"
        )
        row.parent.append(more)
    long.write_text(str(html), encoding="utf-8")
    try:
        show(browser, f"{address}/book/levers/long.html")
        table = "table.ev-evidence"
        assert len(rows(browser, table)) == 8
        word = browser.find_element(By.CSS_SELECTOR, ".ev-filter input")
        word.send_keys("case3 slower")
        assert len(rows(browser, table)) == 1
        assert "1 of 8 rows" in browser.find_element(By.CSS_SELECTOR, ".ev-filter output").text
        word.clear()
        word.send_keys(" ")
        checked = next(
            each for each in browser.find_elements(By.CSS_SELECTOR, ".ev-filter label") if "Checked" in each.text
        )
        Select(checked.find_element(By.TAG_NAME, "select")).select_by_visible_text("confirmed")
        assert len(rows(browser, table)) == 1
    finally:
        long.unlink()


def test_a_badge_leads_to_the_card(browser: webdriver.Chrome, address: str) -> None:
    show(browser, f"{address}/{CHAPTER}.html")
    browser.find_element(By.CSS_SELECTOR, "table.ev-evidence a .ev-holds").click()
    assert browser.current_url.endswith(f"{NOTEBOOK}.html#effect-precision-rounding")
    card = browser.find_element(By.CSS_SELECTOR, ".ev-effect:target")
    assert "rounding off" in card.text and card.is_displayed()
