"""Synthetic conversations: reproducible, streaming, with LoCoMo's sizes and Zipf's words."""

import itertools
from collections import Counter

import pytest

from unbidden.corpus.synthetic import SESSIONS, TURNS, synthetic_conversations
from unbidden.errors import ConfigError


def test_the_same_seed_gives_the_same_conversations_in_any_number():
    three, five = list(synthetic_conversations(3, seed=1)), synthetic_conversations(5, seed=1)
    assert three == list(itertools.islice(five, 3))
    assert three[0].turns != next(synthetic_conversations(1, seed=2)).turns


def test_sizes_are_locomos():
    (one,) = synthetic_conversations(1)
    assert len(one.sessions) == SESSIONS
    assert len(one.turns) == SESSIONS * TURNS
    words = [len(turn.text.split()) for turn in one.turns]
    assert 20 < sum(words) / len(words) < 25
    assert min(words) >= 3
    assert len({turn.id for turn in one.turns}) == len(one.turns)
    assert [s.when for s in one.sessions] == sorted(s.when for s in one.sessions)


def test_questions_cite_a_turn_that_has_their_words():
    (one,) = synthetic_conversations(1)
    text = {turn.id: turn.text for turn in one.turns}
    for question in one.questions:
        (cited,) = question.evidence
        assert question.answer in text[cited]


def test_words_follow_zipf():
    counts = Counter(
        word
        for one in synthetic_conversations(5)
        for turn in one.turns
        for word in turn.text.split()
    )
    first, tenth, hundredth = (counts.most_common(100)[i][1] for i in (0, 9, 99))
    assert 2 < first / tenth < 8
    assert 4 < tenth / hundredth < 16


def test_conversations_come_one_by_one():
    assert next(synthetic_conversations(10**9)).id == "synthetic-1"


def test_sizes_out_of_range():
    with pytest.raises(ConfigError, match="`turns`"):
        next(synthetic_conversations(1, turns=0))
