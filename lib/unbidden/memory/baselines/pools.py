"""A pool of session summaries: read whole, or by similarity."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.memory.embed import MINILM
from unbidden.memory.modelled import ModelledSystem
from unbidden.memory.protocol import Retrieved, SystemInfo
from unbidden.memory.records import RecordStore, united
from unbidden.memory.summaries import SUMMARY_SOURCES, SummarySources, summarise
from unbidden.memory.units import one_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unbidden.corpus.models import Conversation
    from unbidden.llm import LLM
    from unbidden.memory.records import Encodes, MemoryRecord
    from unbidden.memory.summaries import SummaryMemory

PoolForm = Literal["ranked", "whole", "latest"]
POOL_FORMS: tuple[PoolForm, ...] = get_args(PoolForm)


class SummaryPool(ModelledSystem):
    """Base of the systems that hold the sentences of session summaries.

    Parameters
    ----------
    form : {"ranked", "whole", "latest"}
        What a search returns. "ranked": the `k` sentences nearest to the query. "whole": all of
        them as one memory, in time order, each session's under its date; its sources are all of
        theirs. "latest": the last `k`, last first.
    sources : {"batch", "cited"}
    captions, dates : bool
        See `unbidden.memory.summaries.summarise`.
    """

    def __init__(
        self,
        *,
        llm: LLM | None = None,
        embedder: str | Encodes = MINILM,
        attempts: int = 1,
        form: PoolForm = "ranked",
        sources: SummarySources = "batch",
        captions: bool = True,
        dates: bool = True,
    ) -> None:
        super().__init__(llm=llm, embedder=embedder, attempts=attempts)
        one_of("form", form, POOL_FORMS)
        one_of("sources", sources, SUMMARY_SOURCES)
        if sources == "cited":
            self.info = replace(self.info, provenance="cited")
        self.form, self.sources = form, sources
        self.captions, self.dates = captions, dates
        self.store = RecordStore(self.embedder)

    def build(self, conversation: Conversation) -> None:
        """Summarise all sessions and take in what each tells, in time order."""
        self.store = RecordStore(self.embedder)
        memories = summarise(
            conversation.sessions,
            self.calls,
            self.log,
            sources=self.sources,
            captions=self.captions,
            dates=self.dates,
        )
        for number, group in groupby(memories, key=lambda memory: memory.session):
            self.store.unit = f"session {number}"
            self.take_in(list(group))

    def take_in(self, new: Sequence[SummaryMemory]) -> None:
        """Store the sentences of one session."""
        for memory in new:
            self.add(memory)

    def add(self, memory: SummaryMemory) -> MemoryRecord:
        """Store one sentence."""
        return self.store.add(memory.text, memory.sources, kind="summary", time=memory.time)

    def stores(self) -> Sequence[RecordStore]:
        """Return the pool."""
        return [self.store]

    def prepare(self, conversations: Sequence[Conversation], queries: Sequence[str]) -> None:
        """Encode all queries, if they are compared with anything."""
        if self.form == "ranked":
            super().prepare(conversations, queries)

    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return sentences, or all of them as one memory; see `form`."""
        records = list(self.store)
        if k < 1 or not records:
            return []
        if self.form == "ranked":
            return [record.retrieved(score) for record, score in self.store.search(query, k)]
        if self.form == "latest":
            return [record.retrieved(float(record.order)) for record in reversed(records[-k:])]
        return [Retrieved(listed(records), united(*(r.sources for r in records)), 1.0)]


class MSCRetrieval(SummaryPool):
    """Session summaries by similarity (Xu et al. 2022), as THEANINE's Memory Retrieval.

    One call a session; its sentences are kept as they are, and a search returns the `k` nearest.
    THEANINE shows 6. Xu et al. summarise turn by turn with a trained model and search with a
    trained retriever; THEANINE, which we follow, asks a general model session by session and
    compares general sentence vectors.
    """

    info = SystemInfo(
        name="msc-retrieval",
        paper="Xu et al. 2022 (arXiv 2107.07567), as in THEANINE (arXiv 2406.10996)",
        needs_llm=True,
        provenance="batch",
        licence="Apache-2.0",
    )


class AllMemories(SummaryPool):
    """Every session summary at once, whatever is asked (All Memories in THEANINE).

    As in `FullHistory`, nothing is chosen and `k` has no meaning of its own: the pool is one
    memory, whose recall is 1 wherever a summary was written. ``form="latest"`` makes `k` the
    number of last sentences.
    """

    info = SystemInfo(
        name="all-memories",
        paper="All Memories in THEANINE (arXiv 2406.10996)",
        needs_llm=True,
        provenance="batch",
        licence="Apache-2.0",
    )

    def __init__(
        self,
        *,
        llm: LLM | None = None,
        embedder: str | Encodes = MINILM,
        attempts: int = 1,
        form: PoolForm = "whole",
        sources: SummarySources = "batch",
        captions: bool = True,
        dates: bool = True,
    ) -> None:
        super().__init__(
            llm=llm,
            embedder=embedder,
            attempts=attempts,
            form=form,
            sources=sources,
            captions=captions,
            dates=dates,
        )


def listed(records: Iterable[MemoryRecord]) -> str:
    """Return sentences as one text, those of a dated session under its date."""
    lines: list[str] = []
    for time, group in groupby(records, key=lambda record: record.time):
        lines += [f"DATE: {time:%Y-%m-%d}"] if time else []
        lines += [record.text for record in group]
    return "\n".join(lines)
