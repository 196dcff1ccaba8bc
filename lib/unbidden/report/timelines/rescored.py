"""THEANINE's released replies rescored, as the chapter shows them; frames may come from a CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.reply.published import TITLES
from unbidden.report.published import theanine_table
from unbidden.report.tables import with_interval
from unbidden.stats import clustered_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

_SETS = {"msc": "MSC", "cc": "CC", "mean": "mean"}
_CUTS = {"none": "as released", "words": "cut by words", "sentences": "cut at sentence ends"}
_METRICS = {"bleu4": "BLEU-4", "rouge_l": "ROUGE-L"}


def beside_printed(rescored: pd.DataFrame) -> pd.DataFrame:
    """Return our means over both data sets beside Table 9, session 5.

    Parameters
    ----------
    rescored : DataFrame
        From `unbidden.reply.rescoring.rescore`, over both data sets.

    Returns
    -------
    DataFrame
        Columns ``system, metric, ours, printed, difference``.
    """
    ours = rescored.query("dataset == 'mean' and system != 'gold'").melt(
        "system", list(_METRICS), var_name="metric", value_name="ours"
    )
    printed = theanine_table(9).query("session == '5'")[["system", "metric", "value"]]
    frame = ours.merge(printed.rename(columns={"value": "printed"}), on=["system", "metric"])
    return frame.assign(difference=frame["ours"] - frame["printed"])


def shown_rescored(rescored: pd.DataFrame) -> pd.DataFrame:
    """Return scores and length of each system on each data set, as text."""
    return pd.DataFrame(
        {
            "data": [_SETS[name] for name in rescored["dataset"]],
            "system": [TITLES.get(name, "what was said") for name in rescored["system"]],
            "turns": rescored["n"],
            "BLEU-4": _decimals(rescored["bleu4"]),
            "ROUGE-L": _decimals(rescored["rouge_l"]),
            "words": _decimals(rescored["words"], 1),
        },
        dtype=object,
    )


def shown_beside_printed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return `beside_printed` as one row a system, as text."""
    records = []
    for system, group in frame.groupby("system", sort=False):
        record = {"system": TITLES[str(system)]}
        for row in group.itertuples():
            name = _METRICS[str(row.metric)]
            record[f"{name}: printed"] = f"{row.printed:.2f}"
            record[f"{name}: from the release"] = f"{row.ours:.2f}"
        records.append(record)
    return pd.DataFrame(records, dtype=object)


def shown_length(frame: pd.DataFrame) -> pd.DataFrame:
    """Return `length_matched` as text: scores before and after the cut to one system's length."""
    return pd.DataFrame(
        {
            "data": [_SETS[name] for name in frame["dataset"]],
            "system": [TITLES[name] for name in frame["system"]],
            "replies": [_CUTS[name] for name in frame["cut"]],
            "words": _decimals(frame["words"], 1),
            "BLEU-4": _decimals(frame["bleu4"]),
            "ROUGE-L": _decimals(frame["rouge_l"]),
        },
        dtype=object,
    )


def shown_comparison(frame: pd.DataFrame) -> pd.DataFrame:
    """Return `compare_released` as text: points with interval, and whether they tell anything."""
    return pd.DataFrame(
        {
            "data": [_SETS[name] for name in frame["dataset"]],
            "difference": [
                f"{TITLES[second]} minus {TITLES[first].removeprefix('+ ')}"
                for first, second in zip(frame["first"], frame["second"], strict=True)
            ],
            "measure": [_METRICS[name] for name in frame["metric"]],
            "points": [
                _signed(*triple)
                for triple in zip(frame["difference"], frame["low"], frame["high"], strict=True)
            ],
            "turns": frame["n"],
            "episodes": frame["episodes"],
            "differs?": [
                "not tested" if pd.isna(value) else "yes" if value else "cannot tell"
                for value in frame["differs"]
            ],
        },
        dtype=object,
    )


def shown_comedy(frame: pd.DataFrame) -> pd.DataFrame:
    """Return COMEDY's scores under each cleaning rule, as text."""
    shown = shown_rescored(frame).drop(columns="system")
    shown.insert(1, "rule", list(frame["rule"]))
    return shown


def retriever_agreement(items: pd.DataFrame) -> pd.DataFrame:
    """Return mean agreement with the released rankings, with intervals clustered by episode.

    Parameters
    ----------
    items : DataFrame
        From `unbidden.reply.retriever_check.retriever_items`.

    Returns
    -------
    DataFrame
        Columns ``dataset, system, metric, k, mean, low, high, n, unscored``.
    """
    keys = ["dataset", "system", "metric", "k"]
    records = []
    for key, group in items.groupby(keys, sort=False):
        found = clustered_mean(group["value"].to_numpy(float), list(group["conversation"]))
        records.append(
            {
                **dict(zip(keys, key, strict=True)),
                "mean": found.mean,
                "low": found.low,
                "high": found.high,
                "n": found.n,
                "unscored": len(group) - found.n,
            }
        )
    return pd.DataFrame(records)


def shown_retrievers(agreement: pd.DataFrame) -> pd.DataFrame:
    """Return `retriever_agreement` as a grid, one row a data set and retriever."""
    records = []
    for (dataset, system), group in agreement.groupby(["dataset", "system"], sort=False):
        record = {"data": _SETS[str(dataset)], "retriever": str(system)}
        columns = (group[name] for name in ("metric", "k", "n", "mean", "low", "high"))
        for metric, k, n, *triple in zip(*columns, strict=True):
            name = "same first" if metric == "top1" else f"overlap of the first {k}"
            record[name] = with_interval(*triple) if n else "not available"
        records.append(record)
    return pd.DataFrame(records, dtype=object)


def shown_memories(frame: pd.DataFrame) -> pd.DataFrame:
    """Return `memories_per_session` as text."""
    return pd.DataFrame(
        {
            "data": [_SETS[name] for name in frame["dataset"]],
            "session": frame["session"],
            "episodes": frame["episodes"],
            "memories": frame["memories"],
            "per session": _decimals(frame["mean"], 1),
            "fewest": frame["least"],
            "most": frame["most"],
        },
        dtype=object,
    )


def _decimals(values: Sequence[float] | pd.Series[float], digits: int = 2) -> list[str]:
    return ["–" if pd.isna(value) else f"{value:.{digits}f}" for value in values]


def _signed(value: float, low: float | None, high: float | None) -> str:
    text = f"{value:+.2f}"
    if not (pd.isna(low) or pd.isna(high)):
        text += f" [{low:+.2f}, {high:+.2f}]"
    return text.replace("-", "−")
