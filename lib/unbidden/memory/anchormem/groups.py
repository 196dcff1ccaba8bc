"""Groups of related facts from different chunks (AnchorMem, the associative event graph)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unbidden.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

_DECIMALS = 5  # as in the stores: an order must not depend on a machine's last bits


@dataclass(frozen=True, slots=True)
class FactGroup:
    """A fact and those that say something close to it elsewhere.

    Attributes
    ----------
    main : int
        Position of the fact the group was built around.
    support : tuple of int
        Positions of the others, closest first.
    weight : float
        Sum of their cosines to the main fact.
    """

    main: int
    support: tuple[int, ...]
    weight: float

    @property
    def members(self) -> frozenset[int]:
        """All positions."""
        return frozenset((self.main, *self.support))


def fact_groups(
    vectors: NDArray[np.float32],
    chunks: Sequence[str],
    *,
    threshold: float = 0.85,
    top_k: int = 3,
    min_new: int = 3,
) -> list[FactGroup]:
    """Return the groups that are kept, best first.

    Positions are occurrences of a fact in a chunk: one sentence said in two chunks is two.

    Parameters
    ----------
    vectors : array of shape (n_facts, dimension)
        Unit vectors.
    chunks : sequence of str
        Id of the chunk each fact comes from.
    threshold : float
        A cosine must be above it.
    top_k : int
        Most supporting facts of a group, each from another chunk.
    min_new : int
        A group is kept if it has at least so many facts that the kept group lacks, for every
        group kept before. So with `top_k` 3 a pair survives only as the first.

    Raises
    ------
    ConfigError
        If a parameter is out of range.
    """
    if not -1 <= threshold <= 1 or top_k < 1 or min_new < 0:
        raise ConfigError(
            "facts cannot be grouped",
            expected="threshold in -1..1, top_k of 1 or more, min_new of 0 or more",
            got=f"threshold {threshold}, top_k {top_k}, min_new {min_new}",
            next_step="the released code runs with 0.85, 3 and 3",
        )
    if len(chunks) < 2:
        return []
    cosines = np.round((vectors @ vectors.T).astype(np.float64), _DECIMALS)
    found = [_group(i, cosines[i], chunks, threshold, top_k) for i in range(len(chunks))]
    groups = [group for group in found if group.support]
    groups.sort(key=lambda group: (-len(group.members), -group.weight, group.main))
    return list(_distinct(groups, min_new))


def _group(
    main: int, cosines: NDArray[np.float64], chunks: Sequence[str], threshold: float, top_k: int
) -> FactGroup:
    """Return the group around one fact: the closest of each other chunk."""
    used = {chunks[main]}
    support: list[int] = []
    for i in map(int, np.argsort(-cosines, kind="stable")):
        if cosines[i] <= threshold or len(support) == top_k:
            break
        if chunks[i] not in used:
            used.add(chunks[i])
            support.append(i)
    return FactGroup(main, tuple(support), float(sum(cosines[i] for i in support)))


def _distinct(groups: Iterable[FactGroup], min_new: int) -> list[FactGroup]:
    kept: list[FactGroup] = []
    for group in groups:
        if all(len(group.members - other.members) >= min_new for other in kept):
            kept.append(group)
    return kept
