import dataclasses
import itertools

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError
from unbidden.queries.audit import (
    cue_rates,
    false_premises,
    leak_items,
    leak_rates,
    lengths,
    naturalness_counts,
    query_items,
    word_count,
)
from unbidden.queries.audit_leaks import NO_ANSWER
from unbidden.queries.build import Query, build_queries
from unbidden.queries.cues import asks_to_confirm, memory_cues
from unbidden.queries.duplicates import grams, near_duplicates


@pytest.fixture
def corpus(sample, cluster, write, tmp_path):
    sample["qa"][0]["naturalness"] = "low"
    sample["qa"][4]["dialog_query"] = "Do you remember what I got rid of?"
    # Two composed queries: the second is of the extension when the first build stops at one.
    cluster["composed_query"] = "I want to tell how it was painted, the boats and all."
    write([sample], "set/locomo10_dialog.json")
    write([cluster], "set/locomo10_multimem_full.json")
    corpus = load_corpus(str(tmp_path / "set"))
    (first,) = corpus.clusters
    query = dataclasses.replace(first.query, text="Nothing of it, all about him.")
    second = dataclasses.replace(first, name="S7_C1", query=query)
    return dataclasses.replace(corpus, clusters=(first, second))


def test_items(corpus):
    items = query_items(corpus, first=1).set_index(["style", "query_id"])
    composed = items.loc["composed"]
    assert list(composed["subset"]) == ["first", "extension"]
    assert list(composed["nested"]) == [True, True]
    assert set(composed["answers"]) == {("the red boat", "it was painted blue")}
    assert items.loc[("dialog", "tiny-1#4"), "answers"] == ()
    assert items.loc["question", "nested"].isna().all()


def test_lengths_and_naturalness(corpus):
    table = lengths(query_items(corpus)).set_index("style")
    assert table.loc["implicit", ["n", "shortest", "median", "longest"]].tolist() == [1, 6, 6, 6]
    assert table.loc["dialog", "median"] == 8
    assert word_count("Ana's 林悦家") == 5
    counts = naturalness_counts(corpus).set_index("naturalness")
    every = counts[counts["category"].isna()]
    assert every["n"].to_dict() == {"low": 1, "not given": 1}
    assert every["share"].sum() == 1
    assert counts.loc["low", "n"].sum() == 2  # over all, and in category 4


def test_leaks(corpus):
    leaks = leak_items(query_items(corpus, first=1))
    at = leaks.set_index(["style", "query_id", "measure", "subset"])
    assert at.loc[("composed", "tiny-1#0+1", "paper", "first"), "answer_share"] == 2 / 3
    assert at.loc[("composed", "tiny-1#0+1", "repaired", "first"), "answer_share"] == 2 / 4
    # "boat" stands in the second plain question; "red", "painted" and "blue" do not.
    beyond = at.loc[("composed", "tiny-1#0+1", "beyond the question", "first")]
    assert (beyond["answer_share"], beyond["words"]) == (1 / 3, ("painted",))
    trap = at.loc[("dialog", "tiny-1#4", "paper", "all")]
    assert (trap["unscored"], pd.isna(trap["answer_share"])) == (NO_ANSWER, True)
    assert leaks["unscored"].isna().equals(leaks["answer_share"].notna())
    rates = leak_rates(leaks).set_index(["style", "subset", "measure"])
    assert rates.loc[("composed", "first", "repaired"), ["n", "mean", "above"]].tolist() == [
        *(1, 1 / 2, 1),
    ]
    assert rates.loc[("composed", "extension", "paper"), "above"] == 0
    assert rates.loc[("dialog", "all", "paper"), ["n", "unscored"]].tolist() == [1, 1]
    nested = leak_rates(leaks[leaks["style"] == "composed"], by=["nested"])
    assert list(nested["n"]) == [2, 2, 2]


def test_false_premises(corpus):
    table = false_premises(corpus)
    # "still has it" against "I still have the boat": "still" is stated, and so is gold's "boat".
    assert table.iloc[0].drop("category").to_dict() == {
        "answerable": 4,
        "queries": 1,
        "recorded": 1,
        "stated": 1,
        "not_stated": 0,
        "untold": 0,
        "gives_gold": 1,
    }
    assert pd.isna(table.loc[0, "category"])
    assert list(table["category"][1:]) == [1, 2, 3, 4]
    assert table["answerable"].tolist() == [4, 1, 1, 1, 1]


