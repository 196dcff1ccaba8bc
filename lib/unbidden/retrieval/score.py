"""Scoring rankings by turn ids into the study's long table of items.

Set measures and rank measures come from `ir-measures`. A memory counts at its rank; it brings all
its source turns. A system without provenance, a query without gold, and a search that failed are
unscored with the reason, never 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import ir_measures
import numpy as np
import pandas as pd
from ir_measures import RR, SetF, SetP, SetR, nDCG

from unbidden.errors import ConfigError
from unbidden.memory.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unbidden.corpus.models import TurnId
    from unbidden.memory.protocol import Retrieved
    from unbidden.queries.build import Query
    from unbidden.retrieval.run import Rankings

ITEM_COLUMNS = [
    *("dataset", "conversation", "query_id", "style", "category", "system", "condition"),
    *("metric", "k", "value", "unscored"),
]
"""Columns of ``items.parquet``, the long table every run writes."""

_SET_MEASURES = {SetR: "recall", SetP: "precision", SetF: "f1"}
_RANK_MEASURES = {RR: "mrr", nDCG: "ndcg"}
NO_GOLD = "no evidence is cited for this question"
BUDGET_NOT_FILLED = "the ranking ended before the budget was filled; ask for a larger K"
NO_PROVENANCE = "the system cannot name source turns"


def score_rankings(
    dataset: str,
    rankings: Iterable[Rankings],
    *,
    ks: Sequence[int],
    turn_budgets: Sequence[int] = (),
    token_budgets: Sequence[int] = (),
    condition: str = "top_k",
) -> pd.DataFrame:
    """Return one row per query, system, metric and cut-off.

    Metrics ``recall``, ``precision``, ``f1``, ``all_hit``, ``mrr`` and ``ndcg`` are over the
    first K memories; ``recall_turns`` and ``recall_tokens`` over the longest run of memories that
    fits a budget of distinct turns or shown tokens (`k` then holds the budget).

    Precision divides by the turns returned, as the paper does, not by K.

    A budget takes memories whole and in order: the first one that would overshoot it is not
    counted, nor is anything after it. An episode of 20 turns therefore scores 0 at a budget of 5
    turns, however good it is; that is the price of coarse memories which recall at K hides. A
    memory that names no source turn uses up tokens but no turns.

    Raises
    ------
    ConfigError
        If a cut-off is not positive or exceeds the depth that was retrieved.
    """
    frames = []
    for ranking in rankings:
        check_cutoffs(ranking, ks, (*turn_budgets, *token_budgets))
        values = _values(ranking, ks)
        values |= _budget_values(ranking, turn_budgets, token_budgets)
        frames.append(_frame(dataset, ranking, values, condition))
    return pd.concat(frames, ignore_index=True)


def check_cutoffs(ranking: Rankings, ks: Sequence[int], budgets: Sequence[int] = ()) -> None:
    """Raise ConfigError if a cut-off is not positive or a K exceeds what was retrieved."""
    for k in (*ks, *budgets):
        if k < 1:
            raise ConfigError(
                "a cut-off is out of range",
                expected="1 or more",
                got=str(k),
                next_step="correct `ks` or the budgets",
            )
    if max(ks) > ranking.depth:
        raise ConfigError(
            "a cut-off exceeds what was retrieved",
            expected=f"at most {ranking.depth}",
            got=str(max(ks)),
            next_step="retrieve with a larger `depth`, or lower `ks`",
        )


def turn_order(hits: Iterable[Retrieved]) -> list[TurnId]:
    """Return the distinct source turns of memories in order of first appearance."""
    return list(dict.fromkeys(source for hit in hits for source in hit.sources))


def _values(ranking: Rankings, ks: Sequence[int]) -> dict[tuple[str, int], list[float]]:
    """Return the value of each query, in order, by (metric, K)."""
    qrels = {
        str(i): {turn: 1 for turn in sorted(query.gold)}
        for i, query in enumerate(ranking.queries)
        if query.gold
    }
    orders = {k: [turn_order(hits[:k]) for hits in ranking.hits] for k in ks}
    values = {}
    for k, order in orders.items():
        for measure, found in _measured(qrels, order).items():
            values[measure, k] = found
        values["all_hit", k] = [
            float(query.gold <= set(turns))
            for query, turns in zip(ranking.queries, order, strict=True)
        ]
    return values


def _measured(
    qrels: dict[str, dict[TurnId, int]], orders: Sequence[Sequence[TurnId]]
) -> dict[str, list[float]]:
    """Return the values of the library's measures by name, 0 for a query that returned nothing.

    Ranks become strictly falling scores first, since evaluation tools reorder equal scores.
    """
    names = {**_SET_MEASURES, **_RANK_MEASURES}
    found = {name: [0.0] * len(orders) for name in names.values()}
    run = {
        str(i): {turn: float(len(order) - rank) for rank, turn in enumerate(order)}
        for i, order in enumerate(orders)
        if order and str(i) in qrels
    }
    if run:
        for metric in ir_measures.iter_calc(list(names), qrels, run):
            found[names[metric.measure]][int(metric.query_id)] = float(metric.value)
    return found


def _budget_values(
    ranking: Rankings, turn_budgets: Sequence[int], token_budgets: Sequence[int]
) -> dict[tuple[str, int], list[float]]:
    values: dict[tuple[str, int], list[float]] = {
        **{("recall_turns", budget): [] for budget in turn_budgets},
        **{("recall_tokens", budget): [] for budget in token_budgets},
    }
    tokens: dict[str, int] = {}
    for query, hits in zip(ranking.queries, ranking.hits, strict=True):
        turns_after, tokens_after, recall_after = _running(query, hits, tokens)
        for (metric, budget), found in values.items():
            costs = turns_after if metric == "recall_turns" else tokens_after
            fitting = int(np.searchsorted(costs, budget, side="right"))
            cut_short = fitting == len(costs) == ranking.depth and costs[-1] < budget
            value = recall_after[fitting - 1] if fitting else 0.0
            found.append(float("nan") if cut_short and value < 1 else value)
    return values


def _running(
    query: Query, hits: Sequence[Retrieved], tokens: dict[str, int]
) -> tuple[list[int], list[int], list[float]]:
    """Return distinct turns, shown tokens and recall after each memory."""
    seen: set[TurnId] = set()
    shown = 0
    turns_after, tokens_after, recall_after = [], [], []
    for hit in hits:
        seen.update(hit.sources)
        if hit.text not in tokens:
            tokens[hit.text] = count_tokens(hit.text)
        shown += tokens[hit.text]
        turns_after.append(len(seen))
        tokens_after.append(shown)
        recall_after.append(len(seen & query.gold) / len(query.gold) if query.gold else 0.0)
    return turns_after, tokens_after, recall_after


def _frame(
    dataset: str,
    ranking: Rankings,
    values: dict[tuple[str, int], list[float]],
    condition: str,
) -> pd.DataFrame:
    unscored = [unscored_reason(ranking, i) for i in range(len(ranking.queries))]
    mask = np.array([text is not None for text in unscored])
    reasons = pd.Series(unscored, dtype="str")
    base = item_keys(dataset, ranking, condition)
    parts = [
        base.assign(
            metric=metric,
            k=k,
            value=np.where(mask, np.nan, np.asarray(found, dtype=float)),
            unscored=reasons.mask(~mask & np.isnan(found), BUDGET_NOT_FILLED),
        )
        for (metric, k), found in values.items()
    ]
    return pd.concat(parts, ignore_index=True)[ITEM_COLUMNS]


def unscored_reason(ranking: Rankings, position: int) -> str | None:
    """Return why recall of a query, by position, cannot be scored, or None."""
    if not ranking.queries[position].gold:
        return NO_GOLD
    if ranking.info.provenance == "none":
        return NO_PROVENANCE
    return ranking.unfit(position)


def item_keys(dataset: str, ranking: Rankings, condition: str) -> pd.DataFrame:
    """Return what tells items apart, one row per query: the first seven of `ITEM_COLUMNS`."""
    queries = ranking.queries
    return pd.DataFrame(
        {
            "dataset": dataset,
            "conversation": [query.conversation for query in queries],
            "query_id": [query.id for query in queries],
            "style": [query.style for query in queries],
            "category": pd.array([query.category for query in queries], dtype="Int8"),
            "system": ranking.system,
            "condition": condition,
        }
    )
