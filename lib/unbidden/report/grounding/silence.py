"""The tables of silent grounding, of replies that chose their memories, and of what they cite."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.grounding import reasoned, silent
from unbidden.judge.scoring import missing_record
from unbidden.report.grounding.replying import reasoned_way, was_cut
from unbidden.report.tables import points, with_interval
from unbidden.stats import clustered_mean
from unbidden.stats.wins import margin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.config import GroundingConfig

NOT_RUN = "not run"
NO_POOL = "not run: no reply that leaves the fact out is on record"
MARGINS = (
    *("compared", "counted", "limits", "part", "wins", "ties", "losses", "margin", "low", "high"),
    *("win_rate", "n", "conversations", "unscored"),
)
"""Columns of `margins_table`."""


def cut_table(implicit: pd.DataFrame, longer: pd.DataFrame) -> pd.DataFrame:
    """Return how many replies of each arm there are, how many the limit cut, and their length.

    Returns
    -------
    DataFrame
        Columns ``limits, way, replies, cut, other, waiting, words``: made; cut by the limit;
        missing for another reason; not on record; mean words of those made.
    """
    rows = []
    for limits, table in (("equal", implicit), ("paper", longer)):
        for way in dict.fromkeys(table["way"]) if len(table) else ():
            own = table[table["way"] == way]
            reasons = Counter(
                "cut" if was_cut(reason) else "waiting" if missing_record(reason) else "other"
                for reason in own["unscored"]
                if isinstance(reason, str)
            )
            made = own["text"].dropna()
            words = made.map(str.split).map(len)
            rows.append(
                {
                    **{"limits": limits, "way": way, "replies": len(made)},
                    **{name: reasons[name] for name in ("cut", "other", "waiting")},
                    "words": float(words.mean()) if len(words) else None,
                }
            )
    return pd.DataFrame(rows)


def shown_cut(table: pd.DataFrame) -> pd.DataFrame:
    """Return `cut_table` as text."""
    return pd.DataFrame(
        [
            {
                "limits": row["limits"],
                "arm": row["way"],
                "replies": row["replies"] if row["replies"] else NOT_RUN,
                "cut by the limit": row["cut"],
                "failed otherwise": row["other"],
                "not on record": row["waiting"],
                "words": "–" if pd.isna(row["words"]) else f"{row['words']:.0f}",
            }
            for row in table.to_dict("records")
        ],
        dtype=object,
    )


def margins_table(contests: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return wins, ties, losses and margins, of single grades and of replies side by side.

    Parameters
    ----------
    contests, pairs : DataFrame
        From `unbidden.grounding.silent`, with the columns ``limits`` and, of contests,
        ``protocol``.

    Returns
    -------
    DataFrame
        Columns `MARGINS`; `counted` is how: "graded alone, PROTOCOL", "both orders" or "one order".
    """
    frames = [
        contests.assign(counted=[f"graded alone, {name}" for name in contests["protocol"]]),
        pairs.assign(counted=pairs["part"], part=silent.TOTAL),
    ]
    rows = pd.concat([frame for frame in frames if len(frame)] or [frames[0]], ignore_index=True)
    records = []
    if len(rows):
        keys = ["limits", "counted", "first", "second", "part"]
        for (limits, counted, first, second, part), group in rows.groupby(keys, sort=False):
            found = margin(group["result"], list(group["conversation"]))
            records.append(
                {
                    **{"compared": f"{first} − {second}", "counted": counted, "limits": limits},
                    **{"part": part, "wins": found.wins, "ties": found.ties},
                    **{"losses": found.losses, "margin": found.margin.mean},
                    **{"low": found.margin.low, "high": found.margin.high},
                    **{"win_rate": found.win_rate, "n": found.margin.n},
                    **{"conversations": found.margin.clusters, "unscored": found.unscored},
                }
            )
    return pd.DataFrame(records, columns=list(MARGINS))


