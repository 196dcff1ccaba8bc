"""What each system returned, with the memories' texts: kept with a run, never recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unbidden.retrieval.run import Rankings

RETURNED_COLUMNS = [
    *("conversation", "query_id", "style", "system", "rank", "sources", "text", "score"),
    "unscored",
]


def returned_items(rankings: Sequence[Rankings], *, k: int) -> pd.DataFrame:
    """Return one row per query, system and memory among the first `k`.

    A query for which a system returned nothing, or is unscored, has one row without a rank. The
    texts are the data's, or made from it: the table stays among the files of a run, which are not
    committed.

    Returns
    -------
    DataFrame
        Columns `RETURNED_COLUMNS`; `rank` from 1, `sources` a list of turn ids.
    """
    rows = [row for ranking in rankings for row in _rows(ranking, k)]
    return pd.DataFrame(rows, columns=RETURNED_COLUMNS).astype({"rank": "Int64"})


def _rows(ranking: Rankings, k: int) -> Iterator[dict[str, Any]]:
    for position, (query, hits) in enumerate(zip(ranking.queries, ranking.hits, strict=True)):
        head = {
            "conversation": query.conversation,
            "query_id": query.id,
            "style": query.style,
            "system": ranking.system,
        }
        reason = ranking.unfit(position)
        if reason or not hits:
            yield {**head, "rank": None, "sources": [], "unscored": reason}
            continue
        for rank, hit in enumerate(hits[:k], 1):
            yield {
                **head,
                "rank": rank,
                "sources": list(hit.sources),
                "text": hit.text,
                "score": hit.score,
            }
