"""Recall of supportive turns: beside that of gold, and with the released layer of votes."""

from __future__ import annotations

from typing import Any

import pandas as pd

from unbidden.report.grounding.silence import NOT_RUN
from unbidden.report.summary import means
from unbidden.report.tables import with_interval

_METRICS = {
    "recall": "gold",
    "recall_supportive": "supportive",
    "recall_both": "gold and supportive",
    "recall_same": "gold, same queries",
}


def supportive_table(recall: pd.DataFrame) -> pd.DataFrame:
    """Return mean recall of gold, of supportive turns, and of both, by system.

    Returns
    -------
    DataFrame
        As `unbidden.report.summary.means` by ``metric, system, voted``.
    """
    return means(recall, ["metric", "system", "voted"]) if len(recall) else recall


def shown_supportive(table: pd.DataFrame) -> pd.DataFrame:
    """Return `supportive_table` as text, one row a system, in %."""
    records = []
    for system in dict.fromkeys(table["system"]) if len(table) else ():
        own = table[table["system"] == system]
        record: dict[str, Any] = {"system": system}
        for row in own.to_dict("records"):
            name = _METRICS[row["metric"]]
            record[f"{name}, n"] = int(row["n"])
            record[name] = (
                with_interval(row["mean"], row["low"], row["high"]) if row["n"] else NOT_RUN
            )
        record["votes of its own"] = "yes" if bool(own["voted"].iloc[0]) else "no"
        records.append(record)
    return pd.DataFrame(records, dtype=object)


def shown_released_support(circular: pd.DataFrame, held_out: pd.DataFrame) -> pd.DataFrame:
    """Return recall with the released supportive turns as text, with and without own votes.

    Parameters
    ----------
    circular, held_out : DataFrame
        Means by ``metric`` and ``system``, as chapter 1 records them.
    """
    records = []
    for votes, table in (("all", circular), ("others only", held_out)):
        for system in dict.fromkeys(table["system"]):
            own = table[table["system"] == system].set_index("metric")
            record = {"system": system, "votes": votes, "n": int(own.loc["recall_both", "n"])}
            for metric in ("recall_same", "recall_supportive", "recall_both"):
                row = own.loc[metric]
                record[_METRICS[metric]] = with_interval(row["mean"], row["low"], row["high"])
            records.append(record)
    return pd.DataFrame(records, dtype=object)
