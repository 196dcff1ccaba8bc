"""Differences that are no plain pairs: means over different items, and any statistic at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from unbidden.errors import ConfigError
from unbidden.stats.intervals import NO_INTERVAL, Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import ArrayLike, NDArray

LINEARISED = "t, clustered by conversation"
LINEARISED_ITEMS = "t over items of one conversation; says nothing about others"
JACKKNIFE = "jackknife over conversations"


def difference_of_means(
    first: ArrayLike, second: ArrayLike, clusters: Sequence[Hashable], *, level: float = 0.95
) -> Interval:
    """Return mean(second) - mean(first), each over the items scored in it, with an interval.

    The two may be scored on different items of the same list, as when category 5 is counted or
    left out. The standard error is that of the linearised difference of two ratios, summed by
    conversation, with G - 1 degrees of freedom; where both are scored on the same items this is
    `unbidden.stats.clustered_mean` of the paired differences.

    Parameters
    ----------
    first, second : array of shape (n_items,)
        NaN where unscored.
    clusters : sequence of length n_items

    Returns
    -------
    Interval
        `n` counts items scored in either.

    Raises
    ------
    ConfigError
        If the lengths differ.

    Examples
    --------
    >>> nan = float("nan")
    >>> difference_of_means([1.0, 0.0, nan], [1.0, 0.0, 1.0], "abc").mean.__round__(3)
    0.167
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if not len(a) == len(b) == len(clusters):
        raise ConfigError(
            "values and clusters differ in length",
            expected=str(len(clusters)),
            got=f"{len(a)} and {len(b)}",
        )
    in_a, in_b = ~np.isnan(a), ~np.isnan(b)
    if not in_a.any() or not in_b.any():
        return Interval(None, None, None, 0, 0, NO_INTERVAL)
    mean = float(b[in_b].mean() - a[in_a].mean())
    influence = np.where(in_b, (b - b[in_b].mean()) / in_b.sum(), 0.0)
    influence -= np.where(in_a, (a - a[in_a].mean()) / in_a.sum(), 0.0)
    used = in_a | in_b
    numbers: dict[Hashable, int] = {}
    kept = [c for c, u in zip(clusters, used, strict=True) if u]
    codes = [numbers.setdefault(c, len(numbers)) for c in kept]
    units = np.bincount(codes, weights=influence[used])
    n, g = int(used.sum()), len(units)
    method = LINEARISED if g > 1 else LINEARISED_ITEMS
    if g == 1:
        units = influence[used]
    if len(units) < 2:
        return Interval(mean, None, None, n, g, NO_INTERVAL)
    error = float(np.sqrt(len(units) / (len(units) - 1) * np.sum(units**2)))
    half = float(stats.t.ppf(0.5 + level / 2, len(units) - 1)) * error
    return Interval(mean, mean - half, mean + half, n, g, method)


def jackknife(
    statistic: Callable[[NDArray[np.bool_]], float],
    clusters: Sequence[Hashable],
    *,
    level: float = 0.95,
) -> Interval:
    """Return a statistic with an interval from leaving out each conversation in turn.

    Parameters
    ----------
    statistic : callable
        Takes which items are kept, shape (n_items,), and returns a number.
    clusters : sequence of length n_items

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([1.0, 2.0, 3.0, 4.0])
    >>> jackknife(lambda kept: float(x[kept].mean()), "aabb").mean
    2.5
    """
    names = list(dict.fromkeys(clusters))
    every = np.ones(len(clusters), dtype=bool)
    estimate = statistic(every)
    if len(names) < 3:
        return Interval(estimate, None, None, len(clusters), len(names), NO_INTERVAL)
    home = np.array([names.index(c) for c in clusters])
    without = np.array([statistic(home != i) for i in range(len(names))])
    spread = float(np.sum((without - without.mean()) ** 2))
    error = float(np.sqrt((len(names) - 1) / len(names) * spread))
    half = float(stats.t.ppf(0.5 + level / 2, len(names) - 1)) * error
    return Interval(
        estimate, estimate - half, estimate + half, len(clusters), len(names), JACKKNIFE
    )
