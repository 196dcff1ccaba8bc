"""The explorer with 5,000 made-up items, some hostile: quick, safe, by keyboard and on a phone."""

import itertools
import shutil

import pytest

from tests.browser.axe import serious_violations
from tests.conftest import ROOT
from tests.report.explorer.synthetic import HOSTILE, items
from unbidden.report.explorer import write_shards

pytestmark = pytest.mark.browser

ROWS = 5_000
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Explorer</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="unbidden.css"><style>:root { --pst-color-background: #fff;
--pst-color-text-base: #222; --pst-color-text-muted: #555; --pst-color-link: #0550ae;
--pst-color-border: #ccc; --pst-color-primary: #0550ae; --pst-color-success: #1a7f37 }</style>
</head><body><main class="bd-content"><h1>Explorer</h1>
<div id="unbidden-explorer" data-folder="data"><p>Needs JavaScript.</p></div>
</main><script src="explorer.js"></script></body></html>"""


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explorer")
    for name in ("explorer.js", "unbidden.css"):
        shutil.copy(ROOT / "book" / "_static" / name, folder)
    (folder / "page.html").write_text(PAGE)
    write_shards(folder / "data", items(ROWS), run="made-up")
    return folder / "page.html"


@pytest.fixture
def open_page(browser, page_file):
    opened = []

    def _open(width=1280, at=""):
        page = browser.new_page(viewport={"width": width, "height": 844})
        page.set_default_timeout(20_000)
        wrong = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.on("request", lambda r: None if r.url.startswith("file:") else wrong.append(r.url))
        page.goto(page_file.as_uri() + at)
        page.wait_for_selector(".ux-count:visible, section h2:visible")
        opened.append(page)
        return page, wrong

    yield _open
    for page in opened:
        page.close()


def _count(page):
    return page.inner_text(".ux-count")


def test_filters_narrow_the_list(open_page):
    page, wrong = open_page()
    assert _count(page) == "Items 1 to 25 of 5,000 (5,000 in all)"
    assert page.locator("tbody tr").count() == 25
    page.get_by_label("Style").select_option(label="implicit")
    assert "of 1,000 (" in _count(page)
    page.get_by_label("Words or id").fill("TALK-3# tea")
    assert "of 100 (" in _count(page)
    page.get_by_label("System").select_option(label="bm25")
    page.get_by_label("What it found").select_option(label="no gold turn")
    rows = page.locator("tbody tr td:nth-child(2)").all_inner_texts()
    assert set(rows) == {"bm25\u00a0none"}
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_label("Verdict").select_option(label="wrong")
    assert "of 500 (" in _count(page)
    page.get_by_label("Words or id").fill("nothing like this")
    assert _count(page) == "No item passes these filters."
    assert not wrong


def test_five_thousand_rows_filter_at_once(open_page):
    page, _ = open_page()
    spent = page.evaluate(
        """() => { const field = document.getElementById("ux-words");
        const start = performance.now();
        for (const word of ["t", "te", "tea", "boats 49", ""]) {
          field.value = word; field.dispatchEvent(new Event("input")); }
        return (performance.now() - start) / 5; }"""
    )
    assert spent < 300  # milliseconds a key; about 10 on an idle machine


def test_hostile_text_stays_text(open_page):
    page, wrong = open_page()
    page.locator("tbody button").first.click()
    page.wait_for_selector("section h2:focus")
    shown = page.locator("section").text_content()
    assert shown.count(HOSTILE) >= 10
    assert page.locator("main img, main script, main a").count() == 0
    assert page.evaluate("window.hit") is None
    assert page.locator("section li strong").count() == 2  # one gold memory of each scored system
    assert "Not scored" in shown
    assert not wrong


def test_keyboard_alone_is_enough(open_page):
    page, wrong = open_page()
    page.locator("#ux-words").focus()
    page.keyboard.type("number 4999 of")
    assert "of 1 (" in _count(page)
    for _ in range(9):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "ux-open"
    page.keyboard.press("Enter")
    page.wait_for_selector("section h2:focus")
    assert "talk-9#4999" in page.inner_text("section h2")
    page.keyboard.press("Shift+Tab")  # from the heading to the buttons before it
    assert page.evaluate("document.activeElement.textContent") == "Back to the list"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.className") == "ux-open"
    assert not wrong


def test_pages_of_the_list_and_links_to_items(open_page):
    page, wrong = open_page()
    page.get_by_role("button", name="Later items").click()
    assert _count(page).startswith("Items 26 to 50 of")
    page.locator("tbody button").first.click()
    page.wait_for_selector("section h2:focus")
    page.get_by_role("button", name="Next item").click()
    page.wait_for_function("document.querySelector('section h2').textContent.includes('#26,')")
    other, _ = open_page(at=page.url[page.url.index("#") :])
    assert "talk-0#26" in other.inner_text("section h2")
    broken, wrong_there = open_page(at="#item-99999")
    assert broken.locator("section h2").count() == 0
    assert not wrong
    assert not wrong_there


@pytest.mark.parametrize("width", [1280, 390])
def test_no_violation_and_no_sideways_scroll(open_page, width):
    page, _ = open_page(width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not serious_violations(page)
    page.locator("tbody button").first.click()
    page.wait_for_selector("section h2:focus")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not serious_violations(page)
    levels = page.eval_on_selector_all(
        "main :is(h1, h2, h3, h4)", "nodes => nodes.map(n => Number(n.tagName[1]))"
    )
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))


def test_a_missing_shard_is_said(browser, page_file):
    for path in (page_file.parent / "data").glob("items-19.js"):
        path.rename(path.with_suffix(".gone"))
    page = browser.new_page()
    page.goto(page_file.as_uri())
    page.wait_for_selector(".ux-count")
    page.locator("#ux-words").fill("number 4999 of")
    page.locator("tbody button").first.click()
    page.wait_for_function("document.querySelector('.ux-count').textContent.includes('cannot')")
    page.close()
    for path in (page_file.parent / "data").glob("items-19.gone"):
        path.rename(path.with_suffix(".js"))
