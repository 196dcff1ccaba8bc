"""Dense search: cosine of sentence vectors, exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unbidden.memory.embed import MINILM, Embedder
from unbidden.memory.embed import embedder as named_embedder
from unbidden.memory.nearest import INDICES, IndexName, index_of
from unbidden.memory.protocol import IngestReport, SystemInfo
from unbidden.memory.units import Protocol, TurnUnit, one_of, turn_units, unit_hits

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from unbidden.corpus.models import Conversation
    from unbidden.memory.nearest import Index
    from unbidden.memory.protocol import Retrieved


class Dense:
    """Cosine similarity of all-MiniLM-L6-v2 vectors over turns (LoCoMo-Conv section 4).

    A conversation has hundreds of turns, so one exact matrix product serves; equal scores keep
    conversation order. Another `index` is for very many more.

    Parameters
    ----------
    protocol : {"paper", "repaired"}
        Text form of a turn.
    embedder : str or Embedder
        See `unbidden.memory.embed.embedder`.
    index : {"exact", "bits", "usearch"}
        See `unbidden.memory.nearest`; all but "exact" may miss some of the nearest.
    """

    info = SystemInfo(
        name="dense",
        paper="Reimers and Gurevych 2019; as in LoCoMo-Conv (arXiv 2609.03467)",
        needs_llm=False,
        provenance="exact",
        licence="Apache-2.0",
    )

    def __init__(
        self,
        *,
        protocol: Protocol = "paper",
        embedder: str | Embedder = MINILM,
        index: IndexName = "exact",
    ) -> None:
        one_of("index", index, INDICES)
        self.protocol, self.index_name = protocol, index
        self.embedder = named_embedder(embedder) if isinstance(embedder, str) else embedder
        self.units: list[TurnUnit] = []
        self._queries: dict[str, NDArray[np.float32]] = {}
        self._index: Index

    def prepare(self, conversations: Sequence[Conversation], queries: Sequence[str]) -> None:
        """Encode all turns and queries in one call."""
        texts = [unit.text for item in conversations for unit in turn_units(item, self.protocol)]
        vectors = self.embedder.encode([*texts, *queries])
        self._queries = dict(zip(queries, vectors[len(texts) :], strict=True))

    def ingest(self, conversation: Conversation) -> IngestReport:
        """Encode every turn of a conversation."""
        self.units = turn_units(conversation, self.protocol)
        matrix = self.embedder.encode([unit.text for unit in self.units])
        self._index = index_of(self.index_name, matrix)
        return IngestReport(len(self.units), len(self.units))

    def ranking(
        self, query: str, k: int | None = None
    ) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return positions of all turns, or the `k` nearest, nearest first, and their cosines."""
        vector = self._queries.get(query)
        if vector is None:
            vector = self.embedder.encode([query])[0]
        return self._index.search(vector, k)

    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return the `k` turns nearest to a query."""
        return unit_hits(self.units, *self.ranking(query, k), k=k)
