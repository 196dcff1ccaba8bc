"""Paired comparisons: same items, signs flipped by conversation, corrected for their number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from unbidden.stats.intervals import Interval, _arrays, clustered_mean

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import ArrayLike, NDArray

_MOST_EXACT = 13  # scipy enumerates when all 2**n arrangements fit the number asked for
_SAMPLED = 1_999  # beyond, as many are drawn: p-values to about 0.001


@dataclass(frozen=True, slots=True)
class Comparison:
    """A paired difference.

    Attributes
    ----------
    difference : Interval
        Mean of second minus first over items scored in both.
    p_value : float or None
        Two-sided sign-flip test; None over fewer than two units to flip.
    p_t : float or None
        Two-sided test by the interval's own t statistic; it assumes that the means of
        conversations are roughly normal, and can be small where few signs can be flipped.
    smallest_p : float or None
        The least p-value so few units can give: with G conversations 2 / 2**G.
    detectable : float or None
        Minimum detectable effect: the true difference found with 80 % power at the 5 % level,
        uncorrected; None where the differences have no spread. By the usual sum of t quantiles,
        which is some 5 % low with three conversations and 1 % with five.
    """

    difference: Interval
    p_value: float | None
    p_t: float | None
    smallest_p: float | None
    detectable: float | None
    method: str


def compare_paired(
    first: ArrayLike, second: ArrayLike, clusters: Sequence[Hashable], *, seed: int = 0
) -> Comparison:
    """Compare two arrays of the same items, NaN where unscored.

    Under the null hypothesis the sign of each conversation's total difference is a coin toss.
    With one conversation the signs of its items are flipped instead, and the method says so.
    """
    differences = np.asarray(second, dtype=float) - np.asarray(first, dtype=float)
    interval = clustered_mean(differences, clusters)
    x, codes = _arrays(differences, clusters)
    units = np.bincount(codes, weights=x).astype(float) if interval.clusters > 1 else x
    of = "conversations" if interval.clusters > 1 else "items of one conversation"
    if len(units) < 2:
        return Comparison(interval, None, None, None, None, "no test: too few items")
    exact = len(units) <= _MOST_EXACT
    method = f"sign flip of {of}, {'exact' if exact else 'sampled'}"
    smallest = 2.0 ** (1 - len(units)) if exact else 2.0 / (_SAMPLED + 1)
    if not units.any():  # every arrangement gives 0, so there is nothing to draw
        return Comparison(interval, 1.0, None, smallest, _detectable(interval), method)
    result = stats.permutation_test(
        (units,),
        _total,
        permutation_type="samples",
        vectorized=True,
        n_resamples=2**_MOST_EXACT if exact else _SAMPLED,
        rng=np.random.default_rng(seed),
    )
    return Comparison(
        interval,
        float(min(1.0, result.pvalue)),
        _t_test(interval),
        smallest,
        _detectable(interval),
        method,
    )


def _total(x: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
    total: NDArray[np.float64] = x.sum(axis=axis)
    return total


def _freedom(interval: Interval) -> int:
    return (interval.clusters if interval.clusters > 1 else interval.n) - 1


def _t_test(interval: Interval) -> float | None:
    if interval.mean is None or not interval.half_width:
        return None
    error = interval.half_width / float(stats.t.ppf(0.975, _freedom(interval)))
    return float(2 * stats.t.sf(abs(interval.mean) / error, _freedom(interval)))


def _detectable(interval: Interval, power: float = 0.8) -> float | None:
    if not interval.half_width:  # no interval, or no spread at all to judge by
        return None
    freedom = _freedom(interval)
    quantile = float(stats.t.ppf(0.975, freedom))
    return interval.half_width / quantile * (quantile + float(stats.t.ppf(power, freedom)))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return Holm's adjusted p-values, in the given order; None stays None.

    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    known = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    running = 0.0
    for rank, (p, i) in enumerate(known):
        running = max(running, min(1.0, p * (len(known) - rank)))
        adjusted[i] = running
    return adjusted
