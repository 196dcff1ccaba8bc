"""What can be told of a turn without a model: how much it says, and whether it asks."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from unbidden.memory.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_ASKS = re.compile(r"[?？]\s*[\"'”’)]*\s*$")
_CUT = re.compile(
    r"(?<=[.!?;:。！？；：，、])\s*|,\s+|\s+[—–-]\s+|—"
    r"|\s+(?=(?:and|but|so|because|while|since|before|after|though|if|when)\b)",
    re.IGNORECASE,
)
_LEAST = 4  # tokens of a facet; shorter ones are joined to what comes before


def information(documents: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """Return the information content of each document in nats, shape (n_documents,).

    The sum over its distinct words of log((N - n + 0.5) / (n + 0.5)), not below 0, for a word in n
    of N documents: a greeting is made of words that everything has.
    """
    found_in = Counter(word for tokens in documents for word in set(tokens))
    size = len(documents)
    weight = {
        word: max(0.0, float(np.log((size - n + 0.5) / (n + 0.5)))) for word, n in found_in.items()
    }
    return np.array([sum(weight[word] for word in set(tokens)) for tokens in documents])


def standardised(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return values less their mean, over their standard deviation, along the last axis.

    Equal values, such as those of a conversation of one turn, give 0.
    """
    x = np.asarray(values, dtype=np.float64)
    spread = x.std(axis=-1, keepdims=True)
    centred = x - x.mean(axis=-1, keepdims=True)
    # Rounding leaves equal values a spread of some 1e-9 of their size.
    return np.where(spread > 1e-7, centred / np.where(spread > 1e-7, spread, 1.0), 0.0)


def asks(text: str) -> bool:
    """Return whether a turn ends in a question.

    >>> asks('Who bought it?"'), asks("Really? My cousin."), asks("谁买的？")
    (True, False, True)
    """
    return _ASKS.search(text) is not None


def facets(message: str) -> list[str]:
    """Return the parts of a message: clauses of some length, in order; joined they are the whole.

    >>> facets("I've got an hour free on Sunday, but the stairs are steep and I'm tired.")
    ["I've got an hour free on Sunday", 'but the stairs are steep', "and I'm tired."]
    """
    parts: list[str] = []
    for piece in _CUT.split(message):
        text = piece.strip(" ,") if piece else ""
        if not text:
            continue
        if parts and (count_tokens(text) < _LEAST or count_tokens(parts[-1]) < _LEAST):
            parts[-1] = f"{parts[-1]} {text}"
        else:
            parts.append(text)
    return parts