def test_the_gold_value_is_no_wrong_one(sample, write):
    sample["qa"][0] |= {"asserted_wrong": "the red boat", "counterfactual_query": "A red boat."}
    row = false_premises(load_corpus(str(write([sample])))).iloc[0]
    assert row[["stated", "untold", "gives_gold"]].tolist() == [0, 1, 1]


def test_cues(corpus):
    table = cue_rates(query_items(corpus)).set_index(["style", "cue"])
    assert table.loc[("dialog", "remember"), ["n", "hits", "share"]].tolist() == [2, 1, 1 / 2]
    assert table.loc[("implicit", "any"), "hits"] == 0
    assert ("counterfactual", "asks to confirm") in table.index


@pytest.mark.parametrize(
    ("text", "cues"),
    [
        ("Do you happen to remember the boat?", ("remember",)),
        ("Could you please remind me of it?", ("remind me",)),
        ("Remind me roughly when it was", ("remind me",)),
        ("The lilies remind me of her", ()),
        ("Help me figure out what I should say", ()),
        ("Based on what I've told you, where to?", ("what I said",)),
        ("Do you remember me mentioning it?", ("remember", "what I said")),
        ("Do you know what I paid?", ("do you know",)),
        ("That trip we talked about", ("our past chats",)),
        ("I remember telling him", ()),
        ("你还记得那条船吗?", ("remember",)),
        ("What did I tell you’s the price?", ("what I said",)),
    ],
)
def test_cue_patterns(text, cues):
    assert memory_cues(text) == cues


@pytest.mark.parametrize(
    ("text", "confirms"),
    [
        ("I sold it in May, right?", True),
        ("Does that sound right to you?", True),
        ("It was in May, wasn’t it?", True),
        ("I went right home. Correct the bill?", False),
    ],
)
def test_confirming(text, confirms):
    assert asks_to_confirm(text) is confirms


def _query(number, text, style="dialog"):
    return Query(f"c#{number}", "c", style, text, 1, (number,), frozenset())


@settings(deadline=None)
@given(
    st.lists(st.text("ab ", max_size=12), max_size=12),
    st.sampled_from([0.2, 0.5, 1.0]),
    st.integers(1, 4),
)
def test_near_duplicates_are_those_of_comparing_all_pairs(texts, threshold, gram):
    found = near_duplicates(
        [_query(i, text) for i, text in enumerate(texts)], threshold=threshold, gram=gram
    )
    wanted = {}
    for (i, a), (j, b) in itertools.combinations(enumerate(texts), 2):
        one, other = grams(a, gram), grams(b, gram)
        if len(one & other) / len(one | other) >= threshold:
            wanted[f"c#{i}", f"c#{j}"] = len(one & other) / len(one | other)
    assert dict(zip(zip(found["a"], found["b"], strict=True), found["jaccard"], strict=True)) == (
        pytest.approx(wanted)
    )
    assert found["jaccard"].is_monotonic_decreasing


def test_near_duplicates_stay_in_their_style():
    queries = [_query(0, "The  Red boat"), _query(1, "the red boat"), _query(2, "x", "implicit")]
    found = near_duplicates([*queries, _query(3, "the red boat", "implicit")])
    assert found[["a", "b", "jaccard"]].values.tolist() == [["c#0", "c#1", 1.0]]
    with pytest.raises(ConfigError, match="threshold"):
        near_duplicates(queries, threshold=0)


@pytest.mark.realdata
def test_released_queries(real_data):
    corpus = load_corpus("locomo-conv")
    items = query_items(corpus)
    leaks = leak_items(items)
    rates = leak_rates(leaks).set_index(["style", "subset", "measure"])["above"]
    # The extension was recomposed until the paper's measure was content; whole words are not.
    assert rates["composed", "first", "paper"] == pytest.approx(7 / 30)
    assert rates["composed", "extension", "paper"] == pytest.approx(4 / 43)
    assert rates["composed", "extension", "repaired"] == pytest.approx(22 / 43)
    natural = naturalness_counts(corpus)
    assert natural[natural["category"].isna()].set_index("naturalness")["n"].to_dict() == {
        "high": 153,
        "medium": 28,
        "low": 18,
    }
    cues = cue_rates(items).set_index(["style", "cue"])["hits"]
    assert (cues["implicit", "any"], cues["dialog", "any"]) == (0, 186)
    assert int(false_premises(corpus).loc[0, "stated"]) == 143
    pairs = near_duplicates(build_queries(corpus), threshold=1)
    assert pairs["style"].value_counts().to_dict() == {"dialog": 7, "implicit": 2}
