"""Tables of a system's variants: what each part brings, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.report.paired import against
from unbidden.report.summary import means, select
from unbidden.report.tables import p_text, points, with_interval

if TYPE_CHECKING:
    from collections.abc import Mapping

WHOLE = "whole"

HYPOTHESES: Mapping[str, str] = {
    "no words": "a rare word in common counts for what it says, not for its rank",
    "no who": "what one needs to be reminded of is mostly what one said oneself",
    "no substance": "greetings and echoes are like every message, and hold nothing",
    "no answers": "an answer is found by its question",
    "no links": "turns on one matter, months apart, support each other",
    "no feedback": "the best turns say in plain words what the message only implies",
    "with facets": "a message needs several things, each to be searched for by itself",
    "rank fusion": "how well a turn matches is lost where only its rank is kept",
}
"""What each ablation of `unbidden` tests (the guide, "Our own system")."""


def variant_means(items: pd.DataFrame, k: int, *, metric: str = "recall") -> pd.DataFrame:
    """Return mean and interval of each variant and style.

    Parameters
    ----------
    items : DataFrame
        From `unbidden.retrieval.variants.variant_items`; questions of category 5 are left out.

    Returns
    -------
    DataFrame
        Columns of `unbidden.report.summary.means`, by ``variant`` and ``style``.
    """
    rows = select(items, metric, k)
    return means(rows.assign(variant=rows["condition"]), ["variant", "style"])


def variant_differences(
    items: pd.DataFrame, k: int, *, metric: str = "recall", whole: str = WHOLE, seed: int = 0
) -> pd.DataFrame:
    """Return the paired difference of each variant from the whole system, by style.

    Clustered by conversation; over one conversation, by item, as the column ``test`` says.
    P-values are Holm's over all rows.

    Returns
    -------
    DataFrame
        Columns ``variant``, ``style`` and those of `unbidden.report.paired.COMPARED`.
    """
    rows = select(items, metric, k)
    if whole not in set(rows["condition"]) or rows["condition"].nunique() < 2:
        return pd.DataFrame()
    found = against(rows.assign(system=rows["condition"]), whole, seed=seed)
    return found.rename(columns={"system": "variant"}).drop(columns="metric")


def variant_table(
    items: pd.DataFrame, k: int, *, whole: str = WHOLE, seed: int = 0
) -> pd.DataFrame:
    """Return the table of ablations as it is shown: one row for each variant and style.

    Columns: variant, style, recall with its interval, difference from the whole with its interval
    (points), p (Holm), n, conversations, and the verdict.
    """
    table = variant_means(items, k)
    found = variant_differences(items, k, whole=whole, seed=seed)
    if not found.empty:
        kept = found.rename(columns={"low": "d_low", "high": "d_high"})
        kept = kept[["variant", "style", "difference", "d_low", "d_high", "p_holm", "verdict"]]
        table = table.merge(kept, on=["variant", "style"], how="left")
    shown = {
        "variant": table["variant"],
        "style": table["style"],
        f"recall@{k}": [
            with_interval(*row) for row in table[["mean", "low", "high"]].itertuples(index=False)
        ],
        "n": table["n"],
        "conv.": table["conversations"],
    }
    if not found.empty:
        shown["change"] = [
            with_interval(*row)
            for row in table[["difference", "d_low", "d_high"]].itertuples(index=False)
        ]
        shown["p (Holm)"] = [p_text(value) for value in table["p_holm"]]
        shown["verdict"] = table["verdict"].fillna("–")
    return pd.DataFrame(shown)


def variant_matrix(
    items: pd.DataFrame, k: int, *, whole: str = WHOLE, seed: int = 0
) -> pd.DataFrame:
    """Return a compact table: a row for each variant, a column for each style.

    A cell is the recall of the whole system and, for the others, recall and the change in brackets
    with a star where the corrected test finds a difference.
    """
    table = variant_means(items, k)
    found = variant_differences(items, k, whole=whole, seed=seed)
    known = (
        {(row["variant"], row["style"]): row for row in found.to_dict("records")}
        if not found.empty
        else {}
    )
    cells: dict[str, dict[str, str]] = {}
    for row in table.to_dict("records"):
        text = points(row["mean"])
        other = known.get((row["variant"], row["style"]))
        if other is not None:
            sign = "+" if (other["difference"] or 0) > 0 else ""
            star = "*" if str(other["verdict"]).startswith("differs") else ""
            text += f" ({sign}{points(other['difference'])}{star})"
        cells.setdefault(row["variant"], {})[row["style"]] = text
    return pd.DataFrame([{"variant": name, **row} for name, row in cells.items()]).fillna("–")
