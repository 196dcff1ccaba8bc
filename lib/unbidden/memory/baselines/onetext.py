"""What systems whose memory is one text, rewritten by a model, have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from unbidden.memory.modelled import ModelledSystem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Conversation
    from unbidden.llm import LLM
    from unbidden.memory.protocol import Retrieved
    from unbidden.memory.records import Encodes, MemoryRecord, RecordStore


class OneText(ModelledSystem):
    """Base of RSum-LLM and COMEDY.

    A model has rewritten everything into one text, which sentence comes from where is lost. By the
    rule for merges the text's sources are all turns read so far, and any recall measured with them
    would be 1 whatever the text says. So the sources stay in `records()`, where a page can show
    which sessions were lost, and a search returns none: recall is not available.

    Parameters
    ----------
    history_sources : bool
        Return those turns after all; the provenance is then "batch".
    """

    def __init__(
        self,
        *,
        llm: LLM | None,
        embedder: str | Encodes,
        attempts: int,
        history_sources: bool,
        ranked: bool,
    ) -> None:
        super().__init__(llm=llm, embedder=embedder, attempts=attempts)
        self.history_sources, self._ranked = history_sources, ranked
        if history_sources:
            self.info = replace(self.info, provenance="batch")

    def prepare(self, conversations: Sequence[Conversation], queries: Sequence[str]) -> None:
        """Encode all queries, if they are compared with anything."""
        if self._ranked:
            super().prepare(conversations, queries)

    def shown(self, record: MemoryRecord, score: float) -> Retrieved:
        """Return a memory as a search result, with sources if they are wanted."""
        found = record.retrieved(score)
        return found if self.history_sources else replace(found, sources=())

    def in_order(self, store: RecordStore, k: int) -> list[Retrieved]:
        """Return the first `k` memories in order of making."""
        records = list(store)[: max(k, 0)]
        return [self.shown(record, float(len(records) - i)) for i, record in enumerate(records)]
