"""Paired bootstrap of corpus scores: whole episodes are drawn, both systems alike.

BLEU is no mean over replies, so an interval must score resampled corpora. From the counts of each
episode that is one matrix product for all resamples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from unbidden.errors import ConfigError
from unbidden.reply.bleu import bleu_counts, bleu_points, same_length
from unbidden.reply.metrics import rouge_l

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

Metric = Literal["bleu4", "rouge_l"]

RESAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class Difference:
    """A paired difference of a corpus score, in points.

    Attributes
    ----------
    first, second : float
        Scores of the two systems over the same turns; NaN where no gold text can be matched.
    difference : float
        Second minus first.
    low, high : float or None
        Percentile interval; None with fewer than two episodes, which cannot be resampled.
    n, episodes : int
        Turns and episodes behind it.
    unscored : int
        Turns left out because a reply or the gold text is missing; never counted as 0.
    """

    metric: Metric
    first: float
    second: float
    difference: float
    low: float | None
    high: float | None
    n: int
    episodes: int
    unscored: int
    method: str

    @property
    def differs(self) -> bool | None:
        """Whether the interval leaves zero out; None where there is no interval."""
        if self.low is None or self.high is None:
            return None
        return self.low > 0 or self.high < 0


def paired_bootstrap(
    first: Sequence[str | None],
    second: Sequence[str | None],
    gold: Sequence[str | None],
    episodes: Sequence[Hashable],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
) -> list[Difference]:
    """Return second minus first for BLEU-4 and ROUGE-L, with intervals over episodes.

    Turns of one episode are not independent, so episodes are drawn with replacement, the same
    ones for both systems. Intervals over few episodes are a little too narrow.

    Parameters
    ----------
    first, second, gold : sequence of str or None
        Replies of the two systems and the gold text to the same turns; a turn is compared where
        all three are there.
    episodes : sequence of hashable
        Which episode each turn belongs to.

    Raises
    ------
    ConfigError
        If the lists differ in length, no turn can be compared, or a setting is out of range.
    """
    _check(resamples, level)
    said, other, right, kept_episodes = _comparable(first, second, gold, episodes)
    codes, count = _codes(kept_episodes)
    drawn = _draws(count, resamples, seed)
    found = []
    for metric, (rows, points) in _METRICS.items():
        sums = [_by_episode(rows(replies, right), codes, count) for replies in (said, other)]
        whole = [float(points(table.sum(axis=0))) for table in sums]
        gaps = points(drawn @ sums[1]) - points(drawn @ sums[0])
        low, high = _percentiles(gaps, level) if count > 1 else (None, None)
        method = f"{resamples:,} resamples of {count} episodes, percentile, seed {seed}"
        found.append(
            Difference(
                metric=metric,
                first=whole[0],
                second=whole[1],
                difference=whole[1] - whole[0],
                low=low,
                high=high,
                n=len(right),
                episodes=count,
                unscored=len(gold) - len(right),
                method=method if count > 1 else "no interval: one episode",
            )
        )
    return found


def _check(resamples: int, level: float) -> None:
    if resamples < 1 or not 0 < level < 1:
        raise ConfigError(
            "`resamples` or `level` is out of range",
            expected="resamples of at least 1, level between 0 and 1",
            got=f"resamples {resamples}, level {level}",
        )


def _comparable(
    first: Sequence[str | None],
    second: Sequence[str | None],
    gold: Sequence[str | None],
    episodes: Sequence[Hashable],
) -> tuple[list[str], list[str], list[str], list[Hashable]]:
    """Return both replies, gold text and episode of the turns at which none is missing."""
    for items in (first, second, episodes):
        same_length(items, gold)
    kept = [
        (one, other, right, episode)
        for one, other, right, episode in zip(first, second, gold, episodes, strict=True)
        if one is not None and other is not None and right is not None
    ]
    if not kept:
        raise ConfigError(
            "a bootstrap of no reply", expected="at least one turn both systems replied to"
        )
    return (
        [item[0] for item in kept],
        [item[1] for item in kept],
        [item[2] for item in kept],
        [item[3] for item in kept],
    )


def _percentiles(
    gaps: NDArray[np.float64], level: float
) -> tuple[float, float] | tuple[None, None]:
    gaps = gaps[~np.isnan(gaps)]
    if not len(gaps):
        return None, None
    low, high = np.percentile(gaps, [50 - 50 * level, 50 + 50 * level])
    return float(low), float(high)


def _rouge_rows(replies: Sequence[str], gold: Sequence[str]) -> NDArray[np.float64]:
    values = rouge_l(replies, gold)
    return np.column_stack([np.nan_to_num(values), ~np.isnan(values)]).astype(np.float64)


def _rouge_points(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        points: NDArray[np.float64] = 100 * totals[..., 0] / totals[..., 1]
    return points


def _bleu_rows(replies: Sequence[str], gold: Sequence[str]) -> NDArray[np.float64]:
    return bleu_counts(replies, gold).astype(np.float64)


_METRICS: dict[
    Metric,
    tuple[
        Callable[[Sequence[str], Sequence[str]], NDArray[np.float64]],
        Callable[[NDArray[np.float64]], NDArray[np.float64]],
    ],
] = {"bleu4": (_bleu_rows, bleu_points), "rouge_l": (_rouge_rows, _rouge_points)}
"""How each metric turns replies into rows that add up, and sums into points."""


def _codes(episodes: Sequence[Hashable]) -> tuple[NDArray[np.intp], int]:
    numbers: dict[Hashable, int] = {}
    codes = np.array([numbers.setdefault(item, len(numbers)) for item in episodes], dtype=np.intp)
    return codes, len(numbers)


def _by_episode(
    rows: NDArray[np.float64], codes: NDArray[np.intp], count: int
) -> NDArray[np.float64]:
    sums = np.zeros((count, rows.shape[1]))
    np.add.at(sums, codes, rows)
    return sums


def _draws(count: int, resamples: int, seed: int) -> NDArray[np.float64]:
    """Return how often each episode is drawn, shape (resamples, count)."""
    even = np.full(count, 1 / count)
    draws = np.random.default_rng(seed).multinomial(count, even, size=resamples)
    return draws.astype(np.float64)
