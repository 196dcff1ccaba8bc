"""Measuring our own system part by part, and keeping the numbers (the guide, "Our own system").

On data of one's own, or on the real conversation again::

    from unbidden.report.own import measure
    measure(run="own", dataset="locomo-conv", conversations=["conv-26"])

writes ``results/runs/own/04_ablations``; ``unbidden record own own`` keeps it, without any text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unbidden.config import RetrievalConfig
from unbidden.corpus import load_corpus
from unbidden.memory.cued import ABLATIONS
from unbidden.queries.build import build_queries
from unbidden.report.folder import RunFolder
from unbidden.report.retrieval.variants import (
    WHOLE,
    variant_differences,
    variant_means,
    variant_table,
)
from unbidden.report.tables import points, with_interval
from unbidden.retrieval import retrieve
from unbidden.retrieval.variants import retrieve_variants, variant_items

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from unbidden.corpus.models import Corpus

BASELINES = ("rrf", "dense")
CHAPTER = "04_ablations"


def measure(**parameters: object) -> RunFolder:
    """Run `unbidden`, its ablations and two baselines; write items, tables and numbers.

    Parameters
    ----------
    **parameters
        Of `RetrievalConfig`, without `chapter` and `systems`.
    """
    config = RetrievalConfig.of(chapter=CHAPTER, systems=(*BASELINES, "unbidden"), **parameters)
    corpus = load_corpus(config.dataset, conversations=config.conversations)
    queries = build_queries(
        corpus, styles=config.styles, evidence=config.evidence, limit=config.limit
    )
    options: dict[str, Any] = {"protocol": config.protocol, "embedder": config.embedder}
    baselines = retrieve(corpus, queries, BASELINES, depth=max(config.all_ks), **options)
    found = retrieve_variants(
        corpus, queries, "unbidden", ABLATIONS, depth=max(config.all_ks), **options
    )
    named = {ranking.system: ranking for ranking in baselines}
    return keep(config, corpus, variant_items(corpus.name, {**named, **found}, ks=config.all_ks))


def keep(config: RetrievalConfig, corpus: Corpus, items: pd.DataFrame) -> RunFolder:
    """Write the files of a measured run and return its folder."""
    folder = RunFolder(config)
    folder.items(items)
    tables = {
        "own_recall": variant_means(items, config.top_k),
        "own_changes": variant_differences(items, config.top_k, seed=config.seed),
        "own_against_rrf": variant_differences(items, config.top_k, whole="rrf", seed=config.seed),
    }
    for name, table in tables.items():
        # The sources of cited numbers find a row by the name in the number's own.
        folder.table(name, table.assign(name=table["variant"].map(_name)))
    folder.table("own_shown", variant_table(items, config.top_k, seed=config.seed))
    folder.numbers.update(own_numbers(items, config.top_k, seed=config.seed))
    folder.finish(corpus)
    return folder


def own_numbers(items: pd.DataFrame, k: int, *, seed: int = 0) -> dict[str, str]:
    """Return the numbers the guide cites, as text, in percentage points.

    Names, with blanks of variants as underscores: ``recall_STYLE_VARIANT``; ``gain_STYLE``, of the
    whole system over `rrf` with its interval; ``change_STYLE_VARIANT``, of a variant from the
    whole; ``n_STYLE``.
    """
    numbers = {"k": str(k)}
    for row in variant_means(items, k).to_dict("records"):
        numbers[f"recall_{row['style']}_{_name(row['variant'])}"] = points(row["mean"])
        numbers[f"n_{row['style']}"] = str(row["n"])
    gains = variant_differences(items, k, whole="rrf", seed=seed)
    for row in gains[gains["variant"] == WHOLE].to_dict("records"):
        numbers[f"gain_{row['style']}"] = _change(row)
    for row in variant_differences(items, k, seed=seed).to_dict("records"):
        numbers[f"change_{row['style']}_{_name(row['variant'])}"] = _change(row)
    return numbers


def _change(row: Mapping[Any, Any]) -> str:
    return with_interval(row["difference"], row["low"], row["high"])


def _name(variant: object) -> str:
    return str(variant).replace(" ", "_")
