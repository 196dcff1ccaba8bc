"""Means with intervals that respect conversations.

Questions about one conversation are not independent: on LoCoMo the spread between its ten
conversations makes an interval about twice as wide as one over single questions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from unbidden.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import ArrayLike, NDArray

CLUSTERED = "t, clustered by conversation"
ITEMWISE = "t over items of one conversation; says nothing about others"
NO_INTERVAL = "too few items for an interval"


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and its interval.

    Attributes
    ----------
    mean : float or None
        None over no items, never 0.
    low, high : float or None
        Bounds; None where the items cannot give any.
    n, clusters : int
        Items and conversations behind the mean.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    method: str

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval."""
        if self.low is None or self.high is None:
            return None
        return (self.high - self.low) / 2


def _arrays(
    values: ArrayLike, clusters: Sequence[Hashable]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return scored values and their cluster numbers; NaN marks an unscored item."""
    x = np.asarray(values, dtype=float)
    numbers: dict[Hashable, int] = {}
    codes = np.array([numbers.setdefault(c, len(numbers)) for c in clusters], dtype=np.int64)
    if x.shape != codes.shape:
        raise ConfigError(
            "values and clusters differ in length", expected=str(len(x)), got=str(len(codes))
        )
    scored = ~np.isnan(x)
    _, codes = np.unique(codes[scored], return_inverse=True)
    return x[scored], codes


def clustered_mean(
    values: ArrayLike, clusters: Sequence[Hashable], *, level: float = 0.95
) -> Interval:
    """Return the mean over items with a t interval clustered by conversation.

    The standard error is that of a ratio of cluster totals, with G - 1 degrees of freedom for G
    clusters. With one cluster the interval is over its items and is labelled so.

    Parameters
    ----------
    values : array of shape (n_items,)
        NaN where unscored.
    clusters : sequence of length n_items

    Examples
    --------
    >>> round(clustered_mean([0.0, 1.0, 1.0, 1.0], "aabb").mean, 2)
    0.75
    """
    x, codes = _arrays(values, clusters)
    n, g = len(x), len(np.unique(codes))
    if n == 0:
        return Interval(None, None, None, 0, 0, NO_INTERVAL)
    mean = float(x.mean())
    if g > 1:
        residuals = np.bincount(codes, weights=x - mean)
        error = float(np.sqrt(g / (g - 1) * np.sum(residuals**2)) / n)
        freedom, method = g - 1, CLUSTERED
    elif n > 1:
        error, freedom, method = float(x.std(ddof=1) / np.sqrt(n)), n - 1, ITEMWISE
    else:
        return Interval(mean, None, None, n, g, NO_INTERVAL)
    half = float(stats.t.ppf(0.5 + level / 2, freedom)) * error
    return Interval(mean, mean - half, mean + half, n, g, method)


def clustered_share(
    values: ArrayLike, clusters: Sequence[Hashable], *, level: float = 0.95
) -> Interval:
    """Return `clustered_mean` of scores that lie between 0 and 1, its interval cut there.

    >>> clustered_share([0.9, 1.0], "ab").high
    1.0
    """
    found = clustered_mean(values, clusters, level=level)
    return replace(
        found,
        low=None if found.low is None else max(0.0, found.low),
        high=None if found.high is None else min(1.0, found.high),
    )


def bootstrap_mean(
    values: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    level: float = 0.95,
    resamples: int = 9_999,
    seed: int = 0,
) -> Interval:
    """Return the mean with a percentile interval from resampling whole conversations.

    With ten conversations such intervals are a little too narrow; show `clustered_mean` beside.
    """
    x, codes = _arrays(values, clusters)
    g = len(np.unique(codes))
    if g < 2:
        mean = float(x.mean()) if len(x) else None
        return Interval(mean, None, None, len(x), g, NO_INTERVAL)
    totals, counts = np.bincount(codes, weights=x), np.bincount(codes)
    result = stats.bootstrap(
        (totals, counts),
        _ratio,
        paired=True,
        vectorized=True,
        method="percentile",
        confidence_level=level,
        n_resamples=resamples,
        rng=np.random.default_rng(seed),
    )
    low, high = result.confidence_interval
    return Interval(
        float(x.mean()), float(low), float(high), len(x), g, "bootstrap of conversations"
    )


def _ratio(
    totals: NDArray[np.float64], counts: NDArray[np.float64], axis: int = -1
) -> NDArray[np.float64]:
    ratio: NDArray[np.float64] = totals.sum(axis=axis) / counts.sum(axis=axis)
    return ratio
