"""Evidence on claims about what is found, from the items of the retrieval chapter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unbidden.memory.presets import needs_model
from unbidden.report.claims.rule import Measured
from unbidden.report.summary import scored_systems, select
from unbidden.stats import clustered_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

STEPS = (
    ("recall_dialog", "question", "dialog"),
    ("recall_implicit", "dialog", "implicit"),
    ("recall_composed", "question", "composed"),
)
"""Claim, the style that should find more, the one that should find less."""
RIVALS = ("bm25", "amem", "mem0-v2")
"""Whom LoCoMo-Conv ranks behind AnchorMem; its mem0 is that of release 2."""


def writers(
    systems: Iterable[str], memory_model: str, memory_models: Mapping[str, str]
) -> dict[str, str]:
    """Return the model behind a system's memories, for those that have one."""
    return {name: memory_models.get(name) or memory_model for name in systems if needs_model(name)}


def run_evidence(
    items: pd.DataFrame, *, dataset: str, models: Mapping[str, str], k: int = 10
) -> list[Measured]:
    """Return all that a run of the retrieval chapter says of claims, by the table it stands in."""
    names = list(scored_systems(select(items, "recall", k))["system"].unique())
    plain = [name for name in names if name not in models]
    written = [name for name in names if name in models]
    return [
        *style_evidence(
            items, dataset=dataset, table="tab-drop", models=models, systems=plain, k=k
        ),
        *style_evidence(
            items, dataset=dataset, table="tab-systems", models=models, systems=written, k=k
        ),
        *rank_evidence(items, dataset=dataset, table="tab-systems", models=models, k=k),
    ]


def style_evidence(
    items: pd.DataFrame,
    *,
    dataset: str,
    table: str,
    models: Mapping[str, str],
    systems: Sequence[str] | None = None,
    k: int = 10,
    chapter: str = "02_retrieval",
) -> list[Measured]:
    """Return how much less each system finds from style to style, paired by need.

    Parameters
    ----------
    items : DataFrame
        Of the retrieval chapter.
    models : mapping of str to str
        The model behind a system's memories, where there is one.
    systems : sequence of str, optional
        Those to be taken; by default all that have a value.
    """
    rows = scored_systems(select(items, "recall", k))
    names = [name for name in rows["system"].unique() if systems is None or name in systems]
    found = []
    for claim, more, less in STEPS:
        for system in names:
            own = rows[rows["system"] == system]
            first, second = (
                own[own["style"] == style].set_index("query_id")["value"] for style in (more, less)
            )
            homes = own.drop_duplicates("query_id").set_index("query_id")["conversation"]
            values = [_mean_of(str(query), first) - value for query, value in second.items()]
            places = [homes[query] for query in second.index]
            found.append(_measured(claim, system, values, places, dataset, models, chapter, table))
    return found


def rank_evidence(
    items: pd.DataFrame,
    *,
    dataset: str,
    table: str,
    models: Mapping[str, str],
    k: int = 10,
    chapter: str = "02_retrieval",
) -> list[Measured]:
    """Return AnchorMem minus each rival on implicit queries; nothing where a system was not run."""
    rows = scored_systems(select(items, "recall", k))
    rows = rows[rows["style"] == "implicit"]
    wide = rows.pivot(index="query_id", columns="system", values="value")
    homes = rows.drop_duplicates("query_id").set_index("query_id")["conversation"]
    if "anchormem" not in wide or not set(RIVALS) <= set(wide.columns):
        return []
    return [
        _measured(
            "rank_anchormem",
            f"anchormem − {rival}",
            list(wide["anchormem"] - wide[rival]),
            list(homes.loc[wide.index]),
            dataset,
            {**models, f"anchormem − {rival}": models.get("anchormem", "none")},
            chapter,
            table,
        )
        for rival in RIVALS
    ]


def _mean_of(query: str, values: pd.Series[float]) -> float:
    """Return the value of a need, or of a composed query the mean of its members'."""
    home, _, members = query.rpartition("#")
    found = [values.get(f"{home}#{member}", float("nan")) for member in members.split("+")]
    return float(np.mean(found))


def _measured(
    claim: str,
    part: str,
    values: Sequence[float],
    homes: Sequence[object],
    dataset: str,
    models: Mapping[str, str],
    chapter: str,
    table: str,
) -> Measured:
    interval = clustered_mean(values, [str(home) for home in homes])
    return Measured(
        claim,
        part,
        dataset,
        models.get(part, "none"),
        interval.mean,
        interval.low,
        interval.high,
        interval.n,
        interval.clusters,
        chapter,
        table,
        note="over items of one conversation" if interval.clusters == 1 else "",
    )
