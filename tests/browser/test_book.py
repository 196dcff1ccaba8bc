"""The book as a reader opens it: from a file, offline, on a desk or a phone, light or dark."""

import itertools
import os
import re

import pytest

from tests.browser.axe import serious_violations
from tests.browser.conftest import CANARY
from tests.conftest import ROOT

pytestmark = pytest.mark.browser

CONTRAST = "color-contrast"
# One page of each kind: axe takes minutes for all of them. UNBIDDEN_TEST_AXE=all checks every page.
KINDS = {"index", "explorer", "data", "add_a_system", "01_dataset", "07_teafarm"}
RULES = {"desk": {}, "phone": {"without": CONTRAST}, "dark": {"only": CONTRAST}}
VIEWS = {"desk": (1280, 900, "light"), "phone": (390, 844, "light"), "dark": (1280, 900, "dark")}


@pytest.fixture(scope="session")
def pages(book):
    found = [
        path
        for path in sorted(book.rglob("*.html"))
        if not {"_static", "_sources"} & set(path.relative_to(book).parts)
        and path.name not in {"genindex.html", "search.html"}
    ]
    assert len(found) >= 7
    return found


@pytest.mark.parametrize("view", VIEWS)
def test_pages_open_offline(browser, pages, view):
    width, height, scheme = VIEWS[view]
    remote, errors, sideways = [], [], []
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.on("pageerror", lambda error: errors.append(f"{page.url}: {error}"))
    page.on(
        "request",
        lambda request: (
            remote.append(request.url) if not request.url.startswith(("file:", "data:")) else None
        ),
    )
    for path in pages:
        page.goto(path.as_uri())
        page.wait_for_load_state("load")
        if page.evaluate("document.documentElement.scrollWidth") > width:
            sideways.append(path.name)
    page.close()
    assert not remote
    assert not errors
    assert not sideways


@pytest.mark.parametrize("view", VIEWS)
def test_no_serious_violation(browser, pages, view):
    """axe-core: contrast, names, roles, reach of the keyboard, order of headings."""
    if os.environ.get("UNBIDDEN_TEST_AXE") != "all":
        pages = [path for path in pages if path.stem in KINDS]
        assert len(pages) == len(KINDS)
    width, height, scheme = VIEWS[view]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.set_default_timeout(120_000)
    found = {}
    for path in pages:
        page.goto(path.as_uri())
        page.wait_for_load_state("load")
        if violations := serious_violations(page, **RULES[view]):
            found[path.name] = violations
    page.close()
    assert not found


def test_front_page_and_evidence(browser, book):
    page = browser.new_page()
    page.goto((book / "index.html").as_uri())
    main = page.locator("main")
    for door in ("Read.", "Rerun.", "Bring your own."):
        assert main.get_by_text(door, exact=True).count() == 1
    assert main.locator("figure img").count() == 1
    for link in main.locator("a.reference.internal").all():
        target = (link.get_attribute("href") or "").partition("#")[0]
        assert not target or (book / target).is_file(), target
    page.goto((book / "explorer.html").as_uri())
    page.wait_for_selector(".ux-count")
    assert re.search(r"of [\d,]{4,}", page.inner_text(".ux-count"))
    page.locator("tbody button").first.click()
    page.wait_for_selector("section h2:focus")
    assert page.locator("section li.ux-gold").count() >= 1
    page.goto((book / "_generated" / "published.html").as_uri())
    assert page.locator("table caption").count() >= 10
    assert page.locator("table th").count() >= 40
    page.close()


def test_explorer_holds_only_text_of_ours(book):
    """No id of a real conversation is in the explorer's data."""
    for path in (book / "explorer-data").glob("*.js"):
        text = path.read_text("ascii")
        assert not re.search(r"conv-\d|msc-episode", text), path.name


def test_what_a_reader_needs_is_there(browser, pages, book):
    page = browser.new_page()
    page.goto((book / "index.html").as_uri())
    text = page.inner_text("main")
    assert "What this does not show" in text
    assert re.search(r"\d\d\.\d\s%", text)
    page.goto((book / "notebooks" / "02_retrieval.html").as_uri())
    assert page.locator("table caption").count() >= 8
    for image in page.locator("main img").all():
        assert len(image.get_attribute("alt") or "") > 20
        assert image.evaluate("e => e.complete && e.naturalWidth > 0")
    text = page.inner_text("main")
    assert "{glue" not in text
    assert "{{" not in text
    headings = page.eval_on_selector_all(
        "main :is(h1, h2, h3, h4)", "nodes => nodes.map(n => Number(n.tagName[1]))"
    )
    assert headings[0] == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(headings))
    page.close()


def test_no_secret_anywhere(book):
    folders = [book, ROOT / "results", ROOT / "book" / "notebooks", ROOT / ".snakemake" / "log"]
    for path in (path for folder in folders for path in folder.rglob("*") if path.is_file()):
        assert CANARY.encode() not in path.read_bytes(), path


def test_source_has_no_path_of_the_machine(pages):
    for path in pages:
        assert "/site-packages/" not in path.read_text("utf-8"), path.name
