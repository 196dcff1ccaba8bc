"""What replies made of what they were shown: gold turns found and used, length, admitted doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from unbidden.judge.floors import doubts
from unbidden.judge.scoring import missing_record
from unbidden.reply.metrics import word_count
from unbidden.reply.study import TOP_K
from unbidden.report.replies.tables import ITEM, NOT_RUN, ORACLE, headline
from unbidden.report.summary import means
from unbidden.report.tables import points, with_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.queries.build import Query

BUCKETS = ("all gold turns", "some of them", "none of them")


def gold_shown(table: pd.DataFrame, queries: Sequence[Query]) -> pd.Series[float]:
    """Return the share of a query's gold turns among the memories each reply was shown.

    A query that cites none (some of category 5) has no share.
    """
    gold = {(query.style, query.id): query.gold for query in queries}
    shares = [
        len(gold[style, name] & set(turns)) / len(gold[style, name])
        if gold[style, name]
        else float("nan")
        for style, name, turns in zip(
            table["style"], table["query_id"], table["turns"], strict=True
        )
    ]
    return pd.Series(shares, index=table.index)


def above_oracle(
    items: pd.DataFrame, table: pd.DataFrame, shares: pd.Series[float]
) -> pd.DataFrame:
    """Return where a way to remember scores above the oracle, and what lies behind it.

    Returns
    -------
    DataFrame
        Columns ``judge, style, way, oracle, score, queries, better, with_gold, worse``: means over
        the `queries` scored in both; of them, those it does better on, those of these in which it
        was shown every gold turn, and those it does worse on. Ways at or below the oracle are left
        out.
    """
    seen = table[[*ITEM, "way"]].assign(share=shares.to_numpy())
    rows = headline(items).merge(seen, on=[*ITEM, "way"])
    top = rows[rows["way"] == ORACLE].set_index(["judge", *ITEM])["value"]
    keys = pd.MultiIndex.from_frame(rows[["judge", *ITEM]])
    rows = rows.assign(top=top.reindex(keys).to_numpy() if len(top) else np.nan)
    rows = rows[rows[["value", "top"]].notna().all(axis=1) & (rows["way"] != ORACLE)]
    records = []
    for (judge, style, way), group in rows.groupby(["judge", "style", "way"], sort=False):
        better = group["value"] > group["top"]
        if group["value"].mean() <= group["top"].mean():
            continue
        records.append(
            {
                "judge": judge,
                "style": style,
                "way": way,
                "oracle": group["top"].mean(),
                "score": group["value"].mean(),
                "queries": len(group),
                "better": int(better.sum()),
                "with_gold": int((better & (group["share"] == 1)).sum()),
                "worse": int((group["value"] < group["top"]).sum()),
            }
        )
    columns = ["judge", "style", "way", "oracle", "score", "queries", "better", "with_gold"]
    return pd.DataFrame(records, columns=[*columns, "worse"])


def shown_above_oracle(table: pd.DataFrame) -> pd.DataFrame:
    """Return `above_oracle` as text."""
    return pd.DataFrame(
        {
            "judge": table["judge"],
            "style": table["style"],
            "memories": table["way"],
            "oracle": [points(value) for value in table["oracle"]],
            "score": [points(value) for value in table["score"]],
            "n": table["queries"],
            "better than oracle": table["better"],
            "of them, all gold turns shown": table["with_gold"],
            "worse": table["worse"],
        },
        dtype=object,
    )


def by_found(items: pd.DataFrame, table: pd.DataFrame, shares: pd.Series[float]) -> pd.DataFrame:
    """Return systems' scores by how many gold turns they showed, beside the oracle's.

    Returns
    -------
    DataFrame
        Columns ``judge, way, shown``, those of `unbidden.report.summary.means`, and ``oracle``, its
        mean over the same queries.
    """
    bucket = [BUCKETS[0] if s == 1 else BUCKETS[1] if s else BUCKETS[2] for s in shares]
    seen = table[[*ITEM, "way"]].assign(shown=bucket)
    rows = headline(items).merge(seen, on=[*ITEM, "way"])
    top = rows[rows["way"] == ORACLE][["judge", *ITEM, "value"]].rename(columns={"value": "oracle"})
    rows = rows[rows["condition"] == TOP_K].merge(top, on=["judge", *ITEM], how="left")
    rows = rows[rows["value"].notna()]
    if rows.empty:
        return pd.DataFrame(columns=["judge", "way", "shown", "mean", "low", "high", "n", "oracle"])
    keys = ["judge", "way", "shown"]
    found = means(rows, keys)
    oracle = rows.groupby(keys)["oracle"].mean()
    found["oracle"] = [oracle[tuple(key)] for key in found[keys].itertuples(index=False, name=None)]
    order = found["shown"].map(BUCKETS.index)
    return found.assign(order=order).sort_values(
        ["judge", "way", "order"], kind="stable", ignore_index=True
    ).drop(columns="order")  # fmt: skip


def shown_by_found(table: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Return one judge's part of `by_found` as text."""
    own = table[table["judge"] == judge]
    return pd.DataFrame(
        {
            "memories": own["way"],
            "shown": own["shown"],
            "n": own["n"],
            "score": [
                with_interval(*triple)
                for triple in zip(own["mean"], own["low"], own["high"], strict=True)
            ],
            "oracle, same queries": [points(value) for value in own["oracle"]],
        },
        dtype=object,
    )


def lengths(table: pd.DataFrame, shares: pd.Series[float]) -> pd.DataFrame:
    """Return how long replies are, how many say that they do not know, and what they were shown.

    Returns
    -------
    DataFrame
        Columns ``way, n, cut, failed, not_run, words, doubting, memories, tokens, recall``. `cut`
        replies reached the limit and are unscored, like the `failed`; `words` and `doubting` are
        over replies, `memories`, `tokens` and `recall` (gold turns shown) over all queries.
    """
    frame = table.assign(share=shares.to_numpy())
    records = []
    for way, group in frame.groupby("way", sort=False):
        texts = list(group["text"].dropna())
        reasons = list(group["unscored"].dropna())
        pending = sum(missing_record(reason) for reason in reasons)
        cut = sum(reason.startswith("truncated") for reason in reasons)
        records.append(
            {
                "way": way,
                "n": len(texts),
                "cut": cut,
                "failed": len(reasons) - cut - pending,
                "not_run": pending,
                "words": float(np.mean([word_count(text) for text in texts])) if texts else None,
                "doubting": float(np.mean([doubts(text) for text in texts])) if texts else None,
                "memories": float(group["memories"].map(len).mean()),
                "tokens": float(group["tokens"].mean()),
                "recall": float(group["share"].mean()),
            }
        )
    return pd.DataFrame(records)


def shown_lengths(table: pd.DataFrame) -> pd.DataFrame:
    """Return `lengths` as text."""
    return pd.DataFrame(
        {
            "memories": table["way"],
            "replies": table["n"],
            "cut": table["cut"],
            "failed": table["failed"],
            NOT_RUN: table["not_run"],
            "words": [_decimal(value) for value in table["words"]],
            "say they do not know": [points(value) for value in table["doubting"]],
            "memories shown": [_decimal(value) for value in table["memories"]],
            "tokens": [_decimal(value, 0) for value in table["tokens"]],
            "gold turns shown": [points(value) for value in table["recall"]],
        },
        dtype=object,
    )


def _decimal(value: float | None, digits: int = 1) -> str:
    return "–" if value is None or pd.isna(value) else f"{value:.{digits}f}"
