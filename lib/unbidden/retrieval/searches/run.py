"""The searches by name, and running them over a corpus as rankings like any system's."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal

import numpy as np

from unbidden.errors import ConfigError, closest
from unbidden.memory.embed import MINILM
from unbidden.memory.fusion import reciprocal_rank_fusion
from unbidden.memory.protocol import SystemInfo
from unbidden.memory.units import unit_hits
from unbidden.retrieval.run import Rankings
from unbidden.retrieval.searches.feedback import rm3_weights, rocchio, weighted_scores
from unbidden.retrieval.searches.neighbours import insert_neighbours, smooth
from unbidden.retrieval.searches.priors import newest_first, only_speaker
from unbidden.retrieval.searches.table import ScoreTable, ranked, score_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unbidden.corpus.models import Corpus
    from unbidden.memory.embed import Embedder
    from unbidden.memory.protocol import Retrieved
    from unbidden.memory.units import Protocol
    from unbidden.queries.build import Query

CONSTANT = 60.0
FIRST = 100
"""Hits whose neighbours are looked at: more than are ever kept."""
RECENT = 0.2
"""Weight of the ranking by age where those by words and by vectors have 1 each."""


@dataclass(frozen=True, slots=True)
class Search:
    """One search without a model.

    Attributes
    ----------
    title : str
        What it does.
    base : str
        The search it differs from by one part, and is compared with.
    rank : callable
        From a table and the position of a query to positions of turns, best first.
    """

    name: str
    title: str
    base: str
    rank: Callable[[ScoreTable, int], list[int]]


def _bm25(table: ScoreTable, i: int) -> list[int]:
    return ranked(table.words[i], drop_zero=True)


def _dense(table: ScoreTable, i: int) -> list[int]:
    return ranked(table.vectors @ table.query_vectors[i])


def _fused(first: Sequence[int], second: Sequence[int], weight: float = 0.5) -> list[int]:
    """Fuse two rankings by reciprocal rank; `weight` is the second one's share.

    As `unbidden.memory.fusion.reciprocal_rank_fusion` does, whole rankings at once: ties stay in
    order of first appearance.
    """
    if not first or not second:
        return list(first or second)
    size = max(max(first), max(second)) + 1
    scores, seen = np.zeros(size), np.full(size, np.iinfo(np.int64).max)
    for ranking, share in ((second, weight), (first, 1 - weight)):
        places = np.asarray(ranking)
        scores[places] += share / (CONSTANT + 1 + np.arange(len(places)))
        seen[places] = np.arange(len(places)) + (len(first) if ranking is second else 0)
    order = np.lexsort((seen, -scores))
    return [int(i) for i in order if scores[i] > 0]


def _rrf(table: ScoreTable, i: int) -> list[int]:
    return _fused(_bm25(table, i), _dense(table, i))


def _rm3(table: ScoreTable, i: int) -> list[int]:
    weights = rm3_weights(table.query_tokens[i], table.tokens, table.words[i])
    return ranked(weighted_scores(table.index, weights, table.word_scores), drop_zero=True)


def _rocchio(table: ScoreTable, i: int) -> list[int]:
    return ranked(table.vectors @ rocchio(table.query_vectors[i], table.vectors))


def _feedback(table: ScoreTable, i: int) -> list[int]:
    return _fused(_rm3(table, i), _rocchio(table, i))


def _hybrid(weight: float) -> Callable[[ScoreTable, int], list[int]]:
    return lambda table, i: _fused(_bm25(table, i), _dense(table, i), weight)


def _sum_of_scores(table: ScoreTable, i: int) -> list[int]:
    """Add both scores after making each of mean 0 and spread 1 over the conversation's turns."""
    total = np.zeros(len(table.units))
    for scores in (table.words[i], table.vectors @ table.query_vectors[i]):
        spread = float(scores.std())
        total += (scores - scores.mean()) / spread if spread else 0.0
    return ranked(total)


def _inserted(radius: int) -> Callable[[ScoreTable, int], list[int]]:
    return lambda table, i: insert_neighbours(_rrf(table, i)[:FIRST], table.sessions, radius=radius)


def _smoothed(table: ScoreTable, i: int) -> list[int]:
    words = ranked(smooth(table.words[i], table.sessions), drop_zero=True)
    cosines = (table.vectors @ table.query_vectors[i]).astype(np.float64)
    return _fused(words, ranked(smooth(cosines, table.sessions)))


