"""The published protocol done plainly: one text to a call, one query after another, by substring.

Written from the description in LoCoMo-Conv (sections 3 and 4) as an ordinary script would be, and
with care not to be slow on purpose: words are split once, each system reads a conversation once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np

from unbidden.memory.tokens import paper_tokens
from unbidden.memory.units import turn_units

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unbidden.corpus.models import Conversation, Corpus
    from unbidden.queries.build import Query

    Encode = Callable[[str], np.ndarray]
    Ranker = Callable[[str], list[int]]

KS = (1, 5, 10, 20, 50)


def word_ranker(texts: Sequence[str]) -> Ranker:
    """Return Okapi BM25 with dictionaries of counts, a pass over all documents for each word."""
    documents = [paper_tokens(text) for text in texts]
    average = sum(map(len, documents)) / len(documents)
    counts = [Counter(words) for words in documents]
    found_in = Counter(word for words in counts for word in words)
    n = len(documents)
    idf = {w: float(np.log((n - c + 0.5) / (c + 0.5))) for w, c in found_in.items()}
    floor = 0.25 * sum(idf.values()) / len(idf)
    length = np.array([1.5 * (0.25 + 0.75 * len(words) / average) for words in documents])

    def ranked(query: str) -> list[int]:
        scores = np.zeros(n)
        for word in paper_tokens(query):
            weight = idf.get(word, 0.0)
            frequency = np.array([words.get(word, 0) for words in counts])
            scores += (weight if weight >= 0 else floor) * frequency * 2.5 / (frequency + length)
        return [int(i) for i in np.argsort(-scores, kind="stable") if scores[i] != 0]

    return ranked


def vector_ranker(texts: Sequence[str], encode: Encode) -> Ranker:
    """Return cosine search; each text and each query is encoded in a call of its own."""
    matrix = np.stack([encode(text) for text in texts])
    return lambda query: [int(i) for i in np.argsort(-(matrix @ encode(query)), kind="stable")]


def fused_ranker(texts: Sequence[str], encode: Encode) -> Ranker:
    """Return both, fused by rank with a dictionary of texts."""
    rankers = (word_ranker(texts), vector_ranker(texts, encode))
    place = {text: i for i, text in enumerate(texts)}

    def ranked(query: str) -> list[int]:
        scores: dict[str, float] = defaultdict(float)
        for ranker in rankers:
            for rank, i in enumerate(ranker(query)):
                scores[texts[i]] += 1 / (60 + rank + 1)
        return [place[text] for text, _ in sorted(scores.items(), key=lambda item: -item[1])]

    return ranked


def matched(conversation: Conversation, shown: Sequence[str]) -> set[str]:
    """Return every turn whose text is a substring of a returned memory, all turns tested."""
    lowered = [text.lower() for text in shown]
    return {
        turn.id
        for turn in conversation.turns
        for text in (turn.text.strip().lower(),)
        if any(text in one for one in lowered)
    }


def study(
    corpus: Corpus, queries: Sequence[Query], encode: Encode
) -> dict[tuple[str, str, int], float]:
    """Return mean recall by system, style and K."""
    values: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    for conversation in corpus.conversations:
        texts = [unit.text for unit in turn_units(conversation)]
        asked = [query for query in queries if query.conversation == conversation.id]
        for system in ("bm25", "dense", "rrf"):
            ranker = (
                word_ranker(texts)
                if system == "bm25"
                else vector_ranker(texts, encode)
                if system == "dense"
                else fused_ranker(texts, encode)
            )
            for query in asked:
                shown = [texts[i] for i in ranker(query.text)[: max(KS)]]
                for k in KS if query.gold else ():
                    found = matched(conversation, shown[:k])
                    recall = len(found & query.gold) / len(query.gold)
                    values[system, query.style, k].append(recall)
    return {key: sum(found) / len(found) for key, found in values.items()}
