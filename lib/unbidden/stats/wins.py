"""Wins, ties and losses of one reply against another, and the margin with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unbidden.errors import ConfigError
from unbidden.stats.intervals import Interval, clustered_mean

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True)
class Margin:
    """How often the first of two is better.

    Attributes
    ----------
    margin : Interval
        (wins - losses) / n, in -1..1, cut there; clustered by conversation.
    unscored : int
        Comparisons without a result.
    """

    wins: int
    ties: int
    losses: int
    margin: Interval
    unscored: int

    @property
    def win_rate(self) -> float | None:
        """(wins + half the ties) / n, as the paper's older script has it."""
        n = self.wins + self.ties + self.losses
        return (self.wins + self.ties / 2) / n if n else None


def margin(results: ArrayLike, clusters: Sequence[Hashable]) -> Margin:
    """Return wins, ties, losses and the margin.

    Parameters
    ----------
    results : array of shape (n_items,)
        1 where the first is better, 0 for a tie, -1 where the second is; NaN without a result.

    Raises
    ------
    ConfigError
        If there is another value.

    >>> found = margin([1, 1, 0, -1], "aabb")
    >>> found.wins, found.ties, found.losses, found.margin.mean, found.win_rate
    (2, 1, 1, 0.25, 0.625)
    """
    values = np.asarray(results, dtype=float)
    known = values[~np.isnan(values)]
    if not np.isin(known, (-1.0, 0.0, 1.0)).all():
        raise ConfigError(
            "a comparison has no such result",
            expected="1, 0, -1, or NaN where there is none",
            got=str(sorted(set(known.tolist()))),
        )
    found = clustered_mean(values, clusters)
    low, high = found.low, found.high
    cut = Interval(
        found.mean,
        None if low is None else max(-1.0, low),
        None if high is None else min(1.0, high),
        found.n,
        found.clusters,
        found.method,
    )
    wins, ties, losses = (int((known == value).sum()) for value in (1.0, 0.0, -1.0))
    return Margin(wins, ties, losses, cut, int(np.isnan(values).sum()))
