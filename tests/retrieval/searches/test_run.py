"""The searches by name: the plain ones are the systems, the others keep the rules of a ranking."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError
from unbidden.memory.embed import Embedder
from unbidden.memory.fusion import reciprocal_rank_fusion
from unbidden.memory.vectors import VectorCache
from unbidden.queries.build import build_queries
from unbidden.retrieval import retrieve, score_rankings
from unbidden.retrieval.recall import recall_items
from unbidden.retrieval.searches import SEARCHES, search_rankings
from unbidden.retrieval.searches.run import _fused


class Letters:
    """Counts letters: a dense model to rank by, without weights."""

    identity = "letters"

    def encode(self, texts):
        letters = "abcdefghilmnoprstuw"
        rows = np.array([[1 + t.lower().count(c) for c in letters] for t in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def embedder(tmp_path):
    return Embedder(Letters(), VectorCache(tmp_path / "v.sqlite", "letters"))


CORPUS = load_corpus("harbour", conversations=["harbour-2"])
QUERIES = build_queries(CORPUS, limit=12)


def test_the_plain_searches_are_the_systems(embedder):
    names = ["bm25", "dense", "rrf"]
    ours = search_rankings(CORPUS, QUERIES, names, depth=20, embedder=embedder)
    theirs = retrieve(CORPUS, QUERIES, names, depth=20, embedder=embedder)
    for one, other in zip(ours, theirs, strict=True):
        found = [[hit.sources for hit in hits] for hits in one.hits]
        assert found == [[hit.sources for hit in hits] for hits in other.hits], one.system


def test_every_search_gives_rankings_that_can_be_scored(embedder):
    found = search_rankings(CORPUS, QUERIES, depth=10, embedder=embedder)
    assert [one.system for one in found] == list(SEARCHES)
    for ranking in found:
        for hits in ranking.hits:
            turns = [hit.sources[0] for hit in hits]
            assert len(turns) == len(set(turns)) <= 10
            scores = [hit.score for hit in hits]
            assert scores == sorted(scores, reverse=True)
    items = score_rankings(CORPUS.name, found, ks=[10])
    assert items["value"].dropna().between(0, 1).all()
    known = {search.base for search in SEARCHES.values()}
    assert known <= set(SEARCHES) and all(SEARCHES[name].base == name for name in known)


def test_the_filter_by_speaker_finds_only_what_the_speaker_said(embedder):
    (ranking,) = search_rankings(CORPUS, QUERIES, ["rrf-speaker"], depth=10, embedder=embedder)
    said = {turn.id: turn.speaker for turn in CORPUS.conversations[0].turns}
    asked = [(q, hits) for q, hits in zip(QUERIES, ranking.hits, strict=True) if q.speaker]
    assert asked
    for query, hits in asked:
        assert {said[hit.sources[0]] for hit in hits} <= {query.speaker}


def test_an_unknown_search_names_the_nearest(embedder):
    with pytest.raises(ConfigError, match="rrf-speaker"):
        search_rankings(CORPUS, QUERIES, ["rrf-speakers"], depth=5, embedder=embedder)


rankings = st.lists(st.integers(0, 12), max_size=10, unique=True)


@settings(deadline=None)
@given(rankings, rankings, st.sampled_from([0.25, 0.5, 0.75]))
def test_fusion_at_once_is_fusion_one_by_one(first, second, weight):
    found = reciprocal_rank_fusion([first, second], weights=[1 - weight, weight])
    assert _fused(first, second, weight) == [key for key, _ in found]


def test_recall_alone_is_the_recall_of_all_measures(embedder):
    found = search_rankings(CORPUS, QUERIES, ["bm25", "rrf-speaker"], depth=10, embedder=embedder)
    whole = score_rankings(CORPUS.name, found, ks=[10])
    whole = whole[whole["metric"] == "recall"].reset_index(drop=True)
    pd.testing.assert_frame_equal(recall_items(CORPUS.name, found, k=10), whole)
