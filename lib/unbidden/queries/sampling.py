"""A seeded sample of queries that a small model can be asked about, the same needs in each style.

The order is fixed by the seed alone, so a larger sample holds the smaller ones: a run can be made
larger later without paying again.
"""

from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING

from unbidden.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from unbidden.queries.build import Query


def balanced_sample(
    queries: Iterable[Query], *, per_style: int | None, seed: int = 0
) -> list[Query]:
    """Return so many queries of each style, evenly over conversations and categories.

    Only queries with an answer and cited evidence are drawn; those of category 5 have no answer,
    see `adversarial_sample`. A need that
    is put in every style present (composed ones apart) is put in all of them in the sample, so
    that styles can be paired. The sample is ordered by need, then by style.

    Parameters
    ----------
    per_style : int or None
        Fewer where a style has fewer; None takes all.

    Raises
    ------
    ConfigError
        If `per_style` is not positive.
    """
    usable = [query for query in queries if query.gold and query.category != 5]
    return _drawn(usable, per_style, seed)


def adversarial_sample(
    queries: Iterable[Query], *, per_style: int | None, seed: int = 0
) -> list[Query]:
    """Return so many queries of category 5 of each style, drawn and ordered as `balanced_sample`.

    What they ask for was never said, so that any answer is made up. They are a sample of their own:
    with or without them the other one is the same.

    Raises
    ------
    ConfigError
        If `per_style` is not positive.
    """
    return _drawn([query for query in queries if query.category == 5], per_style, seed)


def _drawn(usable: Sequence[Query], per_style: int | None, seed: int) -> list[Query]:
    if per_style is not None and per_style < 1:
        raise ConfigError(
            "`queries_per_style` is out of range", expected="1 or more", got=str(per_style)
        )
    by_need: dict[str, list[Query]] = defaultdict(list)
    for query in usable:
        by_need[query.id].append(query)
    single = [group for group in by_need.values() if len(group[0].members) == 1]
    styles = max((len(group) for group in single), default=0)
    kinds = (
        [group for group in single if len(group) == styles],
        [group for group in by_need.values() if len(group[0].members) > 1],
    )
    return [
        query for groups in kinds for group in _spread(groups, seed)[:per_style] for query in group
    ]


def _spread(groups: Sequence[list[Query]], seed: int) -> list[list[Query]]:
    """Return needs in a random order that takes turns among conversations, then categories."""
    homes: dict[Hashable, list[list[Query]]] = defaultdict(list)
    for group in groups:
        homes[group[0].conversation].append(group)
    ordered = []
    for home in sorted(homes, key=str):
        draw = random.Random(f"{seed}|{home}")
        kinds: dict[Hashable, list[list[Query]]] = defaultdict(list)
        for group in homes[home]:
            kinds[group[0].category].append(group)
        names = sorted(kinds, key=str)
        draw.shuffle(names)
        for name in names:
            draw.shuffle(kinds[name])
        ordered.append(_in_turn([kinds[name] for name in names]))
    random.Random(seed).shuffle(ordered)
    return _in_turn(ordered)


def _in_turn(lists: Sequence[list[list[Query]]]) -> list[list[Query]]:
    """Return the first of each list, then the second of each, and so on."""
    longest = max((len(one) for one in lists), default=0)
    return [one[i] for i in range(longest) for one in lists if i < len(one)]
