"""The chapter on retrieval, from its parameters: how systems are made, and all that is scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.memory.presets import all_options
from unbidden.retrieval import score_rankings, text_recall_items
from unbidden.retrieval.metrics import own_metric_items

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.config import RetrievalConfig
    from unbidden.corpus.models import Corpus
    from unbidden.llm import LLM
    from unbidden.retrieval import Rankings


def options_of(config: RetrievalConfig, llm: LLM) -> dict[str, Any]:
    """Return what `retrieve`, `plan_unrecorded` and `threshold_recall` make the systems with."""
    return {
        "per_system": all_options(config.systems, config.settings, config.system_options),
        "protocol": config.protocol,
        "embedder": config.embedder,
        "llm": llm,
    }


def all_items(
    config: RetrievalConfig, corpus: Corpus, rankings: Sequence[Rankings]
) -> pd.DataFrame:
    """Return every score of the chapter: by turn ids, by words, and by the reader's own metrics.

    Returns
    -------
    DataFrame
        Columns `unbidden.retrieval.score.ITEM_COLUMNS`, a row per query, system, metric and K.
    """
    condition = config.protocol
    parts = [
        score_rankings(
            corpus.name,
            rankings,
            ks=config.all_ks,
            turn_budgets=config.turn_budgets,
            token_budgets=config.token_budgets,
            condition=condition,
        ),
        text_recall_items(corpus, rankings, ks=[config.top_k], condition=condition),
        own_metric_items(
            corpus.name, rankings, config.metrics, ks=config.all_ks, condition=condition
        ),
    ]
    return pd.concat([part for part in parts if len(part)], ignore_index=True)
