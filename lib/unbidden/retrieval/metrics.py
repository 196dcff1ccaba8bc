"""Metrics of a reader's own, beside those of `unbidden.retrieval.score`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pandas as pd

from unbidden.errors import ConfigError, DataError
from unbidden.registry import Registry
from unbidden.retrieval.score import (
    ITEM_COLUMNS,
    check_cutoffs,
    item_keys,
    unscored_reason,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unbidden.corpus.models import TurnId
    from unbidden.memory.protocol import Retrieved
    from unbidden.retrieval.run import Rankings

NO_VALUE = "the metric gave no value"


class Metric(Protocol):
    """A metric over one query."""

    def __call__(self, found: Sequence[Retrieved], gold: frozenset[TurnId]) -> float | None:
        """Return a value from 0 to 1, or None where the query cannot be scored.

        Parameters
        ----------
        found : sequence of Retrieved
            The first K memories, best first.
        gold : frozenset of TurnId
            Turns the annotators cite; never empty.
        """
        ...


METRICS: Registry[float | None] = Registry(
    "metric",
    {},
    "unbidden.metrics",
    listing="a metric is a function of (found, gold), named as `package.module:function`",
)
"""There are none of ours: a reader's function, or one from the entry-point group."""


def own_metric_items(
    dataset: str,
    rankings: Iterable[Rankings],
    metrics: Sequence[str],
    *,
    ks: Sequence[int],
    condition: str,
) -> pd.DataFrame:
    """Return one row per query, system, metric and K, in the columns `ITEM_COLUMNS`.

    Raises
    ------
    ConfigError
        If a name is unknown, or a cut-off out of range.
    DataError
        If a metric gives what is no number from 0 to 1.
    """
    frames = [pd.DataFrame(columns=ITEM_COLUMNS)]
    for ranking in rankings:
        check_cutoffs(ranking, ks)
        base = item_keys(dataset, ranking, condition)
        for name in metrics:
            for k in ks:
                values, reasons = _scored(name, ranking, k)
                rows = base.assign(metric=name, k=k, value=values, unscored=reasons)
                frames.append(rows[ITEM_COLUMNS])
    return pd.concat(frames if len(frames) == 1 else frames[1:], ignore_index=True)


def _scored(name: str, ranking: Rankings, k: int) -> tuple[np.ndarray, pd.Series[str]]:
    metric: Metric = METRICS.factory(name)
    values, reasons = [], []
    for place, (query, hits) in enumerate(zip(ranking.queries, ranking.hits, strict=True)):
        reason = unscored_reason(ranking, place)
        value = None if reason else _value(name, metric, hits[:k], frozenset(query.gold))
        values.append(math.nan if value is None else value)
        reasons.append(reason or (NO_VALUE if value is None else None))
    return np.array(values, dtype=float), pd.Series(reasons, dtype="str")


def _value(
    name: str, metric: Metric, found: Sequence[Retrieved], gold: frozenset[TurnId]
) -> float | None:
    try:
        value = metric(found, gold)
    except TypeError as error:
        raise ConfigError(
            f"the metric {name!r} cannot be called",
            expected="a function of (found, gold), which returns 0 to 1 or None",
            got=str(error),
        ) from error
    if value is not None and not 0 <= float(value) <= 1:
        raise DataError(
            f"the metric {name!r} gave what is no share",
            expected="a number from 0 to 1, or None",
            got=repr(value)[:80],
            next_step="scale it, or return None where a query cannot be scored",
        )
    return None if value is None else float(value)
