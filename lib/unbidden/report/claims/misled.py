"""Evidence on TeaFarm's claim, from the verdicts of the chapter on TeaFarm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unbidden.report.claims.rule import Measured
from unbidden.stats import clustered_mean

if TYPE_CHECKING:
    import pandas as pd

FIRST, SECOND = "theanine", "msc-retrieval"


def misled_evidence(
    items: pd.DataFrame,
    *,
    dataset: str,
    model: str,
    judge: str = "repaired",
    chapter: str = "07_teafarm",
) -> list[Measured]:
    """Return THEANINE's success minus that of memory retrieval, question by question.

    Parameters
    ----------
    items : DataFrame
        Of that chapter: columns ``conversation, query_id, source, system, metric, judge, value``.

    Returns
    -------
    list of Measured
        One, or none where either agent has no verdict.
    """
    rows = items[(items["metric"] == "teafarm") & (items["judge"] == judge)]
    rows = rows[rows["system"].isin([FIRST, SECOND]) & rows["value"].notna()]
    keys = ["conversation", "source", "query_id"]
    wide = rows.pivot_table(index=keys, columns="system", values="value")
    if FIRST not in wide or SECOND not in wide:
        return []
    found = clustered_mean(
        wide[FIRST] - wide[SECOND], list(wide.index.get_level_values("conversation"))
    )
    part = Measured(
        "teafarm",
        f"{FIRST} − {SECOND}",
        dataset,
        model,
        found.mean,
        found.low,
        found.high,
        found.n,
        found.clusters,
        chapter,
        "tab-outcomes",
    )
    return [part] if part.n else []
