"""Mining the pairs of questions that a composed query joins (LoCoMo-Conv section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from unbidden.corpus.evidence import read_evidence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unbidden.corpus.evidence import EvidencePolicy
    from unbidden.corpus.models import Conversation, ConversationId, TurnId


@dataclass(frozen=True, slots=True)
class Pair:
    """Two questions whose gold turns overlap without being equal.

    Attributes
    ----------
    members : tuple of int
        Question indices, ascending.
    gold : frozenset of TurnId
        Union of both evidence sets.
    nested : bool
        Whether one evidence set holds the other, so that answering one question finds both.
    """

    conversation: ConversationId
    members: tuple[int, int]
    gold: frozenset[TurnId]
    nested: bool


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
    sets = [
        (question.index, frozenset(read_evidence(question, conversation, evidence).ids))
        for question in conversation.questions
        if question.answerable
    ]
    return [
        Pair(conversation.id, (i, j), first | second, first < second or second < first)
        for (i, first), (j, second) in combinations(sets, 2)
        if first != second and first & second
    ]


def count_pairs(conversations: Iterable[Conversation], evidence: EvidencePolicy) -> dict[str, int]:
    """Return the number of pairs per conversation."""
    return {item.id: len(mine_pairs(item, evidence)) for item in conversations}
