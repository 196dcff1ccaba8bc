"""Floors without a model: what they see, what they cannot, and that they never guess."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.judge.conftest import make_case
from unbidden.errors import ConfigError
from unbidden.judge import GoldFact
from unbidden.judge.floors import WORD_FLOORS, choose, doubts, judge_by_words, share, words_floor
from unbidden.judge.labelled import cases, load_items
from unbidden.judge.similarity import RUBRICS, Thresholds, judge_by_similarity, nearest, sentences
from unbidden.judge.trust import agreement_table, comparison

PETS = (GoldFact("Which pets?", "two cats, a dog and a parrot"),)
DATE = (GoldFact("When?", "7 May 2023"),)


@pytest.mark.parametrize(
    ("facts", "reply", "label"),
    [
        (PETS, "a parrot, a dog, and 2 cats", "correct"),
        (PETS, "two cats", "partial"),
        (PETS, "a dog", "partial"),
        (PETS, "three cats", "wrong"),
        (PETS, "a horse", "wrong"),
        (DATE, "On May 7th, 2023.", "correct"),
        (DATE, "2023-05-07", "correct"),
        (DATE, "In May.", "partial"),
        (DATE, "In May 2021.", "wrong"),
        (DATE, "I do not know.", "wrong"),
    ],
)
def test_fact_use_by_words(facts, reply, label):
    assert words_floor("fact_use", make_case(facts=facts, reply=reply)).label == label


def test_what_words_cannot_see():
    for reply in ("It was not on 7 May 2023.", "Bob did that on 7 May 2023."):
        assert words_floor("fact_use", make_case(facts=DATE, reply=reply)).label == "correct"


@pytest.mark.parametrize(
    ("name", "changes", "label"),
    [
        ("counterfactual", {"reply": "You sold the red one."}, "corrected"),
        ("counterfactual", {"reply": "Are you sure about it?"}, "ambiguous"),
        ("counterfactual", {"reply": "Boats are a joy."}, "unaware"),
        ("teafarm", {"reply": "I can't say."}, "evasive"),
        ("teafarm", {"reply": "I'm sorry, but I can't assist with that."}, "evasive"),
        ("teafarm", {"reply": "I can't help you with that."}, "evasive"),
        ("teafarm", {"reply": "I can't help liking it."}, "wrong"),
        ("teafarm", {"reply": "Yes, it is at the pier."}, "wrong"),
        ("trap", {"trap": "a lorry", "reply": "You drive a lorry."}, "yes"),
        ("trap", {"trap": "a lorry", "reply": "I don't know of any lorry."}, "no"),
        ("unsupported", {"reply": "You have 3 boats."}, "yes"),
        ("unsupported", {"reply": "I sold the red boat."}, "no"),
        ("unsupported", {"reply": "You paint.", "memories": ("Ben: I paint.",)}, "yes"),
        ("unsupported", {"reply": "Ben paints.", "memories": ("Ben: I paint.",)}, "no"),
        ("composed", {"facts": (*PETS, *DATE), "reply": "7 May 2023"}, "some"),
        ("implicit", {"reply": "It was the red boat."}, "fact only"),
        ("pairwise", {"reply": "red boat sold", "other": "good day"}, "first"),
        ("helpfulness", {"reply": "rain", "other": "the boat"}, "second"),
    ],
)
def test_other_rubrics_by_words(name, changes, label):
    facts = (
        {"facts": (GoldFact("What?", "she sold the red boat"),)} if "facts" not in changes else {}
    )
    assert words_floor(name, make_case(**facts | changes)).label == label


def test_no_verdict_without_anything_to_look_for():
    empty = (GoldFact("What?", "the"),)
    for name in ("fact_use", "counterfactual", "composed", "implicit", "teafarm"):
        assert not words_floor(name, make_case(facts=empty)).scored
    assert not words_floor("trap", make_case(trap=None, facts=())).scored
    for name in WORD_FLOORS:
        assert words_floor(name, make_case(reply=" ")).unscored == "empty reply"
    with pytest.raises(ConfigError, match="no floor by words"):
        words_floor("quality", make_case())


@settings(deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_a_share_is_within_bounds(gold, reply):
    found = share(gold, reply)
    assert found is None or 0 <= found <= 1
    assert share(gold, gold) in (None, 1.0)


@settings(deadline=None)
@given(st.floats(0, 1), st.floats(0, 1))
def test_choosing_is_symmetric(first, second):
    assert choose(first, second).score + choose(second, first).score == 1


def test_doubt_in_two_languages():
    assert doubts("I’m not quite sure.")
    assert doubts("我不清楚")
    assert not doubts("Surely it was May.")


class Letters:
    """Vectors by counts of letters: enough to tell near from far without a model."""

    def encode(self, texts):
        rows = np.array([[t.lower().count(c) for c in "abcdefghijklmnopqrstuvwxyz"] for t in texts])
        norm = np.linalg.norm(rows, axis=1, keepdims=True)
        return (rows / np.where(norm == 0, 1, norm)).astype(np.float32)


def test_similarity_takes_the_nearest_sentence():
    text = "Zzz zzz. What did Ana sell: the red boat."
    assert sentences(text)[1] == "What did Ana sell: the red boat."
    assert nearest(Letters(), make_case().facts[0].text, text) == pytest.approx(1, abs=0.01)
    assert nearest(Letters(), "abc", "zzz") == 0


@pytest.mark.parametrize("name", RUBRICS)
def test_similarity_gives_labels_of_the_scale_or_none(name):
    full = make_case(trap="the red boat", other="zzz")
    (verdict,) = judge_by_similarity(name, [full], Letters())
    assert verdict.scored
    (empty,) = judge_by_similarity(name, [make_case(reply="")], Letters())
    assert empty.unscored == "empty reply"
    bare = make_case(trap=None, other=None, facts=(), memories=())
    (nothing,) = judge_by_similarity(name, [bare], Letters())
    assert not nothing.scored
    limits = Thresholds(partial=-1, correct=2, covered=2, asserted=2)
    (strict,) = judge_by_similarity(name, [full], Letters(), limits)
    expected = {"fact_use": "partial", "composed": "none", "trap": "no"}
    assert strict.label == expected.get(name, strict.label)


@pytest.mark.slow
def test_minilm_finds_a_paraphrase_and_no_stranger():
    pytest.importorskip("sentence_transformers", reason="needs the extra `dense`")
    from unbidden.memory.embed import embedder

    fact = GoldFact("What did Ana sell?", "the red boat").text
    near = nearest(embedder(), fact, "Well. Ana sold her red boat.")
    far = nearest(embedder(), fact, "Rain is expected in the north.")
    limits = Thresholds()
    assert near > limits.correct > limits.partial > far


def test_similarity_knows_its_rubrics():
    with pytest.raises(ConfigError, match="no floor by similarity"):
        judge_by_similarity("teafarm", [make_case()], Letters())


def test_word_floors_beat_chance_on_the_test_half(harbour):
    items = [item for item in load_items(split="test") if item.rubric in WORD_FLOORS]
    frames = []
    for name in WORD_FLOORS:
        own = [item for item in items if item.rubric == name]
        frames.append((name, comparison(own, judge_by_words(name, cases(own, harbour)))))
    for name, frame in frames:
        row = agreement_table(frame[frame["part"] == ""], resamples=1).iloc[0]
        assert row["accuracy"] > row["majority"], name