def shown_margins(table: pd.DataFrame, *, parts: Sequence[str] = silent.PARTS) -> pd.DataFrame:
    """Return `margins_table` as text, in points."""
    if table.empty:
        return pd.DataFrame([{"compared": "the arms", "margin": NO_POOL}])
    rows = table[table["part"].isin(list(parts))].to_dict("records")
    return pd.DataFrame(
        [
            {
                "compared": row["compared"],
                "counted": row["counted"],
                "limits": row["limits"],
                "part": row["part"],
                "win / tie / lose": f"{row['wins']} / {row['ties']} / {row['losses']}"
                if row["n"]
                else NOT_RUN,
                "margin": with_interval(row["margin"], row["low"], row["high"]),
                "n": int(row["n"]),
                "unscored": int(row["unscored"]),
            }
            for row in rows
        ],
        dtype=object,
    )


def situations_table(situations: pd.DataFrame, pool: Sequence[str]) -> pd.DataFrame:
    """Return how often replies use the fact and answer the situation, by arm and group of queries.

    Returns
    -------
    DataFrame
        Columns ``queries, way, n, unscored, fact, situation, both, neither`` and ``situation_low,
        situation_high``; shares. `queries` is "all" or "fact not stated" (the pool).
    """
    records = []
    for queries, rows in (
        ("all", situations),
        ("fact not stated", situations[situations["query_id"].isin(list(pool))]),
    ):
        for way in dict.fromkeys(rows["way"]):
            own = rows[rows["way"] == way]
            labels = own["label"].dropna()
            tied = own["label"].map(_TIED)
            found = clustered_mean(tied.astype(float), list(own["conversation"]))
            share = labels.value_counts(normalize=True).to_dict()
            records.append(
                {
                    **{"queries": queries, "way": way, "n": len(labels)},
                    "unscored": int(own["label"].isna().sum()),
                    "fact": _sum(share, "both", "fact only"),
                    "situation": found.mean,
                    "situation_low": found.low,
                    "situation_high": found.high,
                    "both": _sum(share, "both"),
                    "neither": _sum(share, "neither"),
                }
            )
    return pd.DataFrame(records)


_TIED = {"both": 1.0, "situation only": 1.0, "fact only": 0.0, "neither": 0.0}


def _sum(share: dict[Any, float], *labels: str) -> float | None:
    return sum(share.get(label, 0.0) for label in labels) if share else None


def shown_situations(table: pd.DataFrame) -> pd.DataFrame:
    """Return `situations_table` as text, in %."""
    return pd.DataFrame(
        [
            {
                "queries": row["queries"],
                "arm": row["way"],
                "n": int(row["n"]),
                "unscored": int(row["unscored"]),
                "fact used": points(row["fact"]) if row["n"] else NOT_RUN,
                "situation answered": with_interval(
                    row["situation"], row["situation_low"], row["situation_high"]
                ),
                "both": points(row["both"]),
                "neither": points(row["neither"]),
            }
            for row in table.to_dict("records")
        ],
        dtype=object,
    )


def reasoned_table(
    config: GroundingConfig, results: pd.DataFrame, facts: pd.DataFrame
) -> pd.DataFrame:
    """Return replies that chose their memories against the oracle's, on the paper's three pools.

    Parameters
    ----------
    results : DataFrame
        Contests with the column ``protocol``.
    facts : DataFrame
        Items of one judge, with the column ``way``, which make the pools.

    Returns
    -------
    DataFrame
        Columns ``pool`` and `MARGINS`.
    """
    way = reasoned_way(config)
    frames = []
    for pool in reasoned.POOLS:
        chosen = reasoned.pool_of(facts, way, pool)
        own = results[results["query_id"].isin(chosen)].assign(limits="equal")
        table = margins_table(own, pd.DataFrame(columns=[*silent.RESULTS, "limits"]))
        table.insert(0, "pool", pool)
        frames.append(table)
    kept = [frame for frame in frames if len(frame)]
    return pd.concat(kept, ignore_index=True) if kept else frames[0]


def shown_reasoned(table: pd.DataFrame) -> pd.DataFrame:
    """Return `reasoned_table` as text, in points."""
    shown = shown_margins(table)
    if table.empty:
        return shown
    shown.insert(0, "queries", list(table["pool"]))
    return shown.drop(columns="limits")
