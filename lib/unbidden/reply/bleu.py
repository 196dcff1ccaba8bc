"""Corpus BLEU-4 by sacreBLEU, and the counts it is made of.

BLEU of a corpus is not a mean over replies: it is computed from n-gram counts summed over all of
them. The counts of each reply are kept here, so that BLEU of any part or resample of a corpus is a
sum and a formula, not a new count.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from unbidden.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray
    from sacrebleu.metrics.bleu import BLEU

ORDER = 4
COLUMNS = 2 + 2 * ORDER
"""Length of the reply, of the gold, matched n-grams, all n-grams (each for n = 1 to 4)."""


@dataclass(frozen=True, slots=True)
class Bleu:
    """Corpus BLEU.

    Attributes
    ----------
    score : float
        In points, 0 to 100.
    signature : str
        sacreBLEU's own account of settings and version; show it beside the score.
    brevity : float
        Brevity penalty, 1 where the replies are at least as long as the gold.
    """

    score: float
    signature: str
    brevity: float


def bleu_counts(
    replies: Sequence[str], gold: Sequence[str], *, tokenize: str = "13a"
) -> NDArray[np.int64]:
    """Return the sufficient statistics of BLEU of each reply, shape (n_replies, 10).

    Parameters
    ----------
    tokenize : str
        sacreBLEU's tokeniser; "13a" is its default and what reproduces THEANINE's tables. Use
        "intl", "zh" or "char" where the text is not English.

    Raises
    ------
    ConfigError
        If the lists differ in length, or the tokeniser is unknown.
    """
    same_length(replies, gold)
    rows = [
        _reply_counts(reply, right, tokenize) for reply, right in zip(replies, gold, strict=True)
    ]
    return np.array(rows, dtype=np.int64).reshape(len(rows), COLUMNS)


# The same replies are scored plain, paired and resampled; each is counted once.
@lru_cache(maxsize=50_000)
def _reply_counts(reply: str, gold: str, tokenize: str) -> tuple[int, ...]:
    score = _metric(tokenize).sentence_score(reply, [gold])
    return (score.sys_len, score.ref_len, *score.counts, *score.totals)


def bleu_points(totals: ArrayLike) -> NDArray[np.float64]:
    """Return corpus BLEU in points from summed counts, for many corpora at once.

    The formula of sacreBLEU with its default "exp" smoothing; no reply or no match gives 0.

    Parameters
    ----------
    totals : array of shape (..., 10)
        Sums of rows of `bleu_counts`.

    Returns
    -------
    array of shape (...)
    """
    sums = np.asarray(totals, dtype=np.float64)
    said, wanted = sums[..., 0], sums[..., 1]
    matched, possible = sums[..., 2 : 2 + ORDER], sums[..., 2 + ORDER :]
    # Each order without a match counts as half a match, then a quarter, and so on.
    missing = matched == 0
    halvings = np.exp2(np.cumsum(missing, axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(missing, 1.0 / halvings, matched) / possible
        brevity = np.where(said < wanted, np.exp(1.0 - wanted / said), 1.0)
        points = 100.0 * brevity * np.exp(np.log(precision).mean(axis=-1))
    nothing = (possible == 0).any(axis=-1) | missing.all(axis=-1)
    return np.where(nothing, 0.0, points)


def corpus_bleu(replies: Sequence[str], gold: Sequence[str], *, tokenize: str = "13a") -> Bleu:
    """Return corpus BLEU-4 of replies against one gold text each, with sacreBLEU's signature.

    Cased, "exp" smoothing, sacreBLEU's defaults (THEANINE section 5.1 names no settings; these
    reproduce its Table 9 to 0.1 points).

    Raises
    ------
    ConfigError
        If there is no reply, the lists differ in length, or the tokeniser is unknown.
    """
    same_length(replies, gold)
    if not replies:
        raise ConfigError("BLEU of no reply", expected="at least one reply and its gold text")
    metric = _metric(tokenize, corpus=True)
    score = metric.corpus_score(list(replies), [list(gold)])
    return Bleu(float(score.score), str(metric.get_signature()), float(score.bp))


def same_length(replies: Sequence[object], gold: Sequence[object]) -> None:
    """Raise ConfigError unless there is one gold text for each reply."""
    if len(replies) != len(gold):
        raise ConfigError(
            "replies and gold texts differ in number",
            expected=str(len(gold)),
            got=str(len(replies)),
        )


@lru_cache(maxsize=8)
def _metric(tokenize: str, *, corpus: bool = False) -> BLEU:
    from sacrebleu.metrics.bleu import BLEU

    if tokenize not in BLEU.TOKENIZERS:
        raise ConfigError(
            f"unknown tokeniser {tokenize!r}",
            expected=f"one of sacreBLEU's: {', '.join(sorted(BLEU.TOKENIZERS))}",
        )
    # "Effective order" changes the score of one sentence but not its counts, and is asked for
    # only because the library warns without it.
    return BLEU(tokenize=tokenize, effective_order=not corpus)
