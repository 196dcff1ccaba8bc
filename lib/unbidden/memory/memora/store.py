"""Memora's memories: entries reached by their index, and cues that lead to entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unbidden.memory.fusion import reciprocal_rank_fusion
from unbidden.memory.records import RecordStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unbidden.memory.records import Encodes, MemoryRecord


class HarmonicStore:
    """Entries and cue anchors (Memora, arXiv 2602.03315, section 3).

    An entry's text is its value and its `index_text` the index; only the index is embedded. A cue
    links to one or more entries.

    Attributes
    ----------
    entries, cues : RecordStore
        Cues have no sources: they are ways to entries, not memories.
    """

    def __init__(self, embedder: Encodes) -> None:
        self.entries = RecordStore(embedder)
        self.cues = RecordStore(embedder, "c")

    def entry(self, index: str) -> MemoryRecord | None:
        """Return the entry of an index, if there is one."""
        return next((record for record in self.entries if record.index_text == index), None)

    def free_index(self, index: str, own: str | None = None) -> str:
        """Return an index, numbered if another entry than `own` has it already."""
        free, number = index, 1
        while (other := self.entry(free)) is not None and other.id != own:
            number += 1
            free = f"{index} ({number})"
        return free

    def link(self, record_id: str, cues: Iterable[str]) -> int:
        """Let cues lead to an entry, and return how many do.

        A cue that is the index of an entry is left out: it leads there anyway.
        """
        linked = 0
        for text in dict.fromkeys(cues):
            if self.entry(text) is not None:
                continue
            linked += 1
            cue = next((cue for cue in self.cues if cue.text == text), None)
            if cue is None:
                self.cues.add(text, (), kind="cue", links=(record_id,))
            elif record_id not in cue.links:
                self.cues.update(cue.id, links=(*cue.links, record_id))
        return linked

    def unlink(self, record_id: str) -> None:
        """Let no cue lead to an entry; a cue that leads nowhere is removed."""
        for cue in list(self.cues):
            if record_id in cue.links:
                rest = tuple(link for link in cue.links if link != record_id)
                if rest:
                    self.cues.update(cue.id, links=rest)
                else:
                    self.cues.delete(cue.id)

    def neighbours(self, records: Iterable[MemoryRecord]) -> list[MemoryRecord]:
        """Return the other entries that share a cue with some, in order of making."""
        own = {record.id for record in records}
        near = {link for cue in self.cues if own & set(cue.links) for link in cue.links}
        return [record for record in self.entries if record.id in near - own]

    def search(
        self,
        query: str,
        *,
        k: int,
        cue_k: int,
        floor: float,
        weights: Sequence[float],
        constant: float,
    ) -> list[tuple[MemoryRecord, float]]:
        """Return entries found by index or by cue, fused by rank, best first.

        The released code is said to return nothing where one of the two finds nothing; here the
        other counts alone. It scales scores to 0..1 afterwards, which changes no order.

        Parameters
        ----------
        k, cue_k : int
            Entries and cues looked at.
        floor : float
            Least cosine of either.
        weights : sequence of float
            Of entries found by index, and by cue.
        """
        by_index = [record.id for record, _ in self.entries.search(query, k, floor=floor)]
        cues = self.cues.search(query, cue_k, floor=floor)
        by_cue = list(dict.fromkeys(link for cue, _ in cues for link in cue.links))
        fused = reciprocal_rank_fusion([by_index, by_cue], constant=constant, weights=weights)
        return [(self.entries[record_id], score) for record_id, score in fused]
