import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unbidden.errors import ConfigError
from unbidden.reply.bleu import bleu_counts, bleu_points, corpus_bleu
from unbidden.reply.bootstrap import paired_bootstrap
from unbidden.reply.length import cut_sentences, cut_words, match_length
from unbidden.reply.metrics import rouge_l, score_replies

pytest.importorskip("sacrebleu", reason="needs the package sacrebleu")
pytest.importorskip("rouge_score", reason="needs the package rouge-score")

WORDS = st.lists(st.sampled_from(["boat", "red", "the", "sold", "I", ",", "."]), max_size=12)
TEXTS = st.lists(st.tuples(WORDS.map(" ".join), WORDS.map(" ".join)), min_size=1, max_size=12)


def _library_points(totals) -> float:
    from sacrebleu.metrics.bleu import BLEU

    said, wanted, *rest = (int(value) for value in totals)
    return BLEU.compute_bleu(rest[:4], rest[4:], said, wanted, smooth_method="exp").score


def test_bleu_by_hand():
    # 6 and 6 tokens; matches 5/6, 4/5, 3/4, 2/3.
    found = corpus_bleu(["a b c d e f"], ["a b c d e g"])
    assert found.score == pytest.approx(100 * math.prod([5 / 6, 4 / 5, 3 / 4, 2 / 3]) ** 0.25)
    assert found.brevity == 1
    assert "tok:13a" in found.signature
    assert "version:" in found.signature
    assert bleu_counts(["a b c d e f"], ["a b c d e g"]).tolist() == [
        [6, 6, 5, 4, 3, 2, 6, 5, 4, 3],
    ]


@settings(deadline=None, max_examples=60)
@given(TEXTS)
def test_summed_counts_give_the_library_score(pairs):
    replies, gold = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    totals = bleu_counts(replies, gold).sum(axis=0)
    assert float(bleu_points(totals)) == pytest.approx(corpus_bleu(replies, gold).score, abs=1e-9)


@given(st.lists(st.integers(0, 40), min_size=6, max_size=6))
def test_the_formula_is_the_library_formula(numbers):
    said, wanted, *shares = numbers
    possible = [max(said - n, 0) for n in range(4)]
    matched = [min(share, most) for share, most in zip(shares, possible, strict=True)]
    totals = [said, wanted, *matched, *possible]
    assert float(bleu_points(totals)) == pytest.approx(_library_points(totals), abs=1e-9)


def test_many_corpora_at_once():
    rows = bleu_counts(["a b c d", "x y"], ["a b c d", "a b"])
    assert bleu_points(rows).tolist() == [pytest.approx(100), 0]
    assert bleu_points(np.zeros((3, 2, 10))).shape == (3, 2)


def test_rouge_by_hand():
    # Longest common subsequence "i the boat": precision 3/3, recall 3/5.
    value = rouge_l(["I, the boat"], ["I sold the red boat."])[0]
    assert value == pytest.approx(2 * 1 * 0.6 / 1.6)
    assert rouge_l(["boats"], ["boat"])[0] == 0  # no stemmer


def test_a_gold_text_without_tokens_is_not_zero():
    assert np.isnan(rouge_l(["林悦"], ["林悦"])[0])
    assert rouge_l(["林悦"], ["林悦"], tokens="unicode")[0] == 1
    found = score_replies(["林悦"], ["林悦"])
    assert (found.n, found.rouge_l) == (1, None)


def test_no_reply_is_counted_and_not_zero():
    found = score_replies(["I sold it", None, "no"], ["I sold it", "yes", None])
    assert (found.n, found.unscored, found.rouge_l, found.words) == (1, 2, 100, 3)
    nothing = score_replies([None], ["yes"])
    assert (nothing.n, nothing.unscored, nothing.bleu4, nothing.rouge_l) == (0, 1, None, None)
    empty = score_replies(["", "a b c d"], ["yes", "a b c d"])
    assert (empty.n, empty.unscored, empty.rouge_l) == (2, 0, 50)


