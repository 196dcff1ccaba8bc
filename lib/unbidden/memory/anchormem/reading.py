"""From ranked facts and events to the memories AnchorMem returns."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.memory.records import MemoryRecord, RecordStore

ChunkRank = Literal["best_fact", "sum", "arbitrary"]
CHUNK_RANKS: tuple[ChunkRank, ...] = get_args(ChunkRank)

Scored = tuple["MemoryRecord", float]


def normalised(found: Sequence[Scored]) -> list[Scored]:
    """Return records with their scores stretched over 0..1; all 1 if they are equal."""
    if not found:
        return []
    scores = [score for _, score in found]
    low, span = min(scores), max(scores) - min(scores)
    return [(record, (score - low) / span if span else 1.0) for record, score in found]


def facts_for(facts: Sequence[Scored], k: int) -> list[Scored]:
    """Return the best facts, as many as lead to `k` different chunks."""
    chunks: set[str] = set()
    taken: list[Scored] = []
    for record, score in facts:
        if len(chunks) >= k:
            break
        chunks.update(record.links)
        taken.append((record, score))
    return taken


def chunks_of(facts: Sequence[Scored], store: RecordStore, rank: ChunkRank) -> list[Scored]:
    """Return the chunks that facts come from, best first.

    Parameters
    ----------
    rank : {"best_fact", "sum", "arbitrary"}
        By the best fact of a chunk; by the sum over its facts, the largest being 1; or in an order
        that has nothing to do with the query, as the released code's set has (here by hash, so that
        it is the same every time).
    """
    scores: dict[str, float] = {}
    for record, score in facts:
        for chunk in record.links:
            if rank == "sum":
                scores[chunk] = scores.get(chunk, 0.0) + score
            else:
                scores[chunk] = max(scores.get(chunk, 0.0), score)
    if rank == "arbitrary":
        ids = sorted(scores, key=lambda c: hashlib.sha256(store[c].text.encode()).digest())
        return [(store[chunk], 1.0) for chunk in ids]
    top = max(scores.values(), default=1.0)
    scale = top if rank == "sum" and top > 0 else 1.0
    found = [(store[chunk], score / scale) for chunk, score in scores.items()]
    return sorted(found, key=lambda pair: -pair[1])


def after(events: Sequence[Scored]) -> list[Scored]:
    """Return events with scores below those of any chunk."""
    return [(record, score - 1.0) for record, score in events]
