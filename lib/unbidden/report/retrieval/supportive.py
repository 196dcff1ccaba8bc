"""The supportive layer of a data set, and what retrieval finds of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.corpus.load import dialog_files
from unbidden.queries.build import build_queries
from unbidden.queries.release import DialogFile
from unbidden.queries.supportive.file import supportive_of_samples
from unbidden.queries.supportive.layer import Layer
from unbidden.queries.supportive.tables import layer_recall
from unbidden.retrieval import retrieve
from unbidden.retrieval.score import turn_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Corpus


def layer_of(dataset: str, corpus: Corpus) -> Layer | None:
    """Return the supportive turns that a data set's files list, or None if they list none."""
    wanted = {conversation.id for conversation in corpus.conversations}
    turns = {}
    for path in dialog_files(dataset):
        file = DialogFile.read(path)
        layer = supportive_of_samples(file.raw, file.conversations, path.name)
        turns.update({key: items for key, items in layer.turns.items() if key[0] in wanted})
    return Layer(turns) if any(turns.values()) else None


def supportive_recall(
    corpus: Corpus, layer: Layer, systems: Sequence[str], *, k: int
) -> pd.DataFrame:
    """Return recall of gold and supportive turns by implicit queries, one row per query.

    Returns
    -------
    DataFrame
        As `unbidden.queries.supportive.tables.layer_recall`, with a column ``system``.
    """
    listed = {key[0] for key, items in layer.turns.items() if items}
    queries = [
        query
        for query in build_queries(corpus, styles=["implicit"])
        if query.conversation in listed and query.category != 5
    ]
    frames = []
    for ranking in retrieve(corpus, queries, systems, depth=k):
        found = [turn_order(hits) for hits in ranking.hits]
        frames.append(layer_recall(queries, found, layer).assign(system=ranking.system))
    return pd.concat(frames, ignore_index=True)
