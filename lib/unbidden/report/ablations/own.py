"""What each part of our own system brings, by leaving it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.errors import ConfigError, closest
from unbidden.report.ablations.curves import DRAWN
from unbidden.report.retrieval.variants import (
    HYPOTHESES,
    WHOLE,
    variant_differences,
    variant_matrix,
)
from unbidden.retrieval.variants import retrieve_variants, variant_items

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.config import AblationsConfig
    from unbidden.corpus.models import Corpus
    from unbidden.queries.build import Query


def own_items(
    corpus: Corpus, queries: Sequence[Query], config: AblationsConfig
) -> pd.DataFrame | None:
    """Return items of `unbidden` with the parts the config names left out; None if it names none.

    Asked plainly, implied and composed; the other styles tell no part from another.

    Raises
    ------
    ConfigError
        If an ablation is unknown.
    """
    # Late: a library of the system's warns of missing widgets before a page can say not to.
    from unbidden.memory.cued import ABLATIONS

    if not config.own_parts:
        return None
    names = list(dict.fromkeys([WHOLE, *config.own_parts]))
    for name in names:
        if name not in ABLATIONS:
            raise ConfigError(
                f"unknown ablation {name!r} of our own system",
                expected=closest(name, ABLATIONS),
                next_step="correct the parameter `own_parts`",
            )
    asked = [query for query in queries if query.style in DRAWN] or list(queries)
    found = retrieve_variants(
        corpus,
        asked,
        "unbidden",
        {name: ABLATIONS[name] for name in names},
        depth=config.top_k,
        protocol=config.protocol,
        embedder=config.embedder,
    )
    items = variant_items(corpus.name, found, ks=[config.top_k])
    return items[items["metric"] == "recall"].reset_index(drop=True)


def own_differences(items: pd.DataFrame | None, k: int, *, seed: int = 0) -> pd.DataFrame:
    """Return the paired difference of each ablation from the whole, by style."""
    return pd.DataFrame() if items is None else variant_differences(items, k, seed=seed)


def shown_own(items: pd.DataFrame | None, k: int, *, seed: int = 0) -> pd.DataFrame:
    """Return recall of each ablation and style, its change, and the hypothesis it tests."""
    if items is None:
        return pd.DataFrame()
    shown = variant_matrix(items, k, seed=seed)
    shown["tests that"] = [HYPOTHESES.get(name, "–") for name in shown["variant"]]
    return shown
