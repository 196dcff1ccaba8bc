"""Scored replies as the chapter on replies shows them: means, differences, and what was used."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from unbidden.corpus.models import STYLES
from unbidden.judge.registry import rubrics_for
from unbidden.judge.scoring import missing_record
from unbidden.report.paired import COMPARED, paired_differences
from unbidden.report.summary import means
from unbidden.report.tables import points, shown_differences, with_interval
from unbidden.stats.agreement import cohen_kappa

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ORACLE = "oracle"
ALL = "all styles"
NOT_RUN = "not run"
_MEANS = ["mean", "low", "high", "n", "conversations", "unscored", "interval", "not_run"]
ITEM = ["style", "query_id"]
"""What tells the replies of one way and judge apart."""


def headline(items: pd.DataFrame) -> pd.DataFrame:
    """Return the items of each style's headline rubric."""
    wanted = [rubrics_for(style)[0] for style in items["style"]]
    kept = [metric == name for metric, name in zip(items["metric"], wanted, strict=True)]
    return items.loc[kept]


def scores(items: pd.DataFrame) -> pd.DataFrame:
    """Return the mean score of each judge, way to remember and style, and over all its styles.

    Returns
    -------
    DataFrame
        Columns ``judge, style, way, mean, low, high, n, conversations, unscored, interval,
        not_run``. `unscored` are verdicts or replies that failed, `not_run` those whose calls are
        not on record; neither is in the mean.
    """
    return style_means(headline(items), ["judge", "style", "way"])


def style_means(rows: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return what `scores` does of any items: means by `keys`, and over all styles.

    Parameters
    ----------
    keys : sequence of str
        The columns that name a row, ``style`` among them.
    """
    if rows.empty:
        return pd.DataFrame(columns=[*keys, *_MEANS])
    keys, others = list(keys), [key for key in keys if key != "style"]
    rows = rows.assign(not_run=[missing_record(reason) for reason in rows["unscored"]])
    found = [means(rows, keys), means(rows, others).assign(style=ALL)]
    table = pd.concat(found, ignore_index=True)
    pending = pd.concat([rows, rows.assign(style=ALL)]).groupby(keys)["not_run"].sum()
    count = [int(pending[tuple(row)]) for row in table[keys].itertuples(index=False, name=None)]
    table["unscored"] = table["unscored"] - count
    table["not_run"] = count
    return table[[*keys, *table.columns.drop(keys)]]


def shown_scores(table: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Return one judge's part of `scores` as text: a row for each way, a column for each style."""
    own = table[table["judge"] == judge]
    styles = [style for style in (*STYLES, ALL) if style in set(own["style"])]
    records = []
    for way, group in own.groupby("way", sort=False):
        by_style = {row["style"]: row for row in group.to_dict("records")}
        total = by_style[ALL]
        records.append(
            {
                "memories": way,
                **{style: score_cell(by_style.get(style)) for style in styles},
                **{name: total[name] for name in ("n", "unscored")},
                NOT_RUN: total["not_run"],
            }
        )
    return pd.DataFrame(records, dtype=object)


def score_cell(row: dict[Any, Any] | None) -> str:
    """Return a row of `style_means` as the text of a cell, or why it has no score."""
    if row is None:
        return "–"
    if not row["n"]:
        return NOT_RUN if row["not_run"] else "unscored"
    return with_interval(row["mean"], row["low"], row["high"])


def main_judge(items: pd.DataFrame) -> str:
    """Return the first judge with a verdict; the first of all if none has any."""
    scored = items[items["value"].notna()]["judge"]
    return str(next(iter(scored if len(scored) else items["judge"])))


def only(items: pd.DataFrame) -> pd.DataFrame:
    """Return the items of the main judge."""
    return items[items["judge"] == main_judge(items)]


def differences(items: pd.DataFrame, *, by_style: bool, seed: int = 0) -> pd.DataFrame:
    """Return the oracle's score minus that of each other way, paired by query.

    Parameters
    ----------
    by_style : bool
        One row for each style, too; by default all styles a judge scores are pooled.

    Returns
    -------
    DataFrame
        Columns ``judge, style, way`` and `COMPARED`; pairs without a query scored in both are left
        out. P-values are Holm's over all rows of a judge: another judge is another look at the same
        question.
    """
    rows = headline(items)
    tables = [
        paired_differences(_pairs(group, by_style), seed=seed)
        for _, group in rows.groupby("judge", sort=False)
    ]
    found = [table for table in tables if len(table)]
    if not found:
        return pd.DataFrame(columns=["judge", "style", "way", *COMPARED])
    return pd.concat(found, ignore_index=True)


def _pairs(
    rows: pd.DataFrame, by_style: bool
) -> Iterator[tuple[dict[str, str], Any, Any, list[str]]]:
    rows = rows if by_style else rows.assign(pooled=ALL)
    column = "style" if by_style else "pooled"
    for (judge, style), group in rows.groupby(["judge", column], sort=False):
        wide = group.pivot(index=ITEM, columns="way", values="value")
        homes = group.drop_duplicates(ITEM).set_index(ITEM)["conversation"].loc[wide.index]
        if ORACLE not in wide:
            continue
        for way in dict.fromkeys(group["way"]):
            both = wide[[ORACLE, way]].notna().all(axis=1)
            if way != ORACLE and both.any():
                keys = {"judge": str(judge), "style": str(style), "way": str(way)}
                yield keys, wide[way].to_numpy(), wide[ORACLE].to_numpy(), homes.tolist()


def shown_oracle_gap(table: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return `differences` as text."""
    return shown_differences(table, keys) if len(table) else table[list(keys)]


def judge_agreement(items: pd.DataFrame) -> pd.DataFrame:
    """Return how far the judges of a run agree on its replies, as text.

    Returns
    -------
    DataFrame
        One row for each pair of judges, over replies that both scored.
    """
    rows = headline(items)
    wide = rows.pivot_table(index=[*ITEM, "way"], columns="judge", values="value", dropna=False)
    records = []
    for first, second in combinations(dict.fromkeys(rows["judge"]), 2):
        if not {first, second} <= set(wide.columns):
            continue
        both = wide[[first, second]].dropna()
        if both.empty:
            continue
        labels = [[f"{value:g}" for value in both[name]] for name in (first, second)]
        kappa = cohen_kappa(labels[0], labels[1])
        records.append(
            {
                "judges": f"{first} · {second}",
                "n": len(both),
                "means": " · ".join(points(both[name].mean()) for name in (first, second)),
                "same score, %": points((both[first] == both[second]).mean()),
                "kappa": "–" if np.isnan(kappa) else f"{kappa:.2f}".replace("-", "−"),
            }
        )
    columns = ["judges", "n", "means", "same score, %", "kappa"]
    return pd.DataFrame(records, columns=columns, dtype=object)
