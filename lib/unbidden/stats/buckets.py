"""Recall buckets: replies grouped by whether all, some or none of the evidence was found.

LoCoMo-Conv sorts the replies of a system so and compares the mean scores of the groups. There a
reply that the judge could not score enters with 0, and so does a group without replies; here both
are missing, and are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from unbidden.errors import ConfigError
from unbidden.stats.intervals import Interval, clustered_share

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import ArrayLike, NDArray

Bucket = Literal["A", "B", "C"]
BUCKETS: tuple[Bucket, ...] = get_args(Bucket)
"""All evidence found, some of it, none of it."""
ALL_FOUND = 0.999
"""From this recall on a query is in bucket A, as in the paper's script."""


@dataclass(frozen=True, slots=True)
class BucketScore:
    """The replies of one bucket.

    Attributes
    ----------
    share : float or None
        Of the items whose recall is known; None if there are none.
    score : Interval
        Mean over the scored replies of the bucket, with its interval; no value without any.
    unscored : int
        Replies of the bucket that have no score.
    """

    bucket: Bucket
    share: float | None
    score: Interval
    unscored: int


def bucket_codes(recall: ArrayLike) -> NDArray[np.str_]:
    """Return the bucket of each item, "" where its recall is missing.

    Parameters
    ----------
    recall : array of shape (n_items,)
        In 0..1; NaN where no evidence is cited or nothing could be searched.

    Raises
    ------
    ConfigError
        If a recall is out of range.

    >>> bucket_codes([1.0, 0.5, 0.0, float("nan")]).tolist()
    ['A', 'B', 'C', '']
    """
    found = unit_values(recall, "recall")
    codes = np.full(found.shape, "", dtype="<U1")
    codes[found >= ALL_FOUND] = "A"
    codes[(found > 0) & (found < ALL_FOUND)] = "B"
    codes[found == 0] = "C"
    return codes


def bucket_scores(
    recall: ArrayLike, score: ArrayLike, clusters: Sequence[Hashable]
) -> dict[Bucket, BucketScore]:
    """Return the share and the mean score of each bucket.

    Parameters
    ----------
    recall, score : array of shape (n_items,)
        In 0..1; NaN where missing.
    clusters : sequence of length n_items
        The conversation of each item.

    Raises
    ------
    ConfigError
        If a value is out of range or the lengths differ.

    >>> found = bucket_scores([1, 1, 0], [1.0, 0.5, 0.0], "aab")
    >>> found["A"].share, found["A"].score.mean, found["B"].score.mean
    (0.6666666666666666, 0.75, None)
    """
    codes, values = bucket_codes(recall), unit_values(score, "score")
    if codes.shape != values.shape or len(clusters) != len(codes):
        raise ConfigError(
            "recall, scores and conversations differ in length",
            expected=str(len(codes)),
            got=f"{len(values)} scores, {len(clusters)} conversations",
        )
    known = int((codes != "").sum())
    found: dict[Bucket, BucketScore] = {}
    for bucket in BUCKETS:
        inside = codes == bucket
        own = [cluster for cluster, chosen in zip(clusters, inside, strict=True) if chosen]
        found[bucket] = BucketScore(
            bucket,
            float(inside.sum() / known) if known else None,
            clustered_share(values[inside], own),
            int(np.isnan(values[inside]).sum()),
        )
    return found


def unit_values(values: ArrayLike, what: str) -> NDArray[np.float64]:
    """Return values as floats, NaN where missing.

    Raises
    ------
    ConfigError
        If one is outside 0..1.
    """
    found = np.asarray(values, dtype=float)
    if np.any((found < 0) | (found > 1)):
        raise ConfigError(
            f"a {what} is out of range",
            expected="0 to 1, or NaN where it is missing",
            got=f"{np.nanmin(found):g} to {np.nanmax(found):g}",
        )
    return found
