"""Ranking the memories of a store: by vector, by text, or both fused."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.memory.bm25 import OkapiIndex
from unbidden.memory.fusion import reciprocal_rank_fusion
from unbidden.memory.tokens import unicode_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.memory.records import MemoryRecord, RecordStore

Method = Literal["vector", "text", "hybrid"]
METHODS: tuple[Method, ...] = get_args(Method)
TextLeg = Literal["pg_and", "bm25", "off"]
TEXT_LEGS: tuple[TextLeg, ...] = get_args(TextLeg)

Scored = tuple["MemoryRecord", float]


class Reader:
    """Ranks the memories of one store that does not change any more.

    Parameters
    ----------
    method : {"vector", "text", "hybrid"}
        "hybrid" fuses twice as many vector and text results as are asked for, by rank.
    text_leg : {"pg_and", "bm25", "off"}
        "pg_and": a memory must hold every word of the query, and those that hold them oftener come
        first; this stands for the original's full-text query, whose weighting differs in detail.
        "bm25": Okapi BM25, a stronger system than the original. "off": text finds nothing.
    lost_order : bool
        Repeats a fault of the original's vector search: the best are found, and returned in order
        of making.
    """

    def __init__(
        self, store: RecordStore, method: Method, text_leg: TextLeg, *, lost_order: bool = False
    ) -> None:
        self.store, self.method, self.text_leg = store, method, text_leg
        self.lost_order = lost_order
        self._records = list(store)
        self._tokens = [unicode_tokens(record.index_text) for record in self._records]
        self._okapi = OkapiIndex(self._tokens) if text_leg == "bm25" else None

    def ranked(self, query: str, count: int) -> list[Scored]:
        """Return the best `count` memories, best first."""
        if self.method == "text":
            return self._text(query, count)
        if self.method == "hybrid":
            legs = [self.store.search(query, 2 * count), self._text(query, 2 * count)]
            return fused(legs)[:count]
        found = self.store.search(query, count)
        if self.lost_order:
            found = sorted(found, key=lambda pair: pair[0].order)
            return [(record, 1 / rank) for rank, (record, _) in enumerate(found, start=1)]
        return found

    def _text(self, query: str, count: int) -> list[Scored]:
        words = unicode_tokens(query)
        if self.text_leg == "off" or not words or not self._records:
            return []
        if self._okapi is not None:
            scores = [float(score) for score in self._okapi.scores(words)]
        else:
            scores = [_all_words(words, tokens) for tokens in self._tokens]
        found = [pair for pair in zip(self._records, scores, strict=True) if pair[1] > 0]
        return sorted(found, key=lambda pair: -pair[1])[:count]


def _all_words(words: Sequence[str], tokens: Sequence[str]) -> float:
    """Return how often a text holds a query's words, 0 unless it holds every one."""
    counts = Counter(tokens)
    if any(word not in counts for word in words):
        return 0.0
    return float(sum(counts[word] for word in set(words)))


def fused(rankings: Sequence[Sequence[Scored]]) -> list[Scored]:
    """Return rankings fused by reciprocal rank with the constant 60, best first."""
    known = {record.id: record for ranking in rankings for record, _ in ranking}
    ids = [[record.id for record, _ in ranking] for ranking in rankings]
    return [(known[key], score) for key, score in reciprocal_rank_fusion(ids)]
