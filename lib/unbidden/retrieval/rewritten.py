"""Searching with rewritten queries, and fusing what several of them bring (LoCoMo-Conv 3.4).

Each facet is searched for by itself, and the rankings are fused by reciprocal rank. What comes back
is a `Rankings` of the original queries, so recall and replies take it like any other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from unbidden.errors import ConfigError, DataError, closest
from unbidden.memory.fusion import reciprocal_rank_fusion
from unbidden.retrieval.run import retrieve

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from unbidden.corpus.models import Corpus
    from unbidden.memory.protocol import Retrieved
    from unbidden.queries.build import Query
    from unbidden.queries.facets import SearchTexts
    from unbidden.retrieval.run import Rankings

FusionKey = Literal["id", "text"]
KEYS: tuple[FusionKey, ...] = get_args(FusionKey)
DEPTH = 20
CONSTANT = 60.0


def fuse(
    rankings: Sequence[Sequence[Retrieved]],
    *,
    constant: float = CONSTANT,
    key: FusionKey = "id",
    keep: int = DEPTH,
) -> list[Retrieved]:
    """Return the memories of several rankings in one, at most `keep`, each once.

    A score is the sum of 1 / (constant + rank), ranks from 1; ties keep the order of first
    appearance.

    Parameters
    ----------
    key : {"id", "text"}
        "text" is the paper's: turns with the same words become one. "id" also minds the sources.
    """
    first: dict[Hashable, Retrieved] = {}
    keys = []
    for ranking in rankings:
        of_ranking: dict[Hashable, None] = {}
        for hit in ranking:
            name: Hashable = hit.text if key == "text" else (hit.sources, hit.text)
            first.setdefault(name, hit)
            of_ranking[name] = None
        keys.append(list(of_ranking))
    fused = reciprocal_rank_fusion(keys, constant=constant)[:keep]
    return [replace(first[name], score=score) for name, score in fused]


def retrieve_rewritten(
    corpus: Corpus,
    rewrites: Sequence[SearchTexts],
    systems: Sequence[str],
    *,
    depth: int = DEPTH,
    constant: float = CONSTANT,
    key: FusionKey = "id",
    original: bool = False,
    **options: Any,
) -> list[Rankings]:
    """Return the fused rankings of each system, over the queries of the rewrites, in their order.

    Parameters
    ----------
    rewrites : sequence of SearchTexts
        Grouped by conversation, as the queries were.
    depth : int
        Memories asked for with each text, and kept after fusion.
    original : bool
        Whether the message itself is searched for too and fused; the paper does not.
    **options
        Of `unbidden.retrieval.run.retrieve` and, through it, of the systems.

    Raises
    ------
    ConfigError
        If `key` is unknown.
    DataError
        If no query could be rewritten at all.
    """
    if key not in KEYS:
        raise ConfigError(
            f"unknown key {key!r} for fusion", expected=closest(key, KEYS), next_step="correct it"
        )
    asked = [(i, query) for i, item in enumerate(rewrites) for query in _queries(item, original)]
    if not asked:
        raise DataError(
            "no query could be rewritten",
            got=next((str(item.unscored) for item in rewrites), "no query"),
            next_step="look at the failed calls in the ledger",
        )
    found = retrieve(corpus, [query for _, query in asked], systems, depth=depth, **options)
    positions = [i for i, _ in asked]
    return [_fused(ranking, rewrites, positions, depth, constant, key) for ranking in found]


def _queries(item: SearchTexts, original: bool) -> list[Query]:
    if item.unscored is not None:
        return []
    texts = dict.fromkeys((*item.texts, item.query.text) if original else item.texts)
    return [replace(item.query, text=text) for text in texts]


def _fused(
    ranking: Rankings,
    rewrites: Sequence[SearchTexts],
    positions: Sequence[int],
    depth: int,
    constant: float,
    key: FusionKey,
) -> Rankings:
    lists: list[list[list[Retrieved]]] = [[] for _ in rewrites]
    failures = {i: item.unscored for i, item in enumerate(rewrites) if item.unscored is not None}
    for place, (i, hits) in enumerate(zip(positions, ranking.hits, strict=True)):
        lists[i].append(hits)
        if place in ranking.failures:
            failures.setdefault(i, ranking.failures[place])
    fallbacks = sum(item.fallback for item in rewrites)
    notes = (*ranking.notes, f"{fallbacks} of {len(rewrites)} messages stand for their rewrites")
    return replace(
        ranking,
        queries=[item.query for item in rewrites],
        hits=[fuse(one, constant=constant, key=key, keep=depth) for one in lists],
        notes=notes if fallbacks else ranking.notes,
        failures=failures,
    )
