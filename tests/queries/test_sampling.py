"""A sample that is even, nested and the same in every style."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError
from unbidden.queries.build import Query, build_queries
from unbidden.queries.sampling import balanced_sample

HARBOUR = build_queries(load_corpus("harbour"))
STYLES = ["question", "dialog", "implicit", "counterfactual", "composed"]


def test_harbour_is_sampled_evenly():
    sample = balanced_sample(HARBOUR, per_style=12)
    assert Counter(query.style for query in sample) == dict.fromkeys(STYLES, 12)
    homes = Counter((query.style, query.conversation) for query in sample)
    assert set(homes.values()) == {2}, "two of each style in each of six conversations"
    assert all(query.gold and query.category != 5 for query in sample)
    assert len({query.category for query in sample if query.style == "dialog"}) >= 3


def test_the_styles_of_a_need_stand_together():
    sample = balanced_sample(HARBOUR, per_style=3)
    assert [query.style for query in sample] == STYLES[:4] * 3 + ["composed"] * 3
    assert len({query.id for query in sample[:4]}) == 1


@given(small=st.integers(1, 10), more=st.integers(0, 20), seed=st.integers(0, 5))
def test_a_larger_sample_holds_the_smaller_one(small, more, seed):
    few = balanced_sample(HARBOUR, per_style=small, seed=seed)
    many = balanced_sample(HARBOUR, per_style=small + more, seed=seed)
    assert set(few) <= set(many)
    assert len(few) == len(set(few)) == 5 * small


def test_a_conversation_alone_gives_its_part_of_the_whole_sample():
    """So a recording of the whole serves a run over one conversation."""
    alone = [query for query in HARBOUR if query.conversation == "harbour-1"]
    whole = balanced_sample(HARBOUR, per_style=12)
    assert set(balanced_sample(alone, per_style=2)) <= set(whole)


def query(name, style, category=4, gold=("D1:1",)):
    return Query(name, "a", style, "t", category, (0,), frozenset(gold))


def test_what_cannot_be_judged_is_not_drawn():
    queries = [
        query("a#0", "dialog"),
        query("a#0", "implicit"),
        query("a#1", "dialog"),
        query("a#2", "dialog", category=5),
        query("a#2", "implicit", category=5),
        query("a#3", "dialog", gold=()),
        query("a#3", "implicit", gold=()),
    ]
    assert {one.id for one in balanced_sample(queries, per_style=None)} == {"a#0"}
    assert balanced_sample([], per_style=3) == []
    with pytest.raises(ConfigError, match="queries_per_style"):
        balanced_sample(queries, per_style=0)
