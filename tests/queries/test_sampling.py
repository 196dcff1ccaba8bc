"""The sample of queries that is rewritten."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError
from unbidden.queries.build import build_queries
from unbidden.queries.sampling import sample_queries

QUERIES = build_queries(load_corpus("harbour", conversations=["harbour-1", "harbour-2"]))


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 12), st.integers(0, 5))
def test_a_larger_sample_holds_every_smaller_one(size, seed):
    small = sample_queries(QUERIES, size, seed=seed)
    large = sample_queries(QUERIES, size + 3, seed=seed)
    assert {(q.style, q.id) for q in small} < {(q.style, q.id) for q in large}
    assert set(Counter(q.style for q in small).values()) == {size}


def test_conversations_take_turns_and_styles_share_their_needs():
    sample = sample_queries(QUERIES, 6)
    homes = Counter((q.style, q.conversation) for q in sample)
    assert set(homes.values()) == {3}
    ids = {style: {q.id for q in sample if q.style == style} for style in ("dialog", "implicit")}
    assert ids["dialog"] == ids["implicit"]
    assert all(q.gold and q.category != 5 for q in sample)
    assert sample == [q for q in QUERIES if q in sample], "in their given order"
    assert sample != sample_queries(QUERIES, 6, seed=1)


def test_no_query_is_an_error():
    with pytest.raises(ConfigError, match="sample is empty"):
        sample_queries(QUERIES, 0)
