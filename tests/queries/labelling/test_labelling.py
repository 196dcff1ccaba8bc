import json
import re

import pandas as pd
import pytest

from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError, DataError
from unbidden.queries.labelling.agreement import NO_PAIRS
from unbidden.queries.labelling.checks import CHECKS, passes
from unbidden.queries.labelling.labels import parse_labels, read_labels
from unbidden.queries.labelling.page import agreement, labelling_page, sample_items, write_page
from unbidden.stats.agreement import NO_LIBRARY, ONE_VALUE

HOSTILE = "</script><script>document.title='owned'</script>\u2028{{ 7*7 }}<img src=x onerror=1>"


@pytest.fixture
def corpus(sample, cluster, write, tmp_path):
    sample["qa"][4]["dialog_query"] = "Do you remember?"
    write([sample], "set/locomo10_dialog.json")
    write([cluster], "set/locomo10_multimem_full.json")
    return load_corpus(str(tmp_path / "set"))


def test_items(corpus):
    items = {item.style: item for item in sample_items(corpus, seed=1)}
    assert set(items) == set(CHECKS)
    composed = items["composed"]
    assert [fact.answer for fact in composed.facts] == ["the red boat", "it was painted blue"]
    assert [turn["turn"] for turn in composed.facts[1].evidence] == ["D1:1", "D1:3", "D2:2"]
    assert composed.facts[1].evidence[1]["image"] == "a man on a pier"
    assert (items["dialog"].speaker, items["dialog"].listener) == ("Ana", "Ben")
    assert "tiny-1#4" not in items["dialog"].id  # adversarial questions have no answer
    text = labelling_page(list(items.values()))
    assert "still has it" not in text  # the recorded wrong value stays hidden
    assert "the boat is sold" not in text  # so does the intended use


def test_the_draw_is_seeded_and_each_styles_own():
    corpus = load_corpus("harbour")
    one = sample_items(corpus, seed=1, per_style=5)
    assert one == sample_items(corpus, seed=1, per_style=5)
    assert one != sample_items(corpus, seed=2, per_style=5)
    assert sample_items(corpus, seed=1, per_style=5, styles=["implicit"]) == one[5:10]
    assert labelling_page(one) == labelling_page(one)
    with pytest.raises(ConfigError, match="did you mean dialog"):
        sample_items(corpus, seed=1, styles=["dialogue"])
    with pytest.raises(ConfigError, match="per_style"):
        sample_items(corpus, seed=1, per_style=0)
    with pytest.raises(ConfigError, match="nothing"):
        labelling_page([])


