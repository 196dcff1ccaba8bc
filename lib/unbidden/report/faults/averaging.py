"""Switches of averaging: what a mean is over, and what an interval is over."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unbidden.report.faults.base import Context, Effect, Fault, answerable, from_interval
from unbidden.stats import clustered_mean, jackknife

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


def _pooling(context: Context) -> list[Effect]:
    found = []
    for style, x, homes in _scored(context):

        def gap(
            kept: NDArray[np.bool_], x: NDArray[np.float64] = x, h: NDArray[np.object_] = homes
        ) -> float:
            means = [x[kept & (h == name)].mean() for name in np.unique(h[kept])]
            return float(np.mean(means) - x[kept].mean())

        interval = jackknife(gap, list(homes))
        settings = ("mean over items", "mean over conversations")
        means = (float(x.mean()), float(x.mean()) + (interval.mean or 0.0))
        measure = f"{context.recall}, {style}"
        found.append(
            from_interval("pooling", context.corpus.name, measure, settings, means, interval)
        )
    return found


def _clustering(context: Context) -> list[Effect]:
    found = []
    for style, x, homes in _scored(context):

        def widths(
            kept: NDArray[np.bool_], x: NDArray[np.float64] = x, h: NDArray[np.object_] = homes
        ) -> tuple[float, float]:
            by_item = clustered_mean(x[kept], ["one"] * int(kept.sum())).half_width
            by_talk = clustered_mean(x[kept], list(h[kept])).half_width
            return by_item or float("nan"), by_talk or float("nan")

        whole = widths(np.ones(len(x), dtype=bool))
        # On the log, so that the interval of a ratio stays above 0; then back.
        logs = jackknife(lambda kept: _log_ratio(*widths(kept)), list(homes))
        interval = replace(
            logs,
            mean=_ratio_less_one(logs.mean),
            low=_ratio_less_one(logs.low),
            high=_ratio_less_one(logs.high),
        )
        settings = ("over items", "clustered by conversation")
        measure = f"half-width of the interval of {context.recall}, {style}"
        found.append(
            from_interval(
                "clustering", context.corpus.name, measure, settings, whole, interval, unit="ratio"
            )
        )
    return found


def _scored(
    context: Context,
) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.object_]]]:
    """Yield each style with the values of its scored items and their conversations."""
    values = answerable(context.values(context.ranking()))
    for style in context.shown_styles():
        rows = values[(values["style"] == style) & values["value"].notna()]
        yield style, rows["value"].to_numpy(float), rows["conversation"].to_numpy()


def _log_ratio(one: float, other: float) -> float:
    return float(np.log(other / one))


def _ratio_less_one(log: float | None) -> float | None:
    return None if log is None else float(np.exp(log)) - 1


FAULTS = [
    Fault(
        "pooling",
        "What a mean is over",
        "Conversations have different numbers of questions.",
        "LoCoMo-Conv, code",
        "corpus",
        "",
        _pooling,
    ),
    Fault(
        "clustering",
        "What an interval is over",
        "Questions about one conversation are not independent.",
        "both papers",
        "corpus",
        "",
        _clustering,
    ),
]
