"""Searching with rewritten queries, and fusion by rank."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unbidden.corpus.load import load_corpus
from unbidden.errors import ConfigError, DataError
from unbidden.memory.protocol import Retrieved
from unbidden.queries.build import build_queries
from unbidden.queries.facets import SearchTexts
from unbidden.retrieval.rewritten import fuse, retrieve_rewritten
from unbidden.retrieval.run import retrieve


def hit(name, text=None):
    return Retrieved(text or name, (name,), 1.0)


rankings = st.lists(
    st.lists(st.sampled_from("abcdefgh"), max_size=8, unique=True), min_size=1, max_size=5
)


@settings(deadline=None)
@given(rankings, st.integers(1, 10))
def test_fusion_keeps_each_memory_once_best_first(names, keep):
    fused = fuse([[hit(name) for name in one] for one in names], keep=keep)
    found = [one.text for one in fused]
    union = {name for one in names for name in one}
    assert len(found) == len(set(found)) == min(keep, len(union))
    assert set(found) <= union
    scores = [one.score for one in fused]
    assert scores == sorted(scores, reverse=True)
    for one in fused:
        ranks = [ranking.index(one.text) + 1 for ranking in names if one.text in ranking]
        assert one.score == pytest.approx(sum(1 / (60 + rank) for rank in ranks))


@settings(deadline=None)
@given(st.lists(st.sampled_from("abcdefgh"), max_size=8, unique=True))
def test_fusing_one_ranking_changes_nothing(names):
    assert [one.text for one in fuse([[hit(name) for name in names]])] == names


def test_turns_with_the_same_words_stay_apart_by_id():
    one, two = hit("D1:1", "Thanks!"), hit("D2:1", "Thanks!")
    assert [h.sources for h in fuse([[one, two]])] == [("D1:1",), ("D2:1",)]
    assert len(fuse([[one, two]], key="text")) == 1


@pytest.fixture
def corpus(sample, write):
    return load_corpus(str(write([sample])))


def texts_for(query, *texts, **more):
    return SearchTexts(query, "facets", texts, **more)


def test_facets_are_searched_apart_and_fused(corpus):
    queries = build_queries(corpus, styles=["implicit", "question"])
    implicit = next(query for query in queries if query.style == "implicit")
    rewrites = [
        texts_for(query, "red boat", "painted blue")
        if query is implicit
        else texts_for(query, query.text)
        for query in queries
    ]
    (ranking,) = retrieve_rewritten(corpus, rewrites, ["bm25"])
    assert ranking.queries == queries
    place = queries.index(implicit)
    best = [one.sources[0] for one in ranking.hits[place][:2]]
    assert set(best) == {"D1:1", "D2:2"}, "one is the best of each facet"
    assert ranking.depth == 20
    (plain,) = retrieve(corpus, queries, ["bm25"], depth=20)
    other = 1 - place if len(queries) == 2 else queries.index(queries[0])
    assert [h.sources for h in ranking.hits[other]] == [h.sources for h in plain.hits[other]]


def test_the_original_query_can_be_fused_too(corpus):
    (query,) = build_queries(corpus, styles=["implicit"])
    (alone,) = retrieve_rewritten(corpus, [texts_for(query, "bakery")], ["bm25"])
    (both,) = retrieve_rewritten(
        corpus, [texts_for(replace(query, text="boat"), "bakery")], ["bm25"], original=True
    )
    assert {h.sources for h in alone.hits[0]} < {h.sources for h in both.hits[0]}
    assert both.queries[0].text == "boat"


def test_a_query_without_a_rewrite_is_unfit_and_others_are_not(corpus):
    queries = build_queries(corpus, styles=["dialog", "implicit"])
    rewrites = [
        texts_for(queries[0], unscored="no rewrite: timeout: slow"),
        texts_for(queries[1], "boat", fallback=True),
    ]
    (ranking,) = retrieve_rewritten(corpus, rewrites, ["bm25"])
    assert ranking.unfit(0) == "no rewrite: timeout: slow"
    assert ranking.hits[0] == [] and ranking.hits[1]
    assert ranking.unfit(1) is None
    assert any("1 of 2 messages stand for their rewrites" in note for note in ranking.notes)
    with pytest.raises(DataError, match="timeout"):
        retrieve_rewritten(corpus, rewrites[:1], ["bm25"])
    with pytest.raises(ConfigError, match="unknown key"):
        retrieve_rewritten(corpus, rewrites, ["bm25"], key="words")
