"""The parts of searches without a model: feedback, neighbours, speaker, age, windows."""

import datetime as dt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unbidden.corpus import load_corpus
from unbidden.memory.bm25 import OkapiIndex
from unbidden.retrieval.searches.feedback import rm3_weights, rocchio, weighted_scores
from unbidden.retrieval.searches.neighbours import insert_neighbours, smooth
from unbidden.retrieval.searches.priors import newest_first, only_speaker
from unbidden.retrieval.searches.windows import WindowSearch

words = st.lists(st.sampled_from(["boat", "tea", "rui", "sea"]), min_size=1, max_size=6)
documents = st.lists(words, min_size=1, max_size=6)


def unit(rows):
    x = np.array(rows, dtype=np.float32)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


@settings(deadline=None)
@given(st.integers(1, 8), st.integers(0, 10_000), st.floats(0, 2))
def test_rocchio_stays_a_unit_vector_and_comes_nearer_to_the_first_hits(first, seed, weight):
    rng = np.random.default_rng(seed)
    turns, query = unit(rng.normal(size=(6, 5))), unit(rng.normal(size=5))
    moved = rocchio(query, turns, first=first, weight=weight)
    assert np.linalg.norm(moved) == pytest.approx(1, abs=1e-5)
    best = np.argsort(-(turns @ query), kind="stable")[:first]
    centre = turns[best].mean(axis=0)
    assert moved @ centre >= query @ centre - 1e-5
    if weight == 0:
        np.testing.assert_allclose(moved, query, atol=1e-6)


@settings(deadline=None)
@given(words, documents, st.floats(0, 1), st.integers(1, 4))
def test_rm3_weights_are_a_mixture(query, texts, mix, terms):
    scores = np.array([float(len(set(query) & set(text))) for text in texts])
    found = rm3_weights(query, texts, scores, terms=terms, mix=mix)
    assert sum(found.values()) == pytest.approx(1)
    assert all(weight >= -1e-12 for weight in found.values())
    assert set(query) <= set(found)
    if not scores.any():
        assert found == rm3_weights(query, [], np.array([]))


def test_words_of_the_first_hits_find_a_turn_that_shares_none_with_the_query():
    texts = [["boat", "harbour"], ["harbour", "mooring"], ["tea"]]
    index = OkapiIndex(texts + [["cup"]] * 4)
    plain = index.scores(["boat"])
    moved = weighted_scores(index, rm3_weights(["boat"], texts + [["cup"]] * 4, plain))
    assert plain[1] == 0 and moved[1] > 0
    assert moved[2] == 0
    assert np.argmax(moved) == 0


@settings(deadline=None)
@given(st.permutations(range(8)), st.integers(1, 3))
def test_neighbours_add_turns_of_the_same_session_and_lose_none(order, radius):
    sessions = [1, 1, 1, 1, 2, 2, 3, 3]
    ranking = list(order)[:3]
    found = insert_neighbours(ranking, sessions, radius=radius)
    assert len(found) == len(set(found)) and set(ranking) <= set(found)
    assert found[0] == ranking[0]
    for place in set(found) - set(ranking):
        near = [hit for hit in ranking if sessions[hit] == sessions[place]]
        assert any(abs(hit - place) <= radius for hit in near)


@settings(deadline=None)
@given(st.lists(st.floats(0, 9), min_size=1, max_size=8), st.integers(1, 9), st.floats(0, 1))
def test_smoothing_never_takes_away(scores, radius, weight):
    sessions = [i // 3 for i in range(len(scores))]
    found = smooth(np.array(scores), sessions, radius=radius, weight=weight)
    assert (found >= np.array(scores) - 1e-12).all()
    assert found.max() <= max(scores) * (1 + weight) + 1e-9
    np.testing.assert_allclose(smooth(np.array(scores), range(len(scores))), scores)


def test_only_one_speaker():
    speakers = ["Ana", "Ben", "Ana"]
    assert only_speaker([2, 1, 0], speakers, "Ana") == [2, 0]
    assert only_speaker([2, 1, 0], speakers, None) == [2, 1, 0]
    assert only_speaker([2, 1, 0], speakers, "Rui") == [2, 1, 0], "says nothing, filters nothing"


def test_newest_first_keeps_sessions_whole():
    day = [dt.datetime(2023, 1, d) for d in (1, 1, 5)]
    assert newest_first([*day, None]) == [2, 3, 0, 1]
    assert newest_first([None, None]) == [0, 1]


def test_a_window_is_found_by_the_words_of_any_of_its_turns(write, sample):
    talk = load_corpus(str(write([sample]))).conversations[0]
    search = WindowSearch()
    report = search.ingest(talk)
    assert report.memories == 4, "3 and 3 turns, each two windows"
    (best, *_) = search.search("bakery June", k=3)
    assert best.sources == ("D2:1", "D2:2", "D2:3")
    assert search.search("zeppelin", k=3) == []
