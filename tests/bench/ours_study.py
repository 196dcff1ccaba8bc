"""The same study as this project does it: every metric, K, budget and table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.bench.reference_study import KS
from unbidden.report.retrieval.tables import RetrievalReport
from unbidden.report.summary import means, select
from unbidden.retrieval import cost_items, retrieve, score_rankings, text_recall_items

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from unbidden.corpus.models import Corpus
    from unbidden.queries.build import Query

SYSTEMS = ("bm25", "dense", "rrf")


def study(
    corpus: Corpus, queries: Sequence[Query], embedder: object
) -> dict[tuple[str, str, int], float]:
    """Return mean recall by system, style and K, having made the chapter's tables too."""
    rankings = retrieve(corpus, queries, SYSTEMS, depth=max(KS), embedder=embedder)
    items = score_rankings(
        corpus.name, rankings, ks=KS, turn_budgets=(5, 10, 20, 50), token_budgets=(600,)
    )
    text_recall_items(corpus, rankings, ks=[10])
    cost_items(corpus.name, rankings, ks=[10])
    tables(items)
    rows = means(select(items, "recall", answerable=False), ["system", "style", "k"])
    return {(r.system, r.style, r.k): float(r.mean) for r in rows.itertuples()}


def tables(items: pd.DataFrame) -> None:
    """Make the tables and figures of the retrieval chapter."""
    report = RetrievalReport(items, 10)
    report.figure()
    report.k_figure()
    report.same_conversations().drop_table("a", "a")
    for table in ("recall", "drop", "pairs", "bootstrap", "budget", "category", "conversation"):
        getattr(report, f"{table}_table")("a", "a")
