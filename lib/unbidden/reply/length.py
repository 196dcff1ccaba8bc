"""Replies cut to the length of another system's, so that scores compare words, not verbosity."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.errors import ConfigError, closest
from unbidden.reply.bleu import same_length

if TYPE_CHECKING:
    from collections.abc import Sequence

Cut = Literal["words", "sentences"]
CUTS: tuple[Cut, ...] = get_args(Cut)

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+")


def cut_words(text: str, most: int) -> str:
    """Return the first `most` words of a text.

    >>> cut_words("I sold the boat. To Rui.", 3)
    'I sold the'
    """
    return " ".join(text.split()[:most])


def cut_sentences(text: str, most: int) -> str:
    """Return the leading sentences of a text that together have at most `most` words.

    The first sentence is kept whole whatever its length, for a reply says something.

    >>> cut_sentences("I sold the boat. To Rui. Last week!", 6)
    'I sold the boat. To Rui.'
    >>> cut_sentences("I sold the boat.", 2)
    'I sold the boat.'
    """
    sentences = _SENTENCE_END.split(text.strip())
    kept, words = sentences[:1], len(sentences[0].split())
    for sentence in sentences[1:]:
        words += len(sentence.split())
        if words > most:
            break
        kept.append(sentence)
    return " ".join(kept)


def match_length(
    replies: Sequence[str], reference: Sequence[str], *, cut: Cut = "words"
) -> list[str]:
    """Return replies cut to the word count of a reference system's reply to the same turn.

    A shorter reply stays as it is. A cut by words ends in mid-sentence and so keeps all length;
    a cut at sentence ends reads well but loses length, which BLEU's brevity penalty punishes.
    Show both.

    Parameters
    ----------
    reference : sequence of str
        The replies whose length counts, in the same order.
    cut : {"words", "sentences"}

    Raises
    ------
    ConfigError
        If the lists differ in length, or the cut is unknown.
    """
    same_length(replies, reference)
    if cut not in CUTS:
        raise ConfigError(f"unknown cut {cut!r}", expected=closest(cut, CUTS))
    shorten = cut_words if cut == "words" else cut_sentences
    return [
        shorten(reply, len(model.split())) for reply, model in zip(replies, reference, strict=True)
    ]