def test_hostile_text_stays_data(sample, write, tmp_path):
    sample["qa"][0]["dialog_query"] = HOSTILE
    corpus = load_corpus(str(write([sample])))
    write_page(tmp_path / "page.html", sample_items(corpus, seed=1), title="<b>&")
    text = (tmp_path / "page.html").read_text("utf-8")
    assert text.count("</script>") == 2
    assert "<title>&lt;b&gt;&amp;</title>" in text
    block = re.search(r'type="application/json">(.*?)</script>', text, re.DOTALL)[1]
    assert not set("<>&\u2028") & set(block)
    assert HOSTILE in [item["query"] for item in json.loads(block)["items"]]
    assert not re.search(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", text)


ITEMS = [
    {"id": "dialog:a", "style": "dialog", "members": 1},
    {"id": "dialog:b", "style": "dialog", "members": 1},
    {"id": "composed:c", "style": "composed", "members": 2},
]
GOOD = {"naturalness": "4", "D1": "yes", "D2": "yes", "D3": "no leak"}


def _export(name, labels, packet="p"):
    return {
        "format": "unbidden-labels/1",
        "packet": packet,
        "annotator": name,
        "items": ITEMS,
        "labels": labels,
    }


def _three():
    composed = {"P1.0": "helpful", "P1.1": "helpful", "P2": "specific"}
    alone = composed | {"naturalness": "3"}  # by nobody else
    return [
        _export("ann", {"dialog:a": GOOD, "dialog:b": GOOD, "composed:c": alone}),
        _export("bob", {"dialog:a": GOOD, "dialog:b": {**GOOD, "D2": "no", "naturalness": "2"}}),
        _export(
            "cy",
            {
                "dialog:a": {**GOOD, "D3": "partial"},
                "dialog:b": {**GOOD, "D2": "no", "naturalness": "1"},
                "composed:c": {**composed, "P1.1": "neutral"},
            },
        ),
    ]


def test_agreement_on_paper():
    found = agreement(_three())
    checks = found.checks.set_index(["style", "check"])
    assert checks.loc[("dialog", "D2"), ["items", "people"]].tolist() == [2, 3]
    # Item a: all three agree; item b: one of three pairs agrees.
    assert checks.loc[("dialog", "D2"), "raw"] == pytest.approx((1 + 1 / 3) / 2)
    assert checks.loc[("dialog", "D1"), "unscored"] == ONE_VALUE
    assert checks.loc[("composed", "P1"), "items"] == 2  # two facts of one item, by ann and cy
    assert checks.loc[("composed", "naturalness"), ["items", "unscored"]].tolist() == [0, NO_PAIRS]
    pairs = found.pairs.set_index(["style", "check", "a", "b"])
    assert pairs.loc[("dialog", "D2", "bob", "cy"), "kappa"] == 1
    assert pairs.loc[("dialog", "D2", "ann", "bob"), ["raw", "kappa"]].tolist() == [1 / 2, 0]
    assert pairs.loc[("composed", "P2", "ann", "bob"), "unscored"] == NO_PAIRS
    passed = found.passed.set_index(["style", "annotator"])
    assert passed.loc[("dialog", "ann"), "rate"] == 1
    assert passed.loc[("dialog", "cy"), "rate"] == 0
    assert passed.loc[("dialog", "(majority)"), "rate"] == 1 / 2
    assert passed.loc[("composed", "bob"), "finished"] == 0
    assert pd.isna(passed.loc[("composed", "bob"), "rate"])
    assert passed.loc[("composed", "(majority)"), ["finished", "tied"]].tolist() == [0, 1]
    assert passed.loc[("dialog", "bob"), "naturalness"] == 3


def test_alpha():
    krippendorff = pytest.importorskip("krippendorff", reason="needs the extra `agree`")
    found = agreement(_three()).checks.set_index(["style", "check"])
    # D2: labels yes yes yes / yes no no; disagreement 2/6 observed, 8/15 expected.
    assert found.loc[("dialog", "D2"), "alpha"] == pytest.approx(1 - (2 / 6) / (16 / 30))
    assert found.loc[("dialog", "naturalness"), "alpha"] == pytest.approx(
        krippendorff.alpha([[3, 3], [3, 1], [3, 0]], level_of_measurement="ordinal")
    )


def test_without_the_library(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "krippendorff", None)
    found = agreement(_three()).checks.set_index(["style", "check"])
    assert found.loc[("dialog", "D2"), "unscored"] == NO_LIBRARY
    assert found.loc[("dialog", "D2"), "raw"] > 0


@pytest.mark.parametrize(
    ("style", "members", "labels", "result"),
    [
        ("dialog", 1, GOOD, True),
        ("dialog", 1, {**GOOD, "D3": "partial"}, False),
        ("dialog", 1, {**GOOD, "D2": "cannot tell"}, False),
        ("implicit", 1, {"I1": "no question", "I2": "central"}, True),
        ("implicit", 1, {"I1": "no question", "I2": "peripheral"}, False),
        ("implicit", 1, {"I1": "asks memory", "I2": "central"}, False),
        ("counterfactual", 1, {"C1": "contradicts", "C2": "2"}, True),
        ("counterfactual", 1, {"C1": "contradicts", "C2": "1"}, False),
        ("counterfactual", 1, {"C1": "orthogonal", "C2": "3"}, False),
        ("composed", 2, {"P1.0": "helpful", "P1.1": "neutral", "P2": "specific"}, False),
        ("composed", 2, {"P1.0": "helpful", "P1.1": "helpful", "P2": "generic"}, False),
        ("composed", 3, {"P1.0": "helpful", "P1.1": "helpful", "P2": "specific"}, None),
    ],
)
def test_pass_rules(style, members, labels, result):
    assert passes(style, members, labels) is result


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "unbidden-labels/1"),
        ({"annotator": ""}, "annotator"),
        ({"items": [{"id": "x", "style": ["dialog"], "members": 1}]}, "id, style"),
        ({"items": [{"id": "x", "style": "dialog", "members": 10**9}]}, "id, style"),
        ({"labels": []}, "labels"),
        ({"labels": {"dialog:z": {}}}, "dialog:z"),
        ({"labels": {"dialog:a": {"D1": "maybe"}}}, "dialog:a D1"),
        ({"labels": {"dialog:a": {"D1": ["yes"]}}}, "dialog:a D1"),
        ({"labels": {"dialog:a": {"P2": "specific"}}}, "dialog:a P2"),
    ],
)
def test_malformed_exports_are_named(change, message):
    with pytest.raises(DataError, match=message):
        parse_labels({**_export("ann", {}), **change}, "a.json")


def test_exports_must_belong_together(write):
    with pytest.raises(DataError, match="one packet"):
        agreement([_export("ann", {}), _export("bob", {}, "q")])
    with pytest.raises(DataError, match="one packet"):
        agreement([])
    with pytest.raises(DataError, match="each person"):
        agreement([_export("ann", {}), _export("ann", {})])
    (labels,) = read_labels([write(_export("ann", {"dialog:a": GOOD}))])
    assert labels.labels == {"dialog:a": GOOD}
