"""Reciprocal rank fusion of several rankings into one."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

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
