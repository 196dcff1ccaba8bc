"""The memories a model-built system holds: text, what is embedded, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from unbidden.memory.protocol import Retrieved
from unbidden.memory.topk import best_positions

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from unbidden.corpus.models import TurnId

_DECIMALS = 5
"""Cosines are compared to so many places: the last bits differ between machines and batch sizes,
and an order that depends on them would ask a recorded model something it was never asked."""


class Encodes(Protocol):
    """Texts to unit vectors; `unbidden.memory.embed.Embedder` is one."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of shape (n_texts, dimension)."""
        ...


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """One memory.

    Attributes
    ----------
    id : str
        Unique in its store and the same in every run.
    text : str
        What a reply is given to read.
    index_text : str
        What is embedded, and nothing else is.
    sources : tuple of TurnId
        Turns it comes from, in order of reading, without repeats.
    kind : str
        What the system calls it: "fact", "note", "episode", ...
    order : int
        Counts the memories of a store as they were made; an update keeps it.
    time : datetime or None
        When what it tells was said, never when it was stored.
    links : tuple of str
        Ids of related memories.
    """

    id: str
    text: str
    index_text: str
    sources: tuple[TurnId, ...]
    kind: str
    order: int
    time: dt.datetime | None = None
    links: tuple[str, ...] = ()

    def retrieved(self, score: float) -> Retrieved:
        """Return this memory as a search result."""
        return Retrieved(self.text, self.sources, score, self.time)


@dataclass(frozen=True, slots=True)
class Change:
    """One line of a store's history; an update or removal destroys what was there.

    Attributes
    ----------
    unit : str
        What was being read when it happened.
    before, after : MemoryRecord or None
        None before an addition, and after a removal.
    """

    action: Literal["add", "update", "delete"]
    unit: str
    before: MemoryRecord | None
    after: MemoryRecord | None


def united(*groups: Iterable[TurnId]) -> tuple[TurnId, ...]:
    """Return all ids in order of first appearance: what a merged memory comes from.

    >>> united(("D1:1", "D1:2"), ("D2:1", "D1:2"))
    ('D1:1', 'D1:2', 'D2:1')
    """
    return tuple(dict.fromkeys(turn for group in groups for turn in group))


class RecordStore:
    """Memories in order of making, with an exact vector search and a history of changes.

    Parameters
    ----------
    embedder : Encodes
        Encodes index texts and queries. Texts are encoded at the first search after they came.
    prefix : str
        Begins the ids, so that two stores of one system never share one.
    decimals : int or None
        Places to which cosines are compared; None compares them as they are.
    """

    def __init__(
        self, embedder: Encodes, prefix: str = "m", *, decimals: int | None = _DECIMALS
    ) -> None:
        self.embedder, self.prefix, self.decimals = embedder, prefix, decimals
        self.history: list[Change] = []
        self.unit = ""
        self._records: dict[str, MemoryRecord] = {}
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._made = 0

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[MemoryRecord]:
        return iter(self._records.values())

    def __contains__(self, record_id: str) -> bool:
        return record_id in self._records

    def __getitem__(self, record_id: str) -> MemoryRecord:
        return self._records[record_id]

    def add(
        self,
        text: str,
        sources: Iterable[TurnId],
        *,
        kind: str,
        index_text: str | None = None,
        time: dt.datetime | None = None,
        links: tuple[str, ...] = (),
    ) -> MemoryRecord:
        """Store a new memory; what is embedded is its text unless `index_text` is given."""
        self._made += 1
        record = MemoryRecord(
            id=f"{self.prefix}{self._made}",
            text=text,
            index_text=text if index_text is None else index_text,
            sources=united(sources),
            kind=kind,
            order=self._made,
            time=time,
            links=links,
        )
        self._records[record.id] = record
        self.history.append(Change("add", self.unit, None, record))
        return record

    def update(
        self,
        record_id: str,
        *,
        text: str | None = None,
        index_text: str | None = None,
        sources: Iterable[TurnId] = (),
        time: dt.datetime | None = None,
        links: tuple[str, ...] | None = None,
    ) -> MemoryRecord:
        """Change a memory in place; None keeps a field, and `sources` are added to the old ones.

        Without an `index_text` of its own, a record embedded by its text follows the new text.

        Raises
        ------
        KeyError
            If there is no memory of that id.
        """
        old = self._records[record_id]
        if index_text is None and text is not None and old.index_text == old.text:
            index_text = text
        new = replace(
            old,
            text=old.text if text is None else text,
            index_text=old.index_text if index_text is None else index_text,
            sources=united(old.sources, sources),
            time=time or old.time,
            links=old.links if links is None else links,
        )
        self._records[record_id] = new
        if new.index_text != old.index_text:
            self._vectors.pop(record_id, None)
        self.history.append(Change("update", self.unit, old, new))
        return new

    def delete(self, record_id: str) -> MemoryRecord:
        """Remove a memory with its sources, and return it.

        Raises
        ------
        KeyError
            If there is no memory of that id.
        """
        old = self._records.pop(record_id)
        self._vectors.pop(record_id, None)
        self.history.append(Change("delete", self.unit, old, None))
        return old

    def search(
        self,
        query: str,
        k: int,
        *,
        floor: float | None = None,
        among: Callable[[MemoryRecord], bool] | None = None,
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the `k` nearest memories and their cosines, best first; ties in order of making.

        Parameters
        ----------
        floor : float, optional
            Leave out cosines below it.
        among : callable, optional
            Search only the memories for which it is true.
        """
        return self.search_many([query], k, floor=floor, among=among)[0]

    def search_many(
        self,
        queries: Sequence[str],
        k: int,
        *,
        floor: float | None = None,
        among: Callable[[MemoryRecord], bool] | None = None,
    ) -> list[list[tuple[MemoryRecord, float]]]:
        """Return what `search` returns for each query; all are encoded at once."""
        records = [record for record in self if among is None or among(record)]
        if not records or not queries or k < 1:
            return [[] for _ in queries]
        # One product for each query: the last bits of one product of matrices depend on its shape.
        matrix, vectors = self._matrix(records), self.embedder.encode(queries)
        return [self._best(records, matrix @ vector, k, floor) for vector in vectors]

    def _best(
        self,
        records: Sequence[MemoryRecord],
        scores: NDArray[np.floating],
        k: int,
        floor: float | None,
    ) -> list[tuple[MemoryRecord, float]]:
        if self.decimals is not None:
            scores = np.round(scores.astype(np.float64), self.decimals)
        best = best_positions(scores, k)
        return [(records[i], float(scores[i])) for i in best if floor is None or scores[i] >= floor]

    def _matrix(self, records: Sequence[MemoryRecord]) -> NDArray[np.float32]:
        new = [record for record in records if record.id not in self._vectors]
        if new:
            vectors = self.embedder.encode([record.index_text for record in new])
            self._vectors.update(zip([record.id for record in new], vectors, strict=True))
        return np.stack([self._vectors[record.id] for record in records])
