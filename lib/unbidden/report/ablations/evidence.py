"""What the rewritings say on the claims of LoCoMo-Conv about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unbidden.memory.presets import needs_model
from unbidden.report.ablations.rewriting import ITEM
from unbidden.report.claims.evidence import evidence_frame
from unbidden.report.claims.rule import Measured
from unbidden.retrieval.rewriting import AS_WRITTEN
from unbidden.stats import clustered_mean

if TYPE_CHECKING:
    import pandas as pd

    from unbidden.config import AblationsConfig
    from unbidden.retrieval.rewriting import RewriteRun

FACETS, SINGLE = "facets, paper", "convergent, paper"
NOTE = "clustered by need: a small sample of two conversations, rewritten by a small model"


def rewriting_evidence(run: RewriteRun, config: AblationsConfig, dataset: str) -> pd.DataFrame:
    """Return the table ``evidence`` of the chapter: the paper's two forms of rewriting.

    Raw-turn systems are those that ask no model. The gain of summaries is compared item by item
    with the mean gain of all raw-turn systems.

    Returns
    -------
    DataFrame
        From `evidence_frame`; without rows where no rewriting is on record.
    """
    gains = {name: _gains(run, name) for name in (FACETS, SINGLE)}
    shared = {"dataset": dataset, "model": config.answer_model}
    found: list[Measured] = []
    for claim, name in (("facets_close_raw", FACETS), ("single_rewrite_neutral", SINGLE)):
        for system in map(str, gains[name]):
            if not needs_model(system):
                found.append(_part(claim, system, gains[name][system], shared))
    facets = gains[FACETS]
    raw = [name for name in map(str, facets) if not needs_model(name)]
    for system in map(str, facets):
        if raw and needs_model(system):
            gap = facets[raw].mean(axis=1) - facets[system]
            found.append(_part("facets_not_summaries", f"raw turns − {system}", gap, shared))
    return evidence_frame(found)


def _gains(run: RewriteRun, name: str) -> pd.DataFrame:
    """Return the gain of recall of each item (rows) and system (columns)."""
    items = run.items[run.items["metric"] == "recall"]
    wide = {
        condition: items[items["condition"] == condition].pivot(
            index=ITEM, columns="system", values="value"
        )
        for condition in (AS_WRITTEN, name)
    }
    return (wide[name] - wide[AS_WRITTEN]).dropna(axis=1, how="all")


def _part(claim: str, part: str, gains: pd.Series[float], shared: dict[str, Any]) -> Measured:
    found = clustered_mean(gains, list(gains.index.get_level_values("query_id")))
    return Measured(
        claim=claim,
        part=part,
        estimate=found.mean,
        low=found.low,
        high=found.high,
        n=found.n,
        clusters=found.clusters,
        chapter="04_ablations",
        table="tab-rewriting",
        note=NOTE,
        **shared,
    )
