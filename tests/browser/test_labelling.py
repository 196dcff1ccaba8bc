"""The labelling page as a person uses it: opened from a file, on a desk and on a phone."""

import json

import pytest

from tests.queries.labelling.test_labelling import HOSTILE
from unbidden.corpus import load_corpus
from unbidden.queries.labelling.labels import parse_labels
from unbidden.queries.labelling.page import sample_items, write_page

pytestmark = pytest.mark.browser


BROKEN = ["{broken", "3", "null", '{"labels": null, "place": 99, "comments": 7, "annotator": 1}']


@pytest.fixture
def page_file(sample, cluster, write, tmp_path):
    sample["conversation"]["speaker_a"] = name = "Ana<b>" + "x" * 80
    for number in (1, 2):
        for turn in sample["conversation"][f"session_{number}"]:
            turn["speaker"] = turn["speaker"].replace("Ana", name)
    sample["conversation"]["session_1"][0]["text"] = HOSTILE + "\u202eright to left"
    sample["qa"][0]["dialog_query"] = HOSTILE + "w" * 200
    write([sample], "set/locomo10_dialog.json")
    write([cluster], "set/locomo10_multimem_full.json")
    items = sample_items(load_corpus(str(tmp_path / "set")), seed=1)
    write_page(tmp_path / "label.html", items, title="Labels & more")
    return tmp_path / "label.html"


@pytest.fixture
def open_page(browser, page_file):
    """Open the page in a profile of its own; return the page and what went wrong in it."""
    contexts = []

    def _open(width=1280):
        context = browser.new_context(
            viewport={"width": width, "height": 844}, accept_downloads=True
        )
        contexts.append(context)
        page, wrong = context.new_page(), []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
        page.on(
            "request",
            lambda request: (
                wrong.append(request.url)
                if not request.url.startswith(("file:", "blob:", "data:"))
                else None
            ),
        )
        page.goto(page_file.as_uri())
        return page, wrong

    yield _open
    for context in contexts:
        context.close()


def _label_all(page):
    for group in page.locator("fieldset").all():
        group.locator("input").first.check()


def test_label_close_return_export(open_page, page_file):
    page, wrong = open_page()
    assert page.title() == "Labels & more"
    assert HOSTILE in page.locator("blockquote").text_content()
    assert page.locator("main img, main script, main b").count() == 0
    page.get_by_role("button", name="Export labels").click()
    assert "name first" in page.locator("#notice").inner_text()
    page.get_by_label("Your name").fill("Ann")
    _label_all(page)
    assert page.locator("#count").inner_text() == "1 of 4 finished"
    page.get_by_role("button", name="Next unfinished").click()
    page.locator("fieldset input").nth(2).check()
    page.get_by_label("Comment").fill("</textarea>hm")

    page.reload()  # progress is kept
    assert page.get_by_label("Your name").input_value() == "Ann"
    assert page.locator("#count").inner_text() == "1 of 4 finished"
    assert page.locator("fieldset input").nth(2).is_checked()
    assert page.get_by_label("Comment").input_value() == "</textarea>hm"
    for _ in range(3):
        _label_all(page)
        page.get_by_role("button", name="Next unfinished").click()
    assert "All items are finished" in page.locator("#notice").inner_text()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Export labels").click()
    value = json.loads(waiting.value.path().read_text("utf-8"))
    labels = parse_labels(value, "export")
    assert (labels.annotator, len(labels.labels)) == ("Ann", 4)
    composed = next(found for item, found in labels.labels.items() if item.startswith("composed"))
    assert set(composed) == {"naturalness", "P1.0", "P1.1", "P2"}
    assert list(value["comments"].values()) == ["</textarea>hm"]
    assert not wrong


def test_on_a_phone(open_page):
    page, wrong = open_page(390)
    for place in range(4):
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.locator("h2").first.inner_text().startswith(f"{place + 1}. ")
        small = page.eval_on_selector_all(
            "button, fieldset label", "nodes => nodes.filter(n => n.offsetHeight < 32).length"
        )
        assert small == 0
        if place < 3:
            page.get_by_role("button", name="Next", exact=True).click()
            assert page.evaluate("document.activeElement.tagName") == "H2"
    assert page.get_by_role("button", name="Next", exact=True).is_disabled()
    assert not wrong


@pytest.mark.parametrize("kept", BROKEN)
def test_broken_progress_is_not_fatal(open_page, kept):
    page, wrong = open_page()
    page.evaluate(
        "kept => Object.keys(localStorage).forEach(key => localStorage.setItem(key, kept))", kept
    )
    page.reload()
    assert ("could not be read" in page.locator("#notice").inner_text()) is (kept == "{broken")
    assert page.locator("fieldset").count() == 4
    _label_all(page)
    assert page.locator("#count").inner_text() == "1 of 4 finished"
    assert not wrong