def test_wrong_settings_are_named():
    with pytest.raises(ConfigError, match="differ in number"):
        score_replies(["a"], [])
    with pytest.raises(ConfigError, match="unknown tokeniser"):
        corpus_bleu(["a"], ["a"], tokenize="13b")
    with pytest.raises(ConfigError, match="did you mean paper"):
        rouge_l(["a"], ["a"], tokens="papers")
    with pytest.raises(ConfigError, match="BLEU of no reply"):
        corpus_bleu([], [])
    with pytest.raises(ConfigError, match="unknown cut"):
        match_length(["a"], ["a"], cut="letters")


@given(WORDS.map(" ".join), st.integers(0, 15))
def test_a_cut_is_a_beginning_of_at_most_so_many_words(text, most):
    cut = cut_words(text, most)
    assert cut.split() == text.split()[:most]
    sentences = cut_sentences(text, most)
    assert text.split()[: len(sentences.split())] == sentences.split()


def test_cut_to_another_systems_length():
    long, short = "One two. Three four five! Six", "a b c d"
    assert match_length([long], [short]) == ["One two. Three four"]
    assert match_length([long], [short], cut="sentences") == ["One two."]
    assert match_length([short], [long]) == [short]


def test_the_bootstrap_resamples_what_it_reports():
    gold = ["the boat was sold to my cousin", "we start in june at the bakery"] * 10
    good, bad = gold, ["the boat is here in june"] * 20
    episodes = [i // 4 for i in range(20)]
    found = {item.metric: item for item in paired_bootstrap(bad, good, gold, episodes)}
    assert found["bleu4"].first == pytest.approx(corpus_bleu(bad, gold).score)
    assert found["bleu4"].second == pytest.approx(100)
    assert found["rouge_l"].first == pytest.approx(score_replies(bad, gold).rouge_l)
    for item in found.values():
        assert item.low <= item.difference <= item.high
        assert (item.n, item.episodes, item.differs) == (20, 5, True)


def test_each_resample_equals_a_direct_computation():
    from unbidden.reply.bootstrap import _by_episode, _codes, _draws

    rng = np.random.default_rng(3)
    words = np.array(["boat", "red", "the", "sold", "I"])
    said = [" ".join(rng.choice(words, 8)) for _ in range(24)]
    gold = [" ".join(rng.choice(words, 8)) for _ in range(24)]
    episodes = [i % 6 for i in range(24)]
    codes, count = _codes(episodes)
    draws = _draws(count, 5, seed=2)
    fast = bleu_points(draws @ _by_episode(bleu_counts(said, gold).astype(float), codes, count))
    for times, points in zip(draws.astype(int), fast, strict=True):
        chosen = [i for episode in range(6) for _ in range(times[episode]) for i in range(24)
                  if episodes[i] == episode]  # fmt: skip
        direct = corpus_bleu([said[i] for i in chosen], [gold[i] for i in chosen]).score
        assert points == pytest.approx(direct)


def test_the_bootstrap_is_repeatable_and_never_invents_an_interval():
    args = (["a b c d e"] * 4, ["a b c x e"] * 4, ["a b c d f"] * 4, "aabb")
    assert paired_bootstrap(*args, seed=5) == paired_bootstrap(*args, seed=5)
    single = paired_bootstrap(*args[:3], "aaaa")[0]
    assert (single.low, single.high, single.differs) == (None, None, None)
    assert "one episode" in single.method
    same = paired_bootstrap(args[0], args[0], args[2], "aabb")[0]
    assert (same.difference, same.low, same.high, same.differs) == (0, 0, 0, False)
    with pytest.raises(ConfigError, match="no reply"):
        paired_bootstrap([], [], [], [])
    with pytest.raises(ConfigError, match="no reply"):
        paired_bootstrap(["a"], [None], ["a"], [1])
    with pytest.raises(ConfigError, match="out of range"):
        paired_bootstrap(*args, resamples=0)


def test_a_missing_reply_takes_its_turn_out_of_both_systems():
    first, second = ["a b c d e", None, "a b", "a b c d e"], ["a b c x e", "a b", "", "a b c d f"]
    gold, episodes = ["a b c d f", "a", None, "a b c d e"], [1, 1, 2, 2]
    found = paired_bootstrap(first, second, gold, episodes)
    kept = paired_bootstrap(*[[items[0], items[3]] for items in (first, second, gold, episodes)])
    assert [(item.n, item.unscored) for item in found] == [(2, 2)] * 2
    assert [(item.difference, item.low) for item in found] == [
        (item.difference, item.low) for item in kept
    ]
