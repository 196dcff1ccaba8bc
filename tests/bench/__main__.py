"""Ratios against plain reference implementations, each measured in this very run.

python -m tests.bench [--data locomo]   prints one row per step: reference, ours, ratio.
"""

from __future__ import annotations

import argparse
import random
import time
from typing import TYPE_CHECKING

import numpy as np

from tests.memory.theanine.hand import layered, listed
from unbidden.corpus import load_corpus
from unbidden.memory.theanine.paths import PathCounts
from unbidden.memory.tokens import paper_tokens
from unbidden.memory.units import turn_units
from unbidden.queries.build import build_queries
from unbidden.retrieval import retrieve, score_rankings

if TYPE_CHECKING:
    from collections.abc import Callable

    from unbidden.corpus.models import Corpus
    from unbidden.queries.build import Query


def plain_bm25(corpus: Corpus, queries: list[Query]) -> list[list[int]]:
    """Score every document of a conversation for every query with dictionaries."""
    orders = []
    for conversation in corpus.conversations:
        documents = [paper_tokens(unit.text) for unit in turn_units(conversation)]
        average = sum(map(len, documents)) / len(documents)
        counts = [{w: d.count(w) for w in set(d)} for d in documents]
        found_in: dict[str, int] = {}
        for words in counts:
            for word in words:
                found_in[word] = found_in.get(word, 0) + 1
        n = len(documents)
        idf = {w: float(np.log((n - c + 0.5) / (c + 0.5))) for w, c in found_in.items()}
        for query in queries:
            if query.conversation != conversation.id:
                continue
            scores = np.zeros(n)
            for word in paper_tokens(query.text):
                frequency = np.array([words.get(word, 0) for words in counts])
                length = np.array([1.5 * (0.25 + 0.75 * len(d) / average) for d in documents])
                scores += idf.get(word, 0) * frequency * 2.5 / (frequency + length)
            orders.append(list(np.argsort(-scores)[:50]))
    return orders


def substring_recall(corpus: Corpus, queries: list[Query], texts: list[list[str]]) -> float:
    """Match every turn's words against every returned memory, as the published rule does."""
    total = 0.0
    for query, shown in zip(queries, texts, strict=True):
        turns = corpus.conversation(query.conversation).turns
        lowered = [text.lower() for text in shown[:10]]
        found = {t.id for t in turns if any(t.text.strip().lower() in x for x in lowered)}
        total += len(found & query.gold) / len(query.gold) if query.gold else 0
    return total


def timelines(sessions: list[int], edges: list[tuple[int, int]]) -> tuple[object, float, float]:
    """Draw a timeline through every 50th memory: by listing all of them, and by counting."""
    nodes = range(0, len(sessions), 50)

    def by_listing() -> list[int]:
        return [len(paths) for paths in listed(edges, nodes).values()]

    def by_counting() -> list[int]:
        counts, generator = PathCounts(sessions, edges), random.Random(0)
        return [counts.total(node) for node in nodes if counts.draw(node, generator)]

    (expected, plain), (found, ours) = timed(by_listing), timed(by_counting)
    assert found == expected
    return found, plain, ours


def timed(action: Callable[[], object]) -> tuple[object, float]:
    """Return what an action gives and how many seconds it took."""
    started = time.perf_counter()
    return action(), time.perf_counter() - started


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="harbour")
    corpus = load_corpus(parser.parse_args().data)
    queries = build_queries(corpus)
    rows = []
    _, plain = timed(lambda: plain_bm25(corpus, queries))
    rankings, ours = timed(lambda: retrieve(corpus, queries, ["bm25"], depth=50))
    rows.append(("BM25, all queries, index included", plain, ours))
    (ranking,) = rankings  # type: ignore[misc]
    texts = [[hit.text for hit in hits] for hits in ranking.hits]
    _, plain = timed(lambda: substring_recall(corpus, queries, texts))
    _, ours = timed(lambda: score_rankings(corpus.name, [ranking], ks=[10]))
    rows.append(("recall@10 (ours: six metrics)", plain, ours))
    retrieve(corpus, queries, ["dense"], depth=50)  # vectors are cached from here on
    _, ours = timed(lambda: retrieve(corpus, queries, ["dense"], depth=50))
    rows.append(("dense, vectors cached (no reference)", float("nan"), ours))
    _, plain, ours = timelines(*layered(10, 100, 3, random.Random(0)))
    rows.append(("20 timelines, graph of 1,000", plain, ours))
    turns = sum(len(conversation.turns) for conversation in corpus.conversations)
    print(f"{corpus.name}: {len(queries)} queries, {turns} turns")
    print(f"{'step':40} {'reference s':>12} {'ours s':>10} {'ratio':>8}")
    for name, reference, mine in rows:
        print(f"{name:40} {reference:12.2f} {mine:10.2f} {reference / mine:8.1f}")


if __name__ == "__main__":
    main()