def _speaker(table: ScoreTable, i: int) -> list[int]:
    return only_speaker(_rrf(table, i), table.speakers, table.queries[i].speaker)


def _recent(table: ScoreTable, i: int) -> list[int]:
    """Fuse with a third ranking, newest turn first, which has a fifth of the others' weight."""
    rankings = [_bm25(table, i), _dense(table, i), newest_first([u.time for u in table.units])]
    return [place for place, _ in reciprocal_rank_fusion(rankings, weights=[1, 1, RECENT])]


def _told(what: Literal["speaker", "date"]) -> Callable[[ScoreTable, int], list[int]]:
    """Search for the words of the message and of who says it, or of the last talk's date."""

    def rank(table: ScoreTable, i: int) -> list[int]:
        told = (table.queries[i].speaker or "") if what == "speaker" else table.last_date
        scores = table.index.scores([*table.split(told), *table.query_tokens[i]])
        return ranked(scores, drop_zero=True)

    return rank


SEARCHES: dict[str, Search] = {
    search.name: search
    for search in (
        Search("bm25", "word search", "bm25", _bm25),
        Search("dense", "sentence vectors", "dense", _dense),
        Search("rrf", "both, fused by rank", "rrf", _rrf),
        Search("bm25-rm3", "word search, words of its first hits added", "bm25", _rm3),
        Search("dense-rocchio", "vectors, moved to the first hits", "dense", _rocchio),
        Search("rrf-feedback", "both with feedback, fused", "rrf", _feedback),
        Search("rrf-neighbours-1", "each hit followed by its neighbours, ±1", "rrf", _inserted(1)),
        Search("rrf-neighbours-2", "each hit followed by its neighbours, ±2", "rrf", _inserted(2)),
        Search("rrf-smoothed", "half the best neighbour's score added", "rrf", _smoothed),
        Search("rrf-speaker", "turns of the one who speaks only", "rrf", _speaker),
        Search("rrf-recent", "fused with a light ranking by age", "rrf", _recent),
        Search("rrf-words-75", "weight of word search 0.75", "rrf", _hybrid(0.25)),
        Search("rrf-dense-75", "weight of vectors 0.75", "rrf", _hybrid(0.75)),
        Search("sum", "standardised scores added, not ranks", "rrf", _sum_of_scores),
        Search("bm25-told-speaker", "speaker's name before the message", "bm25", _told("speaker")),
        Search("bm25-told-date", "day of the last talk before it", "bm25", _told("date")),
    )
}
"""In the order of the tables; a search's base comes before it."""


def search_rankings(
    corpus: Corpus,
    queries: Sequence[Query],
    names: Sequence[str] = (),
    *,
    depth: int,
    protocol: Protocol = "paper",
    embedder: str | Embedder = MINILM,
) -> list[Rankings]:
    """Return the rankings of each search over all queries; empty `names` means all.

    Parameters
    ----------
    queries : sequence of Query
        Grouped by conversation, as `build_queries` returns them.
    depth : int
        Turns kept for each query.

    Raises
    ------
    ConfigError
        If a name is unknown.
    """
    chosen = [_known(name) for name in names or SEARCHES]
    hits: dict[str, list[list[Retrieved]]] = {search.name: [] for search in chosen}
    for key, group in groupby(queries, key=lambda query: query.conversation):
        asked = list(group)
        talk = corpus.conversation(key)
        table = score_table(talk, asked, protocol=protocol, embedder=embedder)
        for search in chosen:
            for i in range(len(asked)):
                best = search.rank(table, i)[:depth]
                scores = [1.0 / (rank + 1) for rank in range(len(best))]
                hits[search.name].append(unit_hits(table.units, best, scores, k=depth))
    return [
        Rankings(search.name, _info(search), depth, queries, hits[search.name], {})
        for search in chosen
    ]


def _known(name: str) -> Search:
    if name not in SEARCHES:
        raise ConfigError(
            f"unknown search {name!r}",
            expected=closest(name, SEARCHES),
            next_step="correct the parameter `searches`",
        )
    return SEARCHES[name]


def _info(search: Search) -> SystemInfo:
    return SystemInfo(search.name, search.title, False, "exact", "Apache-2.0")
