"""The embedded corpus: every id, leak and count."""

import re

import pytest

from unbidden.corpus import load_corpus
from unbidden.corpus.audit import audit
from unbidden.memory.tokens import has_unspaced, unicode_tokens
from unbidden.queries.build import build_queries
from unbidden.queries.clusters import mine_pairs
from unbidden.queries.overlap import content_words
from unbidden.retrieval import retrieve, score_rankings

LIMITS = {"dialog": 0.34, "implicit": 0.0, "counterfactual": 0.25, "composed": 0.2}
"""Largest share of an answer's content words that a query of a style may hold."""

ASKS = re.compile(r"remember|remind me|recall|did i (tell|say|mention)|记得|提醒我|我说过")


@pytest.fixture(scope="module")
def harbour():
    return load_corpus("harbour")


def test_size(harbour):
    found = audit(harbour)
    assert found.conversations >= 4
    assert found.turns >= 500
    assert found.captions >= 30
    assert all(len(c.sessions) >= 8 for c in harbour.conversations)
    answerable = found.denominators["answerable with evidence"]
    assert answerable >= 160
    assert all(min(row.values()) >= 3 for row in found.categories.values())
    assert len(harbour.clusters) >= 60
    assert found.irregularities == ()


def test_every_question_has_every_style(harbour):
    for conversation in harbour.conversations:
        for question in conversation.questions:
            wanted = {"dialog", "implicit"} | ({"counterfactual"} if question.answerable else set())
            assert set(question.rewrites) == wanted, (conversation.id, question.index)
            assert all(r.speaker in conversation.speakers for r in question.rewrites.values())
            assert question.rewrites["implicit"].expected_memory_use
            if question.answerable:
                assert question.answer
                assert question.rewrites["counterfactual"].asserted_wrong
            else:
                assert question.trap


def test_evidence_and_clusters(harbour):
    for conversation in harbour.conversations:
        for question in conversation.questions:
            assert question.evidence
            assert set(question.evidence) <= conversation.turn_ids
            if question.category == 1:
                assert len({turn.split(":")[0] for turn in question.evidence}) > 1
        pairs = {pair.members: pair.gold for pair in mine_pairs(conversation)}
        ours = [c for c in harbour.clusters if c.conversation == conversation.id]
        assert {c.members: set(c.gold_in_file) for c in ours}.items() <= pairs.items()


def _answer_words(text):
    if has_unspaced(text):
        return {token for token in unicode_tokens(text) if len(token) > 1 or token.isdigit()}
    return {word for word in content_words(text) if len(word) > 2 or word.isdigit()}


def test_no_query_gives_its_answer_away(harbour):
    for query in build_queries(harbour, styles=list(LIMITS)):
        conversation = harbour.conversation(query.conversation)
        for member in query.members:
            question = conversation.questions[member]
            answer = _answer_words(question.answer or question.trap)
            shared = answer & _answer_words(query.text)
            assert len(shared) <= LIMITS[query.style] * len(answer), (query.id, query.style, shared)
        if query.style == "implicit":
            assert not ASKS.search(query.text.lower()), query
            assert not query.text.strip().endswith(("?", "？")), query


def test_one_conversation_is_chinese_and_its_words_are_found(harbour):
    chinese = [c for c in harbour.conversations if has_unspaced(c.turns[0].text)]
    assert len(chinese) == 1
    queries = [
        query
        for query in build_queries(harbour, styles=["question"])
        if query.conversation == chinese[0].id
    ]
    (ranking,) = retrieve(harbour, queries, ["bm25"], depth=10)
    items = score_rankings("harbour", [ranking], ks=[10])
    assert items.query("metric == 'recall'")["value"].mean() > 0.8


def test_hard_in_the_same_way(harbour):
    queries = build_queries(harbour, styles=["question", "implicit"])
    rankings = retrieve(harbour, queries, ["bm25"], depth=10)
    items = score_rankings("harbour", rankings, ks=[10]).query("metric == 'recall'")
    recall = items[items["category"] != 5].groupby("style")["value"].mean()
    assert recall["implicit"] <= 0.5 * recall["question"]
