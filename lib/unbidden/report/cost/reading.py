"""What a reply would read: the whole history, or the turns that a search finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.memory.tokens import count_tokens
from unbidden.memory.units import turn_units
from unbidden.retrieval import cost_items, retrieve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Corpus
    from unbidden.queries.build import Query
    from unbidden.report.folder import RunFolder
    from unbidden.report.tables import NumberedTable


def reading_costs(corpus: Corpus, queries: Sequence[Query], *, k: int) -> pd.DataFrame:
    """Return what a reply would read, by conversation: the whole history, or `k` turns found.

    Returns
    -------
    DataFrame
        Columns ``conversation, turns, history_tokens, shown_tokens, share``; tokens by
        `unbidden.memory.tokens.count_tokens`, those shown as the mean over queries to word search.
    """
    items = cost_items(corpus.name, retrieve(corpus, queries, ["bm25"], depth=k), ks=[k])
    shown = items[items["metric"] == "tokens_shown"].groupby("conversation")["count"].mean()
    rows = []
    for conversation in corpus.conversations:
        if conversation.id not in shown.index:
            continue
        history = sum(count_tokens(unit.text) for unit in turn_units(conversation))
        tokens = float(shown[conversation.id])
        rows.append(
            {
                "conversation": conversation.id,
                "turns": len(conversation.turns),
                "history_tokens": history,
                "shown_tokens": tokens,
                "share": tokens / history,
            }
        )
    return pd.DataFrame(rows)


def reading_table(folder: RunFolder, frame: pd.DataFrame, name: str, caption: str) -> NumberedTable:
    """Return `reading_costs` for readers."""
    shown = pd.DataFrame(
        {
            "conversation": frame["conversation"],
            "turns": frame["turns"],
            "tokens of the whole history": [f"{v:,}" for v in frame["history_tokens"]],
            "tokens shown": [f"{v:,.0f}" for v in frame["shown_tokens"]],
            "share": [f"{100 * v:.1f} %" for v in frame["share"]],
        }
    )
    return folder.show(name, frame, shown, caption)
