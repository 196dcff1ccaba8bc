"""Mining the groups of questions that a composed query joins (LoCoMo-Conv section 3.2).

The paper released pairs only; its rule also covers triples. Where it capped a conversation it kept
the first groups, which hang on few questions; here a cap draws a seeded random sample.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, TypeVar

from unbidden.corpus.evidence import read_evidence
from unbidden.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from unbidden.corpus.evidence import EvidencePolicy
    from unbidden.corpus.models import Conversation, ConversationId, TurnId

SIZES = (2, 3)


@dataclass(frozen=True, slots=True)
class Group:
    """Questions whose gold turns overlap without all being equal.

    Attributes
    ----------
    members : tuple of int
        Question indices, ascending.
    gold : frozenset of TurnId
        Union of the evidence sets.
    nested : bool
        Whether one evidence set holds all others, so that answering one question finds all turns.
    """

    conversation: ConversationId
    members: tuple[int, ...]
    gold: frozenset[TurnId]
    nested: bool


@dataclass(frozen=True, slots=True)
class Pair(Group):
    """Two questions whose gold turns overlap without being equal."""

    members: tuple[int, int]


G = TypeVar("G", bound=Group)


def mine_pairs(conversation: Conversation, evidence: EvidencePolicy = "paper") -> list[Pair]:
    """Return all pairs of answerable questions with overlapping, unequal evidence.

    Parameters
    ----------
    evidence : {"paper", "repaired"}
        Under "paper" the ten LoCoMo conversations give the paper's 1,069 pairs.

    Returns
    -------
    list of Pair
        In the order of question indices.
    """
    sets = _evidence_sets(conversation, evidence)
    return [
        Pair(conversation.id, (i, j), sets[i] | sets[j], _nested([sets[i], sets[j]]))
        for i, j in combinations(sets, 2)
        if sets[i] != sets[j] and sets[i] & sets[j]
    ]


def mine_groups(
    conversation: Conversation, size: int, evidence: EvidencePolicy = "paper"
) -> list[Group]:
    """Return all groups of two or three answerable questions that belong together.

    Not all evidence sets are equal, every two unequal ones share a turn, and the union has two
    turns or more. Equal sets inside a triple are allowed, as in the paper's rule.

    Raises
    ------
    ConfigError
        If `size` is neither 2 nor 3.
    """
    if size not in SIZES:
        raise ConfigError(
            "the group size is out of range", expected="2 or 3 questions", got=str(size)
        )
    if size == 2:
        return list(mine_pairs(conversation, evidence))
    sets = _evidence_sets(conversation, evidence)
    return [
        Group(conversation.id, members, frozenset().union(*chosen), _nested(chosen))
        for members in _triangles(sets)
        if len(set(chosen := [sets[member] for member in members])) > 1
    ]


def _triangles(sets: dict[int, frozenset[TurnId]]) -> Iterator[tuple[int, int, int]]:
    """Yield triples of questions of which every two share a turn, in the order of indices."""
    later: dict[int, set[int]] = {index: set() for index in sets}
    for i, j in combinations(sets, 2):
        if sets[i] & sets[j]:
            later[i].add(j)
    for i, follows in later.items():
        for j in sorted(follows):
            for k in sorted(follows & later[j]):
                yield i, j, k


def _evidence_sets(
    conversation: Conversation, evidence: EvidencePolicy
) -> dict[int, frozenset[TurnId]]:
    """Return the gold turns of each answerable question that has any, by question index."""
    read = {
        question.index: frozenset(read_evidence(question, conversation, evidence).ids)
        for question in conversation.questions
        if question.answerable
    }
    return {index: ids for index, ids in read.items() if ids}


def _nested(sets: Sequence[frozenset[TurnId]]) -> bool:
    return frozenset().union(*sets) in sets


def cap_groups(groups: Iterable[G], cap: int, *, seed: int) -> list[G]:
    """Return at most `cap` groups of each conversation, a random sample without replacement.

    The draw of one conversation depends on nothing but its id, its groups, `cap` and `seed`.

    Parameters
    ----------
    cap : int
        The paper's first build used 30, and took the first 30.

    Returns
    -------
    list of Group
        In the order given.

    Raises
    ------
    ConfigError
        If `cap` is not positive.
    """
    if cap < 1:
        raise ConfigError("`cap` is out of range", expected="1 or more groups", got=str(cap))
    every = list(groups)
    homes: dict[str, list[int]] = {}
    for position, group in enumerate(every):
        homes.setdefault(group.conversation, []).append(position)
    kept: set[int] = set()
    for name, positions in homes.items():
        draw = random.Random(f"{seed}:{name}")
        kept.update(draw.sample(positions, min(cap, len(positions))))
    return [group for position, group in enumerate(every) if position in kept]


def count_pairs(conversations: Iterable[Conversation], evidence: EvidencePolicy) -> dict[str, int]:
    """Return the number of pairs per conversation."""
    return {item.id: len(mine_pairs(item, evidence)) for item in conversations}
