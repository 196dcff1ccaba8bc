"""Retrievers beside the one THEANINE used: its released top 6 for 1,135 queries as the oracle.

That tells how far a local retriever may stand in for text-embedding-3-small, without any call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from unbidden.errors import ConfigError, closest
from unbidden.memory.embed import MINILM
from unbidden.memory.embed import embedder as named_embedder
from unbidden.memory.tokens import paper_tokens
from unbidden.reply.published import DATASETS, Dataset
from unbidden.reply.released_memory import LISTED, EpisodeQueries, released_queries

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


def _dense(episodes: Sequence[EpisodeQueries], embedder: str) -> list[NDArray[np.float64]]:
    encode = named_embedder(embedder).encode
    texts = [
        text for item in episodes for text in (*item.memories.values(), *item.queries.values())
    ]
    vectors = dict(zip(texts, encode(texts), strict=True))
    return [
        np.stack([vectors[text] for text in item.queries.values()]).astype(np.float64)
        @ np.stack([vectors[text] for text in item.memories.values()]).T
        for item in episodes
    ]


def _bm25(episodes: Sequence[EpisodeQueries], embedder: str) -> list[NDArray[np.float64]]:
    # Imported late: the library warns of missing widgets, which a chapter silences first.
    from unbidden.memory.bm25 import OkapiIndex

    del embedder
    found = []
    for item in episodes:
        index = OkapiIndex([paper_tokens(text) for text in item.memories.values()])
        found.append(np.stack([index.scores(paper_tokens(q)) for q in item.queries.values()]))
    return found


def _tfidf(episodes: Sequence[EpisodeQueries], embedder: str) -> list[NDArray[np.float64]]:
    del embedder
    from sklearn.feature_extraction.text import TfidfVectorizer

    found = []
    for item in episodes:
        vectors = TfidfVectorizer(stop_words="english")
        pool = vectors.fit_transform(item.memories.values())
        queries = vectors.transform(item.queries.values())
        found.append(np.asarray((queries @ pool.T).toarray(), dtype=np.float64))
    return found


_RETRIEVERS: dict[str, Callable[[Sequence[EpisodeQueries], str], list[NDArray[np.float64]]]] = {
    "dense": _dense,
    "bm25": _bm25,
    "tfidf": _tfidf,
}
RETRIEVERS = tuple(_RETRIEVERS)


def retriever_items(
    datasets: Sequence[Dataset] = DATASETS,
    retrievers: Sequence[str] = RETRIEVERS,
    *,
    embedder: str = MINILM,
    last: int | None = None,
) -> pd.DataFrame:
    """Return how far each retriever agrees with the released rankings, one row a query.

    Metrics: ``overlap`` at 6 and 3 (share of the released first six, or three, that are among
    ours) and ``top1`` (whether the first is the same). The system "chance" is what drawing
    memories at random would give on average.

    Parameters
    ----------
    last : int, optional
        Ask with the last so many lines only. The release asks with the whole talk; MiniLM reads
        256 tokens and so never sees the newest lines of a long one, which this switch shows.

    Returns
    -------
    DataFrame
        Columns ``dataset, conversation, query_id, system, metric, k, value, unscored``; a
        retriever whose package is missing is unscored with the reason.

    Raises
    ------
    ConfigError
        If a retriever is unknown.
    """
    for name in retrievers:
        if name not in _RETRIEVERS:
            raise ConfigError(f"unknown retriever {name!r}", expected=closest(name, RETRIEVERS))
    rows: list[dict[str, Any]] = []
    for dataset in datasets:
        episodes = released_queries(dataset, last=last)
        for name in retrievers:
            try:
                scores = _RETRIEVERS[name](episodes, embedder)
            except (ImportError, ConfigError) as error:
                rows += _unscored(dataset, episodes, name, str(error).splitlines()[0])
                continue
            rows += _scored(dataset, episodes, name, scores)
        rows += _chance(dataset, episodes)
    return pd.DataFrame(rows)


_CUTOFFS = (("overlap", 6), ("overlap", 3), ("top1", 1))


def _scored(
    dataset: Dataset,
    episodes: Sequence[EpisodeQueries],
    name: str,
    scores: Sequence[NDArray[np.float64]],
) -> list[dict[str, Any]]:
    rows = []
    for item, table in zip(episodes, scores, strict=True):
        ids = list(item.memories)
        for query, line in zip(item.queries, table, strict=True):
            ours = [ids[i] for i in np.argsort(-line, kind="stable")[:LISTED]]
            theirs = item.listed[query]
            for metric, k in _CUTOFFS:
                value = len({*ours[:k]} & {*theirs[:k]}) / k
                rows.append(_row(dataset, item, query, name, metric, k, value, None))
    return rows


def _unscored(
    dataset: Dataset, episodes: Sequence[EpisodeQueries], name: str, why: str
) -> list[dict[str, Any]]:
    return [
        _row(dataset, item, query, name, metric, k, np.nan, why)
        for item in episodes
        for query in item.queries
        for metric, k in _CUTOFFS
    ]


def _chance(dataset: Dataset, episodes: Sequence[EpisodeQueries]) -> list[dict[str, Any]]:
    return [
        _row(dataset, item, query, "chance", metric, k, k / len(item.memories), None)
        for item in episodes
        for query in item.queries
        for metric, k in _CUTOFFS
    ]


def _row(
    dataset: Dataset,
    item: EpisodeQueries,
    query: str,
    name: str,
    metric: str,
    k: int,
    value: float,
    unscored: str | None,
) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "conversation": item.conversation,
        "query_id": query,
        "system": name,
        "metric": metric,
        "k": k,
        "value": value,
        "unscored": unscored,
    }
