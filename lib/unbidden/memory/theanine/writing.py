"""Growing the memory graph session by session (THEANINE, Algorithm 1)."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from unbidden.memory.records import RecordStore
from unbidden.memory.theanine.graph import MemoryGraph
from unbidden.memory.theanine.linking import Candidate, links_of_session

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unbidden.memory.modelled import IngestLog
    from unbidden.memory.records import Encodes
    from unbidden.memory.summaries import SummaryMemory
    from unbidden.memory.theanine.asking import RelationAsker
    from unbidden.memory.theanine.linking import LinkRules


class Writer:
    """Adds sessions to a graph, and their memories to a store that can be searched.

    Attributes
    ----------
    graph : MemoryGraph
    store : RecordStore
        One record for each memory; its links are the records of the older memories it hangs on.
    memories : dict of str to SummaryMemory
        By record id.
    """

    def __init__(self, rules: LinkRules, embedder: Encodes, log: IngestLog) -> None:
        self.rules, self.log = rules, log
        self.graph = MemoryGraph()
        self.store = RecordStore(embedder, "m")
        self.memories: dict[str, SummaryMemory] = {}
        self._records: dict[str, str] = {}

    def write(self, memories: Iterable[SummaryMemory], ask: RelationAsker) -> None:
        """Add the memories of a conversation, session after session.

        Events of the log: ``pairs`` (a new memory and one of its candidates), ``pairs_asked``,
        ``pairs_saved`` (not asked, because of early stop), ``links``, and what `ask` counts. A new
        memory with a candidate is a unit where a model is asked.
        """
        in_time = sorted(memories, key=lambda memory: memory.session)
        for session, group in groupby(in_time, key=lambda memory: memory.session):
            self.store.unit = f"session {session}"
            self._write_session(list(group), ask)

    def _write_session(self, new: Sequence[SummaryMemory], ask: RelationAsker) -> None:
        events, asked = self.log.events, self.log.events["pairs_asked"]
        nearest = self.store.search_many([memory.text for memory in new], self.rules.candidates)
        found = [
            (memory, [Candidate(self.memories[record.id], cosine) for record, cosine in near])
            for memory, near in zip(new, nearest, strict=True)
        ]
        pairs = sum(len(candidates) for _, candidates in found)
        seen = {one.memory.id for _, candidates in found for one in candidates}
        roots = {name: self.graph.root(name) for name in seen}
        links = links_of_session(found, roots, self.rules, ask)
        events["pairs"] += pairs
        events["links"] += len(links)
        if self.rules.relations:
            self.log.units += sum(bool(candidates) for _, candidates in found)
            events["pairs_saved"] += pairs - (events["pairs_asked"] - asked)
        for memory in new:
            self.graph.add(memory)
            record = self.store.add(
                memory.text,
                memory.sources,
                kind="summary",
                time=memory.time,
                links=tuple(self._records[link.old] for link in links if link.new == memory.id),
            )
            self.memories[record.id], self._records[memory.id] = memory, record.id
        for link in links:
            self.graph.link(link.old, link.new, link.relation)
