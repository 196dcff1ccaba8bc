"""What a ranking costs its reader: turns covered and tokens shown at each K.

One memory is one turn in one system and a whole session in another, so recall at K alone favours
coarse memories. These are counts, not shares, and have a table of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from unbidden.memory.tokens import count_tokens
from unbidden.retrieval.score import NO_PROVENANCE, check_cutoffs, item_keys, turn_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unbidden.retrieval.run import Rankings

COST_COLUMNS = [
    *("dataset", "conversation", "query_id", "style", "category", "system", "condition"),
    *("metric", "k", "count", "unscored"),
]
"""Columns of `cost_items`: those of the items, with a count in place of a share."""


def cost_items(
    dataset: str,
    rankings: Iterable[Rankings],
    *,
    ks: Sequence[int],
    condition: str = "top_k",
) -> pd.DataFrame:
    """Return one row per query, system, metric and K.

    Metric ``memories_shown`` is the number of memories (at most K), ``turns_covered`` of distinct
    source turns and ``tokens_shown`` of tokens (`unbidden.memory.tokens.count_tokens`) in the
    first K memories. Queries without gold have a cost too. Where a system cannot name source
    turns, ``turns_covered`` is unscored with the reason.

    Raises
    ------
    ConfigError
        If a K is not positive or exceeds the depth that was retrieved.
    """
    frames = []
    tokens: dict[str, int] = {}
    for ranking in rankings:
        check_cutoffs(ranking, ks)
        for hits in ranking.hits:
            tokens.update(
                (hit.text, count_tokens(hit.text)) for hit in hits if hit.text not in tokens
            )
        known = ranking.info.provenance != "none"
        refused = [ranking.unfit(i) for i in range(len(ranking.queries))]
        base = item_keys(dataset, ranking, condition)
        for k in ks:
            first = [hits[:k] for hits in ranking.hits]
            counts = {
                "memories_shown": [float(len(hits)) for hits in first],
                "turns_covered": [
                    float(len(turn_order(hits))) if known else np.nan for hits in first
                ],
                "tokens_shown": [float(sum(tokens[hit.text] for hit in hits)) for hits in first],
            }
            for metric, values in counts.items():
                unknown = NO_PROVENANCE if metric == "turns_covered" and not known else None
                reasons = pd.Series([reason or unknown for reason in refused], dtype="str")
                found = np.where(reasons.isna(), values, np.nan)
                frames.append(base.assign(metric=metric, k=k, count=found, unscored=reasons))
    return pd.concat(frames, ignore_index=True)[COST_COLUMNS]
