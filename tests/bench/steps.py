"""Each step against a plain reference, in processor seconds of one process."""

from __future__ import annotations

import random
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.bench import ours_study, reference_study
from tests.bench.measure import Spent, spent
from tests.memory.theanine.hand import layered, listed
from unbidden.memory.embed import Embedder, SentenceEncoder
from unbidden.memory.fusion import fused_positions, reciprocal_rank_fusion
from unbidden.memory.theanine.paths import PathCounts
from unbidden.memory.units import turn_units
from unbidden.memory.vectors import VectorCache
from unbidden.queries.build import build_queries
from unbidden.retrieval import retrieve, score_rankings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from unbidden.corpus.models import Corpus

Measured = dict[str, Any]


def compared(
    step: str, reference: str, plain: Callable[[], object], ours: Callable[[], object], **more: Any
) -> Measured:
    """Return one row, and stop if the two give different results."""
    expected, before = spent(plain)
    found, after = spent(ours)
    if not _same(expected, found):
        raise AssertionError(f"{step}: ours and the reference differ")
    return row(step, reference, before, after, **more)


def row(step: str, reference: str, before: Spent, after: Spent, **more: Any) -> Measured:
    """Return one row of the table."""
    return {
        "step": step,
        "reference": reference,
        "reference_s": before.cpu,
        "ours_s": after.cpu,
        "ratio": before.cpu / max(after.cpu, 1e-9),
        **more,
    }


def _same(expected: object, found: object) -> bool:
    if isinstance(expected, dict) and isinstance(found, dict):
        # Encoding alone or in a batch differs in the last bits, and may order a near-tie otherwise.
        return expected.keys() == found.keys() and all(
            abs(expected[key] - found[key]) < 0.02 for key in expected
        )
    if isinstance(expected, list) and expected and isinstance(expected[0], list):
        # Sums in another order differ in the last bits, which order near-ties otherwise.
        pairs = list(zip(chain(*expected), chain(*found), strict=True))  # type: ignore[misc]
        return sum(a == b for a, b in pairs) > 0.97 * len(pairs)
    return expected == found


def whole_study(corpus: Corpus, embedder: Embedder) -> Iterator[Measured]:
    """All styles, three systems, all K and all tables; ours with vectors cached."""
    queries = build_queries(corpus)
    encoder = SentenceEncoder()
    encoder.encode(["loads the model"])
    embedder.encode([u.text for c in corpus.conversations for u in turn_units(c)])
    embedder.encode([query.text for query in queries])

    def encode(text: str) -> np.ndarray:
        return encoder.encode([text])[0]

    yield compared(
        "whole study without models",
        "one text to a call, substring matching over all turns, one query at a time",
        lambda: reference_study.study(corpus, queries, encode),
        lambda: ours_study.study(corpus, queries, embedder),
        n=len(queries),
    )


def small_steps(corpus: Corpus) -> Iterator[Measured]:
    """Word search, fusion and recall of the first conversation, and timelines."""
    conversation = corpus.conversations[0]
    queries = [q for q in build_queries(corpus) if q.conversation == conversation.id]
    texts = [unit.text for unit in turn_units(conversation)]

    def plain_words() -> list[list[int]]:
        ranker = reference_study.word_ranker(texts)
        return [ranker(query.text)[:50] for query in queries]

    (ranking,) = retrieve(corpus, queries, ["bm25"], depth=50)
    place = {unit.id: i for i, unit in enumerate(turn_units(conversation))}

    def our_words() -> list[list[int]]:
        (found,) = retrieve(corpus, queries, ["bm25"], depth=50)
        return [[place[hit.sources[0]] for hit in hits] for hits in found.hits]

    yield compared(
        "bm25, index and queries", "dictionaries, all turns for each word", plain_words, our_words,
        n=len(queries),
    )  # fmt: skip

    def plain_recall() -> dict[int, float]:
        total = 0.0
        for query, hits in zip(queries, ranking.hits, strict=True):
            found = reference_study.matched(conversation, [hit.text for hit in hits[:10]])
            total += len(found & query.gold) / len(query.gold) if query.gold else 0
        return {10: total}

    def our_recall() -> dict[int, float]:
        items = score_rankings(corpus.name, [ranking], ks=[10])
        return {10: float(items[items["metric"] == "recall"]["value"].sum())}

    yield compared(
        "recall (ours: six metrics)", "substrings of all turns", plain_recall, our_recall,
        n=len(queries),
    )  # fmt: skip
    yield _fusion(len(texts), len(queries))
    yield _timelines()


def _fusion(size: int, queries: int) -> Measured:
    orders = np.random.default_rng(0)
    pairs = [[orders.permutation(size) for _ in range(2)] for _ in range(queries)]
    return compared(
        "fusion of two rankings",
        "a dictionary of scores",
        lambda: [
            [key for key, _ in reciprocal_rank_fusion([r.tolist() for r in pair])[:50]]
            for pair in pairs
        ],
        lambda: [fused_positions(pair, size, 50)[0].tolist() for pair in pairs],
        n=queries,
    )


def _timelines() -> Measured:
    sessions, edges = layered(10, 100, 3, random.Random(0))
    nodes = range(0, len(sessions), 50)

    def by_counting() -> list[int]:
        counts, generator = PathCounts(sessions, edges), random.Random(0)
        return [counts.total(node) for node in nodes if counts.draw(node, generator)]

    return compared(
        "20 timelines, graph of 1,000",
        "listing every path",
        lambda: [len(paths) for paths in listed(edges, nodes).values()],
        by_counting,
        n=20,
    )


def embedding(corpus: Corpus, folder: Path, *, most: int) -> Iterator[Measured]:
    """Encode texts cold, as `SentenceTransformer.encode` does and as ours; then again, cached."""
    encoder = SentenceEncoder()
    encoder.encode(["loads the model"])
    model = encoder._model
    turns = [unit.text for c in corpus.conversations for unit in turn_units(c)]
    once = list(dict.fromkeys(turns))[:most]
    # As a study asks for them: the turns for each of the systems that search by vector.
    for what, texts in {"distinct texts": once, "as `dense` and `rrf` ask": [*once, *once]}.items():
        cache = VectorCache(folder / f"{len(texts)}.sqlite", encoder.identity)
        yield _encoded(f"embedding, cold, {what}", texts, model, Embedder(encoder, cache))
    yield _encoded("embedding, cached", once, model, Embedder(encoder, cache))


def _encoded(step: str, texts: list[str], model: Any, ours: Embedder) -> Measured:
    before = spent(lambda: model.encode(texts, show_progress_bar=False))
    after = spent(lambda: ours.encode(texts))
    if abs(before[0] - after[0]).max() > 1e-4:
        raise AssertionError(f"{step}: ours and the reference differ")
    if ours.encoded not in (0, len(set(texts))):
        raise AssertionError(f"{step}: {ours.encoded} encoded, {len(set(texts))} are distinct")
    reference = "SentenceTransformer.encode of the same texts"
    return row(step, reference, before[1], after[1], n=len(texts), encoded=ours.encoded)
