"""Replies beside the recall of what they were shown, their score, and the oracle's score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.judge.registry import rubrics_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.queries.build import Query

COLUMNS = (
    *("judge", "style", "system", "way", "conversation", "query_id"),
    *("recall", "score", "oracle", "unscored", "oracle_unscored"),
)
ORACLE = "oracle"
KEY = ["style", "query_id"]


def shown_recall(table: pd.DataFrame, queries: Sequence[Query]) -> pd.Series[float]:
    """Return the recall of gold of each reply's memories as they were shown.

    The paper takes everything a system returned, twenty memories for one of them, though a reply
    saw ten; here what did not fit the prompt does not count either.

    Parameters
    ----------
    table : DataFrame
        Of replies, with the columns ``style, query_id, memories, turns``.

    Returns
    -------
    Series
        In 0..1, by the table's index; NaN without gold, and where memories name no source turn.
    """
    gold = {(query.style, query.id): query.gold for query in queries}
    values = []
    names = ("style", "query_id", "memories", "turns")
    for style, query, memories, turns in zip(*(table[name] for name in names), strict=True):
        wanted = gold[style, query]
        known = bool(wanted) and bool(turns or not memories)
        values.append(len(wanted & set(turns)) / len(wanted) if known else float("nan"))
    return pd.Series(values, index=table.index, dtype="float64")


def scored_replies(
    table: pd.DataFrame, items: pd.DataFrame, queries: Sequence[Query]
) -> pd.DataFrame:
    """Return the replies made from a system's memories, each with its three numbers.

    Parameters
    ----------
    table : DataFrame
        Of replies, with a column ``way``; one reply a query and way.
    items : DataFrame
        Verdicts, with the columns ``judge`` and ``way``. Of each style its headline rubric counts.

    Returns
    -------
    DataFrame
        Columns `COLUMNS`; one row a judge and reply. `score` and `oracle` are NaN with a reason
        where the judge has no verdict.
    """
    headline = items[
        [
            metric == rubrics_for(style)[0]
            for metric, style in zip(items["metric"], items["style"], strict=True)
        ]
    ]
    if headline.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    known = table.assign(recall=shown_recall(table, queries))
    known = known[known["condition"] == "top_k"][[*KEY, "way", "recall"]]
    best = headline[headline["way"] == ORACLE][["judge", *KEY, "value", "unscored"]]
    best = best.rename(columns={"value": "oracle", "unscored": "oracle_unscored"})
    rows = headline.merge(known, on=[*KEY, "way"], how="inner", validate="many_to_one")
    rows = rows.merge(best, on=["judge", *KEY], how="left", validate="many_to_one")
    rows = rows.rename(columns={"value": "score"})
    return rows[list(COLUMNS)].reset_index(drop=True)
