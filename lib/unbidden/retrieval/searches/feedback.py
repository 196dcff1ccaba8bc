"""Pseudo-relevance feedback: the first hits are taken as relevant, and the query moves to them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from unbidden.memory.bm25 import OkapiIndex


def rocchio(
    query: NDArray[np.float32],
    documents: NDArray[np.float32],
    *,
    first: int = 5,
    weight: float = 0.5,
) -> NDArray[np.float32]:
    """Return a query vector moved towards the mean of its nearest documents, of unit length.

    Rocchio's rule without the part that moves away from what is not relevant, as is usual where
    nobody has judged: ``query + weight * mean(nearest)``.

    Parameters
    ----------
    query : array of shape (dimension,)
    documents : array of shape (n_documents, dimension)
    first : int
        How many of the nearest are taken as relevant.

    Examples
    --------
    >>> import numpy as np
    >>> moved = rocchio(np.float32([1, 0]), np.float32([[0.8, 0.6], [0, 1]]), first=1, weight=1)
    >>> [round(float(x), 2) for x in moved]
    [0.95, 0.32]
    """
    nearest = np.argsort(-(documents @ query), kind="stable")[:first]
    if not len(nearest):
        return query
    moved = query + np.float32(weight) * documents[nearest].mean(axis=0)
    length = float(np.linalg.norm(moved))
    unit: NDArray[np.float32] = (moved / length if length else query).astype(np.float32)
    return unit


def rm3_weights(
    query: Sequence[str],
    documents: Sequence[Sequence[str]],
    scores: NDArray[np.float64],
    *,
    first: int = 5,
    terms: int = 10,
    mix: float = 0.5,
) -> dict[str, float]:
    """Return weights of the words of an expanded query; they sum to 1 (RM3, Abdul-Jaleel 2004).

    A word's weight in the relevance model is its share of each of the first documents, weighted by
    that document's score; the `terms` heaviest are kept and mixed with the query's own words.

    Parameters
    ----------
    query : sequence of str
        Its tokens; a word said twice weighs twice.
    documents : sequence of sequences of str
        Tokens of each document.
    scores : array of shape (n_documents,)
        Those of the first search; only documents above 0 are taken as relevant.
    mix : float
        Share of the query's own words, 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> found = rm3_weights(["boat"], [["boat", "harbour"], ["tea"]], np.array([1.0, 0.0]))
    >>> found == {"boat": 0.75, "harbour": 0.25}
    True
    """
    own = Counter(query)
    mine = {word: n / own.total() for word, n in own.items()} if own else {}
    best = [i for i in np.argsort(-scores, kind="stable")[:first] if scores[i] > 0]
    total = float(sum(scores[i] for i in best))
    model: Counter[str] = Counter()
    for i in best:
        words = Counter(documents[i])
        for word, n in words.items():
            model[word] += float(scores[i]) / total * n / words.total()  # type: ignore[assignment]
    kept = dict(model.most_common(terms))
    weight = sum(kept.values())
    if not weight or not mine:
        return mine
    names = dict.fromkeys((*mine, *kept))
    return {
        word: mix * mine.get(word, 0.0) + (1 - mix) * kept.get(word, 0.0) / weight for word in names
    }


def weighted_scores(
    index: OkapiIndex,
    weights: Mapping[str, float],
    known: dict[str, NDArray[np.float64]] | None = None,
) -> NDArray[np.float64]:
    """Return BM25 scores of all documents, shape (n_documents,), for weighted words.

    Parameters
    ----------
    known : dict of str to array, optional
        Scores of single words, which is added to: many queries share their expansions.
    """
    known = {} if known is None else known
    total = np.zeros(index.size)
    for word, weight in weights.items():
        if word not in known:
            known[word] = index.scores([word])
        total += weight * known[word]
    return total
