"""Reciprocal rank fusion of several rankings into one."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from unbidden.memory.topk import best_positions

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

Key = TypeVar("Key", bound="Hashable")


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[Key]],
    *,
    constant: float = 60.0,
    weights: Sequence[float] | None = None,
) -> list[tuple[Key, float]]:
    """Return keys with their fused scores, best first; ties in order of first appearance.

    The score of a key is the sum over rankings of weight / (constant + rank), ranks from 1
    (Cormack, Clarke and Buettcher 2009). Keys should be ids: LoCoMo-Conv fuses by text, which
    merges turns that happen to have the same words.

    >>> [key for key, _ in reciprocal_rank_fusion([["a", "b"], ["b", "c"]])]
    ['b', 'a', 'c']
    """
    scores: defaultdict[Key, float] = defaultdict(float)
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, key in enumerate(ranking, start=1):
            scores[key] += weight / (constant + rank)
    return sorted(scores.items(), key=lambda item: -item[1])


def fused_positions(
    rankings: Sequence[NDArray[np.intp]], size: int, k: int, *, constant: float = 60.0
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return what `reciprocal_rank_fusion` begins with, for rankings of positions in one list.

    Parameters
    ----------
    rankings : sequence of arrays
        Positions below `size`, best first, none twice in one ranking.
    k : int
        How many to return.

    Returns
    -------
    positions, scores : arrays of shape (at most k,)

    Examples
    --------
    >>> fused_positions([np.array([0, 1]), np.array([1, 2])], 9, 2)[0].tolist()
    [1, 0]
    """
    scores = np.zeros(size)
    for ranking in rankings:
        scores[ranking] += 1.0 / (constant + np.arange(1, len(ranking) + 1))
    every = np.concatenate(rankings)
    keys, first = np.unique(every, return_index=True)
    keys = keys[np.argsort(first)]  # in order of first appearance, so that ties are
    best = keys[best_positions(scores[keys], k)]
    return best, scores[best]
