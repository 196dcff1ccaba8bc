"""Evidence on claims about rewritten queries, from the items of the chapter on ablations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unbidden.report.claims.rule import Measured
from unbidden.stats import Interval, clustered_mean

if TYPE_CHECKING:
    import pandas as pd

AS_WRITTEN = "as written"
FACETS, SINGLE = "facets, paper", "convergent, paper"
"""Rows of the chapter's grid that follow the paper."""
RAW = ("bm25", "dense", "rrf", "amem-noevo", "amem", "anchormem")
SUMMARIES = ("mem0", "mem0-v2", "memora", "nemori", "theanine", "msc-retrieval")
"""Systems whose memories are turns, and those whose memories a model wrote."""
STYLES = ("implicit", "composed")
"""Those in which the paper finds the gap that facets are to close."""


def facet_evidence(
    items: pd.DataFrame, *, dataset: str, model: str, chapter: str = "04_ablations"
) -> list[Measured]:
    """Return what facets, and one rewrite, change for each system on implicit and composed queries.

    The change for summaries is compared with that for raw turns, need by need. Intervals are over
    needs: a sample spans too few conversations for theirs.

    Parameters
    ----------
    items : DataFrame
        Recall with the columns ``system, style, query_id, metric, condition, value``; `condition`
        is a row of the grid or `AS_WRITTEN`.
    model : str
        What rewrote the queries.
    """
    rows = items[(items["metric"] == "recall") & items["style"].isin(STYLES)]
    found: list[Measured] = []
    gains = {
        name: _gains(rows, name) for name in (FACETS, SINGLE) if name in set(rows["condition"])
    }
    for claim, name in (("facets_close_raw", FACETS), ("single_rewrite_neutral", SINGLE)):
        for system in RAW:
            if name in gains and system in gains[name]:
                found.append(_part(claim, system, gains[name][system], dataset, model, chapter))
    facets = gains.get(FACETS)
    if facets is not None:
        raw = [system for system in RAW if system in facets]
        written = [system for system in SUMMARIES if system in facets]
        for system in written if raw else ():
            gap = facets[raw].mean(axis=1) - facets[system]
            part = f"mean of {', '.join(raw)} − {system}"
            found.append(_part("facets_not_summaries", part, gap, dataset, model, chapter))
    return [part for part in found if part.n]


def _gains(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the change from the query as written, one row a query, one column a system."""
    keys = ["style", "query_id"]
    wide = {
        condition: rows[rows["condition"] == condition].pivot(
            index=keys, columns="system", values="value"
        )
        for condition in (AS_WRITTEN, name)
    }
    change = wide[name] - wide[AS_WRITTEN]
    return change.dropna(axis="columns", how="all")


def _part(
    claim: str, part: str, values: pd.Series[float], dataset: str, model: str, chapter: str
) -> Measured:
    needs = list(values.index.get_level_values("query_id"))
    found: Interval = clustered_mean(values, needs)
    return Measured(
        claim,
        part,
        dataset,
        model,
        found.mean,
        found.low,
        found.high,
        found.n,
        found.clusters,
        chapter,
        "tab-rewriting",
        note="over needs; says nothing about other conversations",
    )
