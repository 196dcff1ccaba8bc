"""How close a reply comes to what was really said: BLEU-4, ROUGE-L, length.

Word overlap with one gold reply is a weak measure: many other replies would be right, and length
alone moves it (THEANINE's five released systems speak 19 to 67 words where the gold has 18). So
length stands beside every score, and `unbidden.reply.length` scores replies cut to one length.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, Protocol, get_args

import numpy as np

from unbidden.errors import ConfigError, closest
from unbidden.memory.tokens import unicode_tokens
from unbidden.reply.bleu import bleu_counts, bleu_points, corpus_bleu, same_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from rouge_score.rouge_scorer import RougeScorer

RougeTokens = Literal["paper", "unicode"]

__all__ = [
    "ReplyScores",
    "bleu_counts",
    "bleu_points",
    "corpus_bleu",
    "rouge_l",
    "score_replies",
    "word_count",
]


@dataclass(frozen=True, slots=True)
class ReplyScores:
    """Scores of one system's replies.

    Attributes
    ----------
    n : int
        Replies scored.
    unscored : int
        Items left out because there is no reply or no gold text; never counted as 0.
    bleu4, rouge_l : float or None
        In points, 0 to 100, as the papers print them; None over no reply.
    words, gold_words : float or None
        Mean words per reply and per gold text of the scored items.
    signature : str
        sacreBLEU's account of its settings, and ROUGE's.
    """

    n: int
    unscored: int
    bleu4: float | None
    rouge_l: float | None
    words: float | None
    gold_words: float | None
    signature: str


def word_count(text: str) -> int:
    """Return the words of a text, split at white space.

    >>> word_count("Well,  I am fine.")
    4
    """
    return len(text.split())


def rouge_l(
    replies: Sequence[str], gold: Sequence[str], *, tokens: RougeTokens = "paper"
) -> NDArray[np.float64]:
    """Return ROUGE-L F1 of each reply, without stemming; shape (n_replies,), 0 to 1.

    Parameters
    ----------
    tokens : {"paper", "unicode"}
        "paper" is the tokeniser of `rouge-score`, which sees ASCII letters and digits only; it
        reproduces THEANINE's tables. "unicode" sees words of any script.

    Returns
    -------
    array
        NaN where the gold text has no token, for nothing can match it.

    Raises
    ------
    ConfigError
        If the lists differ in length, or `tokens` is unknown.
    """
    same_length(replies, gold)
    values = [
        _rouge_value(reply, right, tokens) for reply, right in zip(replies, gold, strict=True)
    ]
    return np.array(values, dtype=np.float64)


# Each reply is compared once, however often it is scored, paired and resampled.
@lru_cache(maxsize=50_000)
def _rouge_value(reply: str, gold: str, tokens: RougeTokens) -> float:
    scorer, tokeniser = _rouge(tokens)
    if not tokeniser.tokenize(gold):
        return float("nan")
    return float(scorer.score(gold, reply)["rougeL"].fmeasure)


class _Tokeniser(Protocol):
    """The form in which `rouge-score` takes a tokeniser."""

    def tokenize(self, text: str) -> list[str]: ...


class _UnicodeTokens:
    def tokenize(self, text: str) -> list[str]:
        return unicode_tokens(text)


@lru_cache(maxsize=2)
def _rouge(tokens: RougeTokens) -> tuple[RougeScorer, _Tokeniser]:
    from rouge_score.rouge_scorer import RougeScorer
    from rouge_score.tokenizers import DefaultTokenizer

    known = get_args(RougeTokens)
    if tokens not in known:
        raise ConfigError(f"unknown ROUGE tokens {tokens!r}", expected=closest(tokens, known))
    tokeniser = _UnicodeTokens() if tokens == "unicode" else DefaultTokenizer(use_stemmer=False)
    return RougeScorer(["rougeL"], tokenizer=tokeniser), tokeniser


def score_replies(
    replies: Sequence[str | None],
    gold: Sequence[str | None],
    *,
    tokenize: str = "13a",
    tokens: RougeTokens = "paper",
) -> ReplyScores:
    """Return BLEU-4, ROUGE-L and length of one system's replies.

    Parameters
    ----------
    replies, gold : sequence of str or None
        None where there is no reply (a failed call) or no gold text: left out and counted. An
        empty reply that was really given is scored.

    Raises
    ------
    ConfigError
        If the lists differ in length, or a tokeniser is unknown.
    """
    same_length(replies, gold)
    pairs = [
        (reply, right)
        for reply, right in zip(replies, gold, strict=True)
        if reply is not None and right is not None
    ]
    unscored = len(replies) - len(pairs)
    if not pairs:
        return ReplyScores(0, unscored, None, None, None, None, "nothing scored")
    said, right = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    bleu = corpus_bleu(said, right, tokenize=tokenize)
    rouge = rouge_l(said, right, tokens=tokens)
    scored = rouge[~np.isnan(rouge)]
    return ReplyScores(
        n=len(pairs),
        unscored=unscored,
        bleu4=bleu.score,
        rouge_l=float(100 * scored.mean()) if len(scored) else None,
        words=float(np.mean([word_count(text) for text in said])),
        gold_words=float(np.mean([word_count(text) for text in right])),
        signature=f"BLEU {bleu.signature}; ROUGE-L F1, no stemmer, {tokens} tokens",
    )
