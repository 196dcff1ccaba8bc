"""A small sample of queries, the same needs in every style, drawn by a seed."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING

from unbidden.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.queries.build import Query


def sample_queries(queries: Sequence[Query], per_style: int, *, seed: int = 0) -> list[Query]:
    """Return at most `per_style` queries of each style, in their given order.

    Only queries with gold are drawn, and none of category 5, so that each one can be scored. A
    query's place in the draw depends on the seed and its id alone: styles of one need are drawn
    together, a larger sample holds every smaller one, and the conversations take turns, so that a
    sample of six over two conversations has three of each.

    Raises
    ------
    ConfigError
        If `per_style` is not positive.
    """
    if per_style < 1:
        raise ConfigError(
            "the sample is empty",
            expected="1 or more queries of each style",
            got=str(per_style),
            next_step="correct `queries_per_style`",
        )
    groups: dict[str, dict[str, list[Query]]] = defaultdict(lambda: defaultdict(list))
    for query in queries:
        if query.gold and query.category != 5:
            groups[query.style][query.conversation].append(query)
    chosen = {
        (query.style, query.id)
        for by_conversation in groups.values()
        for query in _taken_in_turn(list(by_conversation.values()), per_style, seed)
    }
    return [query for query in queries if (query.style, query.id) in chosen]


def _taken_in_turn(groups: Sequence[Sequence[Query]], most: int, seed: int) -> list[Query]:
    def place(query: Query) -> str:
        return hashlib.sha256(f"{seed}|{query.id}".encode()).hexdigest()

    ordered = [sorted(group, key=place) for group in groups]
    rounds = range(max((len(group) for group in ordered), default=0))
    taken = [group[i] for i in rounds for group in ordered if i < len(group)]
    return taken[:most]
