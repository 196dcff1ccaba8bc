"""Recall under other thresholds, for those that were set for other embedders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.retrieval.run import retrieve
from unbidden.retrieval.score import score_rankings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from unbidden.corpus.models import Corpus
    from unbidden.queries.build import Query
    from unbidden.retrieval.run import Rankings, Rules

THRESHOLDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "memora": {"query_floor": (0.0, 0.1, 0.25, 0.4, 0.5)},
    "mem0-v2": {"floor": (None, 0.1, 0.25, 0.4)},
    "mem0": {"floor": (None, 0.1, 0.25, 0.4)},
    "anchormem": {"use_events": (True, False)},
}
"""Thresholds of reading alone: they change no stored memory, so no call is made for them.

Memora's floor of 0.4 was set for an embedder whose cosines are higher than MiniLM's; mem0's floor
of 0.1 is that of its release. AnchorMem's limit for grouping facts changes what is stored, so
here it is all of its events or none of them.
"""


def threshold_recall(
    corpus: Corpus,
    queries: Sequence[Query],
    systems: Sequence[str],
    *,
    k: int,
    rules: Rules,
    per_system: Mapping[str, Mapping[str, object]],
    **options: Any,
) -> pd.DataFrame:
    """Return mean recall at K by system, threshold, value and style; answerable queries only.

    Returns
    -------
    DataFrame
        Columns ``system, option, value, style, recall, n, empty`` (queries that brought nothing).
    """
    rows = []
    for system in systems:
        for option, values in THRESHOLDS.get(system, {}).items():
            for value in values:
                own = {system: {**per_system.get(system, {}), option: value}}
                [ranking] = retrieve(
                    corpus, queries, [system], depth=k, rules=rules, per_system=own, **options
                )
                shown = "none" if value is None else str(value)
                rows += [
                    {"system": system, "option": option, "value": shown, **found}
                    for found in _by_style(corpus.name, ranking, k)
                ]
    columns = ["system", "option", "value", "style", "recall", "n", "empty"]
    return pd.DataFrame(rows, columns=columns)


def _by_style(dataset: str, ranking: Rankings, k: int) -> Iterator[dict[str, Any]]:
    items = score_rankings(dataset, [ranking], ks=[k])
    items = items[items["metric"] == "recall"].assign(empty=[not hits for hits in ranking.hits])
    items = items[items["value"].notna() & items["category"].ne(5).fillna(True)]
    for style, group in items.groupby("style", sort=False):
        yield {
            "style": style,
            "recall": group["value"].mean(),
            "n": len(group),
            "empty": int(group["empty"].sum()),
        }
