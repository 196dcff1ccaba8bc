"""Scoring rankings by turn ids into the study's long table of items.

Set measures and rank measures are those of `ir-measures`, which a test compares them with; all K
are counted in one pass. A memory counts at its rank; it brings all its source turns. A system
without provenance, a query without gold, and a search that failed are unscored with the reason,
never 0.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import log2
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

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

AT_K = ("recall", "precision", "f1", "mrr", "ndcg", "all_hit")
"""Metrics over the first K memories."""
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
        values = _values(ranking, ks, turn_budgets, token_budgets)
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


def _values(
    ranking: Rankings,
    ks: Sequence[int],
    turn_budgets: Sequence[int],
    token_budgets: Sequence[int],
) -> dict[tuple[str, int], list[float]]:
    """Return the value of each query, in order, by (metric, K or budget)."""
    values: dict[tuple[str, int], list[float]] = {
        **{(metric, k): [] for k in ks for metric in AT_K},
        **{("recall_turns", budget): [] for budget in turn_budgets},
        **{("recall_tokens", budget): [] for budget in token_budgets},
    }
    tokens: dict[str, int] = {}
    for query, hits in zip(ranking.queries, ranking.hits, strict=True):
        trace = _trace(query, hits)
        for k in ks:
            for metric, value in zip(AT_K, trace.at(k), strict=True):
                values[metric, k].append(value)
        for budget in turn_budgets:
            value = _within(trace, trace.turns, budget, ranking.depth)
            values["recall_turns", budget].append(value)
        shown = _shown(hits, tokens) if token_budgets else []
        for budget in token_budgets:
            value = _within(trace, shown, budget, ranking.depth)
            values["recall_tokens", budget].append(value)
    return values


@dataclass(frozen=True, slots=True)
class _Trace:
    """What a ranking holds after each of its memories.

    Attributes
    ----------
    gold : int
        Gold turns of the query.
    turns : list of int
        Distinct turns after each memory.
    found : list of int
        Gold turns among the first so many distinct turns, from none.
    gain : list of float
        Discounted gain of the first so many distinct turns, from none.
    first : int or None
        Rank of the first gold turn among the distinct turns, from 1.
    """

    gold: int
    turns: list[int]
    found: list[int]
    gain: list[float]
    first: int | None

    def at(self, k: int) -> tuple[float, ...]:
        """Return the metrics of `AT_K` over the first `k` memories."""
        n = self.turns[min(k, len(self.turns)) - 1] if self.turns else 0
        found = self.found[n]
        recall = self.recall(n)
        precision = found / n if n else 0.0
        f1 = 2 * recall * precision / (recall + precision) if found else 0.0
        mrr = 1 / self.first if self.first is not None and self.first <= n else 0.0
        ndcg = self.gain[n] / _ideal(self.gold) if self.gold else 0.0
        return recall, precision, f1, mrr, ndcg, float(found == self.gold)

    def recall(self, turns: int) -> float:
        """Return the share of gold turns among the first so many distinct turns."""
        return self.found[turns] / self.gold if self.gold else 0.0


def _trace(query: Query, hits: Sequence[Retrieved]) -> _Trace:
    seen: set[TurnId] = set()
    turns, found, gain, first = [], [0], [0.0], None
    for hit in hits:
        for source in hit.sources:
            if source in seen:
                continue
            seen.add(source)
            relevant = source in query.gold
            if relevant and first is None:
                first = len(seen)
            found.append(found[-1] + relevant)
            gain.append(gain[-1] + relevant / log2(len(seen) + 1))
        turns.append(len(seen))
    return _Trace(len(query.gold), turns, found, gain, first)


@lru_cache(maxsize=4096)
def _ideal(gold: int) -> float:
    """Return the discounted gain of a ranking that begins with all gold turns."""
    return sum(1 / log2(rank + 1) for rank in range(1, gold + 1))


def _shown(hits: Sequence[Retrieved], tokens: dict[str, int]) -> list[int]:
    """Return the tokens shown after each memory."""
    for hit in hits:
        if hit.text not in tokens:
            tokens[hit.text] = count_tokens(hit.text)
    return list(accumulate(tokens[hit.text] for hit in hits))


def _within(trace: _Trace, costs: Sequence[int], budget: int, depth: int) -> float:
    """Return recall over the memories that fit a budget; NaN if more could have fitted."""
    fitting = bisect_right(costs, budget)
    value = trace.recall(trace.turns[fitting - 1]) if fitting else 0.0
    cut_short = fitting == len(costs) == depth and costs[-1] < budget
    return float("nan") if cut_short and value < 1 else value


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
