"""Where the points go that a reply does not get: retrieval, representation, or the response.

A reply is compared with the one the same model gives to the gold turns (the oracle), item by item.
LoCoMo-Conv has three versions. `weighted` is the one whose parts sum to one; `unweighted` is the
one its tables show, where each part is a mean over another group of items, so they sum to nothing;
`by_full_recall` is the oldest.

Worked example, four items::

    recall   1    1    0.5  0
    score    1    0.5  0    0
    oracle   1    1    1    0.5

Means: score 3/8, oracle 7/8. Retrieval is what the oracle has more where evidence is missing:
(1 + 0.5) / 4 = 3/8. Representation is what it has more although all was found: 0.5 / 4 = 1/8.
Response is what the oracle itself lacks: 0.5 / 4 = 1/8. And 3/8 + 3/8 + 1/8 + 1/8 = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unbidden.errors import ConfigError, DataError
from unbidden.stats.buckets import BUCKETS, Bucket, bucket_codes, unit_values
from unbidden.stats.compare import Comparison, compare_paired
from unbidden.stats.intervals import Interval, clustered_mean

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Weighted:
    """The parts that sum to one, each a mean over the same items.

    Attributes
    ----------
    score : Interval
        What the system's replies get.
    retrieval, representation, response : Interval
        What is lost because evidence was not found, although all was found, and even with the
        gold turns. A part is negative where the system beats the oracle.
    shares : mapping of Bucket to float
        Share of the items in each bucket.
    left_out : int
        Items without recall, score or oracle score.
    """

    score: Interval
    retrieval: Interval
    representation: Interval
    response: Interval
    shares: Mapping[Bucket, float]
    left_out: int

    @property
    def total(self) -> float | None:
        """The sum of the parts: one, or None over no items."""
        means = [part.mean for part in (self.score, *self.lost)]
        return None if None in means else sum(mean for mean in means if mean is not None)

    @property
    def lost(self) -> tuple[Interval, Interval, Interval]:
        """Retrieval, representation and response."""
        return self.retrieval, self.representation, self.response


@dataclass(frozen=True, slots=True)
class Unweighted:
    """The paper's parts: differences inside a bucket, whatever its size.

    Attributes
    ----------
    partly_found, not_found : Interval
        Oracle minus system in buckets B and C; no value where a bucket is empty (the paper: 0).
    representation : Interval
        The same in bucket A.
    ceiling : Interval
        One minus the oracle's mean over all items. The script itself says that this measures how
        strict the metric is.
    total : float or None
        Sum of the system's score and the parts, an empty bucket as 0: not one in general.
    """

    partly_found: Interval
    not_found: Interval
    representation: Interval
    ceiling: Interval
    shares: Mapping[Bucket, float]
    total: float | None
    left_out: int


@dataclass(frozen=True, slots=True)
class FullRecall:
    """The paper's first version: losses relative to the items with full recall.

    Attributes
    ----------
    retrieval : float or None
        Mean score of bucket A minus that of all items.
    representation : float or None
        Mean oracle score of bucket A minus the system's there.
    response : float or None
        One minus the mean oracle score of bucket A.
    """

    score: float | None
    retrieval: float | None
    representation: float | None
    response: float | None


def weighted(
    recall: ArrayLike, score: ArrayLike, oracle: ArrayLike, clusters: Sequence[Hashable]
) -> Weighted:
    """Return the decomposition whose parts sum to one.

    Parameters
    ----------
    recall, score, oracle : array of shape (n_items,)
        In 0..1: recall of the memories a reply was given, its score, and the score of the reply
        that was given the gold turns. Items with a NaN are left out.
    clusters : sequence of length n_items
        The conversation of each item.

    Raises
    ------
    ConfigError
        If a value is out of range or the lengths differ.
    DataError
        If the parts do not sum to one to 1e-9, which no input may cause.

    >>> found = weighted([1, 1, 0.5, 0], [1, 0.5, 0, 0], [1, 1, 1, 0.5], "aabb")
    >>> found.score.mean, [part.mean for part in found.lost], found.total
    (0.375, [0.375, 0.125, 0.125], 1.0)
    """
    codes, own, best, homes, left_out = _complete(recall, score, oracle, clusters)
    gap = best - own
    found = Weighted(
        clustered_mean(own, homes),
        clustered_mean(np.where(codes == "A", 0.0, gap), homes),
        clustered_mean(np.where(codes == "A", gap, 0.0), homes),
        clustered_mean(1.0 - best, homes),
        _shares(codes),
        left_out,
    )
    if found.total is not None and abs(found.total - 1.0) > TOLERANCE:
        raise DataError(
            "the parts of the decomposition do not sum to one",
            expected=f"1 within {TOLERANCE:g}",
            got=repr(found.total),
            next_step="report it: this is an error of the study",
        )
    return found


def after_over_within(
    recall: ArrayLike, score: ArrayLike, oracle: ArrayLike, clusters: Sequence[Hashable]
) -> Interval:
    """Return representation and response minus retrieval, of the same decomposition.

    Parameters and errors as `weighted`. Above 0, more is lost after retrieval than in it.

    >>> after_over_within([1, 1, 0.5, 0], [1, 0.5, 0, 0], [1, 1, 1, 0.5], "aabb").mean
    -0.125
    """
    codes, own, best, homes, _ = _complete(recall, score, oracle, clusters)
    gap = best - own
    return clustered_mean(np.where(codes == "A", gap, -gap) + 1.0 - best, homes)


def unweighted(
    recall: ArrayLike, score: ArrayLike, oracle: ArrayLike, clusters: Sequence[Hashable]
) -> Unweighted:
    """Return the paper's decomposition; parameters and errors as `weighted`.

    >>> found = unweighted([1, 1, 0.5, 0], [1, 0.5, 0, 0], [1, 1, 1, 0.5], "aabb")
    >>> found.partly_found.mean, found.not_found.mean, found.representation.mean, found.total
    (1.0, 0.5, 0.25, 2.25)
    """
    codes, own, best, homes, left_out = _complete(recall, score, oracle, clusters)
    gaps = {
        bucket: clustered_mean(np.where(codes == bucket, best - own, np.nan), homes)
        for bucket in BUCKETS
    }
    ceiling = clustered_mean(1.0 - best, homes)
    total = None
    if ceiling.mean is not None:
        total = float(own.mean()) + ceiling.mean + sum(gap.mean or 0.0 for gap in gaps.values())
    return Unweighted(gaps["B"], gaps["C"], gaps["A"], ceiling, _shares(codes), total, left_out)


def by_full_recall(recall: ArrayLike, score: ArrayLike, oracle: ArrayLike) -> FullRecall:
    """Return the paper's first version; its parts and the score sum to one too.

    It is compared with the items of full recall, which are the easier ones, so that what is easy
    about them counts as retrieval.

    >>> by_full_recall([1, 1, 0.5, 0], [1, 0.5, 0, 0], [1, 1, 1, 0.5])
    FullRecall(score=0.375, retrieval=0.375, representation=0.25, response=0.0)
    """
    clusters = range(np.asarray(recall, dtype=float).size)
    codes, own, best, _, _ = _complete(recall, score, oracle, clusters)
    full = codes == "A"
    if not len(own) or not full.any():
        return FullRecall(float(own.mean()) if len(own) else None, None, None, None)
    mine, top = float(own[full].mean()), float(best[full].mean())
    mean = float(own.mean())
    return FullRecall(mean, mine - mean, top - mine, 1.0 - top)


@dataclass(frozen=True, slots=True)
class Starvation:
    """Whether the oracle fails because single turns say too little (context starvation).

    Attributes
    ----------
    change : Comparison
        Score with neighbouring turns minus score with the gold turns alone, over all items: the
        part of the response loss that context can win back. No item is chosen by its score.
    failed, rescued : int
        Items whose plain oracle scores 0, and those of them that score more with neighbours.
    hurt : int
        Items that score 0 with neighbours and more without: what a noisy judge or a distracted
        model does in the other direction, to compare `rescued` with.
    """

    change: Comparison
    failed: int
    rescued: int
    hurt: int


def starvation(
    oracle: ArrayLike, with_context: ArrayLike, clusters: Sequence[Hashable], *, seed: int = 0
) -> Starvation:
    """Return what neighbouring turns change; the paper shows five on each side.

    The paper looks only at items the plain oracle failed, where no score can fall. So chosen, some
    always seem to recover.

    Raises
    ------
    ConfigError
        If a value is out of range or the lengths differ.

    >>> found = starvation([0, 0, 1, 0.5], [1, 0, 0, 0.5], "aabb")
    >>> found.failed, found.rescued, found.hurt, found.change.difference.mean
    (2, 1, 1, 0.0)
    """
    plain, wide = unit_values(oracle, "score"), unit_values(with_context, "score")
    change = compare_paired(plain, wide, clusters, seed=seed)
    both = ~np.isnan(plain) & ~np.isnan(wide)
    return Starvation(
        change,
        int((both & (plain == 0)).sum()),
        int((both & (plain == 0) & (wide > 0)).sum()),
        int((both & (wide == 0) & (plain > 0)).sum()),
    )


def _complete(
    recall: ArrayLike, score: ArrayLike, oracle: ArrayLike, clusters: Sequence[Hashable]
) -> tuple[NDArray[np.str_], NDArray[np.float64], NDArray[np.float64], list[Hashable], int]:
    """Return bucket, score, oracle score and conversation of the items that have all of them."""
    codes = bucket_codes(recall)
    own, best = unit_values(score, "score"), unit_values(oracle, "oracle score")
    if not len(codes) == len(own) == len(best) == len(clusters):
        raise ConfigError(
            "recall, scores, oracle scores and conversations differ in length",
            expected=str(len(codes)),
            got=f"{len(own)}, {len(best)}, {len(clusters)}",
        )
    known = (codes != "") & ~np.isnan(own) & ~np.isnan(best)
    homes = [home for home, chosen in zip(clusters, known, strict=True) if chosen]
    return codes[known], own[known], best[known], homes, int((~known).sum())


def _shares(codes: NDArray[np.str_]) -> dict[Bucket, float]:
    total = max(1, len(codes))
    return {bucket: float((codes == bucket).sum() / total) for bucket in BUCKETS}
