import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unbidden.corpus import load_corpus
from unbidden.memory.bm25 import BM25, OkapiIndex
from unbidden.memory.tokens import count_tokens, paper_tokens, tokeniser, unicode_tokens

WORDS = st.sampled_from(["a", "boat", "7", "may", "the", "x"])


def okapi(documents, query, k1=1.5, b=0.75, epsilon=0.25):
    """Okapi BM25 term by term, from the formula."""
    n, average = len(documents), sum(map(len, documents)) / len(documents)
    found_in = Counter(word for document in documents for word in set(document))
    idf = {w: math.log((n - c + 0.5) / (c + 0.5)) for w, c in found_in.items()}
    floor = epsilon * sum(idf.values()) / len(idf)
    idf = {w: v if v >= 0 else floor for w, v in idf.items()}
    scores = []
    for document in documents:
        counts = Counter(document)
        length = k1 * (1 - b + b * len(document) / average)
        scores.append(
            sum(idf.get(w, 0) * counts[w] * (k1 + 1) / (counts[w] + length) for w in query)
        )
    return scores


@given(
    st.lists(st.lists(WORDS, min_size=1, max_size=6), min_size=1, max_size=8),
    st.lists(WORDS, max_size=5),
)
def test_scores_equal_the_formula(documents, query):
    # Summed with repeats, as rank_bm25 does: a word said twice counts twice.
    expected = okapi(documents, query)
    np.testing.assert_allclose(OkapiIndex(documents).scores(query), expected, atol=1e-9)


@pytest.fixture
def bm25(write, sample):
    system = BM25()
    report = system.ingest(load_corpus(str(write([sample]))).conversations[0])
    assert (report.units, report.memories, report.failed) == (6, 6, 0)
    return system


def test_finds_turns_by_words(bm25):
    (best, *_) = bm25.search("red boat", k=3)
    assert best.sources == ("D1:1",)
    assert best.text == 'DATE: 12:09 am on 3 May, 2023\nAna said, "I sold the red boat."'
    assert best.time.hour == 0


def test_unknown_words_retrieve_nothing(bm25):
    assert bm25.search("zeppelin", k=5) == []
    assert bm25.search("", k=5) == []


def test_single_digits_count(bm25):
    assert bm25.search("7", k=1)[0].sources == ("D2:1",)


def test_ingest_forgets_the_conversation_before(bm25, write, sample):
    sample["conversation"]["session_1"][0]["text"] = "I sold the green car."
    bm25.ingest(load_corpus(str(write([sample]))).conversations[0])
    assert not any("red" in hit.text for hit in bm25.search("red boat", k=9))


def test_equal_scores_keep_conversation_order(write, sample):
    talk = sample["conversation"]
    for turn in (talk["session_1"][0], talk["session_2"][1]):  # both Ana's, dates equally long
        turn["text"] = "zebra crossing"
    system = BM25()
    system.ingest(load_corpus(str(write([sample]))).conversations[0])
    first, second = system.search("zebra", k=5)
    assert first.score == second.score
    assert (first.sources, second.sources) == (("D1:1",), ("D2:2",))


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_tokenisers_agree_on_ascii(text):
    assert unicode_tokens(text) == paper_tokens(text)


@given(st.text())
def test_tokens_of_any_text(text):
    assert all(unicode_tokens(text))
    assert count_tokens(text) >= 0


def test_auto_looks_at_the_conversation():
    assert tokeniser("auto", "plain text") is paper_tokens
    assert tokeniser("auto", "我搬家了") is unicode_tokens
    assert paper_tokens("我搬家了") == []
    assert "搬家" in unicode_tokens("我搬家了")


def test_chinese_query_without_match_returns_none(write, sample):
    sample["conversation"]["session_1"][0]["text"] = "我把红色的船卖了。"
    system = BM25()
    system.ingest(load_corpus(str(write([sample]))).conversations[0])
    assert system.search("红船", k=1)[0].sources == ("D1:1",)
    assert system.search("飞机", k=5) == []
