"""Hybrid search: word search and dense search fused by rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unbidden.memory.bm25 import BM25
from unbidden.memory.dense import Dense
from unbidden.memory.embed import MINILM, Embedder
from unbidden.memory.fusion import fused_positions
from unbidden.memory.protocol import IngestReport, SystemInfo
from unbidden.memory.units import unit_hits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Conversation
    from unbidden.memory.protocol import Retrieved
    from unbidden.memory.tokens import TokeniserName
    from unbidden.memory.units import Protocol


class RRF:
    """Reciprocal rank fusion of `bm25` and `dense` over whole rankings.

    Neither paper runs it; it is the plain hybrid a practitioner would try first.

    Parameters
    ----------
    constant : float
        The fusion constant; 60 as in Cormack, Clarke and Buettcher 2009.
    """

    info = SystemInfo(
        name="rrf",
        paper="Cormack, Clarke and Buettcher 2009",
        needs_llm=False,
        provenance="exact",
        licence="Apache-2.0",
    )

    def __init__(
        self,
        *,
        protocol: Protocol = "paper",
        embedder: str | Embedder = MINILM,
        tokeniser: TokeniserName = "auto",
        constant: float = 60.0,
    ) -> None:
        self.constant = constant
        self._dense = Dense(protocol=protocol, embedder=embedder)
        self._bm25 = BM25(protocol=protocol, tokeniser=tokeniser)

    def prepare(self, conversations: Sequence[Conversation], queries: Sequence[str]) -> None:
        """Encode all turns and queries in one call."""
        self._dense.prepare(conversations, queries)

    def ingest(self, conversation: Conversation) -> IngestReport:
        """Index every turn of a conversation in both ways."""
        self._bm25.ingest(conversation)
        return self._dense.ingest(conversation)

    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return the `k` turns with the best fused rank."""
        positions = [system.ranking(query)[0] for system in (self._bm25, self._dense)]
        units = self._dense.units
        best, scores = fused_positions(positions, len(units), k, constant=self.constant)
        return unit_hits(units, best, scores, k=k)
