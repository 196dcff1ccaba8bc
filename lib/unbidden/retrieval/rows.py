"""Rankings and gold turns as long tables of ids, to be kept and exported; no text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unbidden.queries.build import Query
    from unbidden.retrieval.run import Rankings

RANKING_COLUMNS = [
    "conversation",
    "query_id",
    "style",
    "category",
    "system",
    "rank",
    "turn",
    "score",
]
GOLD_COLUMNS = ["conversation", "query_id", "style", "category", "turn"]


def ranking_rows(rankings: Iterable[Rankings]) -> pd.DataFrame:
    """Return one row per query, memory and source turn, in the order of the ranking.

    Returns
    -------
    DataFrame
        Columns `RANKING_COLUMNS`. ``rank`` counts memories from 1; a memory of several turns gives
        as many rows, one without a known source a row without a ``turn``. Queries that are
        unscored for a system have one row without a rank, those that brought nothing have rank 0.
    """
    rows: list[tuple[object, ...]] = []
    for ranking in rankings:
        for place, (query, hits) in enumerate(zip(ranking.queries, ranking.hits, strict=True)):
            key = (query.conversation, query.id, query.style, query.category, ranking.system)
            if ranking.unfit(place) is not None:
                rows.append((*key, None, None, None))
            elif not hits:
                rows.append((*key, 0, None, None))
            else:
                rows += [
                    (*key, rank, turn, hit.score)
                    for rank, hit in enumerate(hits, start=1)
                    for turn in (hit.sources or (None,))
                ]
    frame = pd.DataFrame(rows, columns=RANKING_COLUMNS)
    types = {"category": "Int8", "rank": "Int32", "turn": "str", "score": "float64"}
    return frame.astype(types)


def gold_rows(queries: Sequence[Query]) -> pd.DataFrame:
    """Return one row per query and gold turn, with the columns `GOLD_COLUMNS`."""
    rows = [
        (query.conversation, query.id, query.style, query.category, turn)
        for query in queries
        for turn in sorted(query.gold)
    ]
    return pd.DataFrame(rows, columns=GOLD_COLUMNS).astype({"category": "Int8"})
