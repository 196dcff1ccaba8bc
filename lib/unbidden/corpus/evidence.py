"""Two readings of LoCoMo's evidence strings, each saying what it changed.

`paper` splits on ";" only, which reproduces LoCoMo-Conv's 1,069 composed clusters. `repaired`
also separates ids written in one string, reads ``D:11:26`` and ``D30:05`` as the turns they mean,
and drops what names no turn. On the official file nine questions have a string that differs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.corpus.models import TurnId
from unbidden.errors import ConfigError, closest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unbidden.corpus.models import Conversation, Question

EvidencePolicy = Literal["paper", "repaired"]
POLICIES: tuple[EvidencePolicy, ...] = get_args(EvidencePolicy)

_ID = re.compile(r"D:?(\d{1,6}):(\d{1,6})(?!\d)", re.IGNORECASE)
_REST_OF_ID = re.compile(r"\d|\bD\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EvidenceChange:
    """What a policy did to one evidence string: `after` is empty where it was dropped."""

    where: str
    before: str
    after: tuple[TurnId, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The turn ids of one question under a policy, without repeats, and the changes made."""

    ids: tuple[TurnId, ...]
    changes: tuple[EvidenceChange, ...]


def _paper(text: str) -> list[TurnId]:
    return [TurnId(part.strip()) for part in text.split(";") if part.strip()]


def _repaired(text: str, known: frozenset[TurnId]) -> list[TurnId]:
    if text in known:
        return [TurnId(text)]
    return [turn_id for turn_id in _named(text) if turn_id in known]


def _named(text: str) -> list[TurnId]:
    return [TurnId(f"D{int(s)}:{int(t)}") for s, t in _ID.findall(text)]


def every_id_resolves(text: str, known: frozenset[TurnId]) -> bool:
    """Return whether the repaired reading of an evidence string drops none of its ids.

    >>> every_id_resolves("D1:1; D:2:01", frozenset({"D1:1", "D2:1"}))
    True
    >>> every_id_resolves("D1:1; D9:9", frozenset({"D1:1", "D2:1"}))
    False
    """
    if text in known:
        return True
    named = _named(text)
    unread = _REST_OF_ID.search(_ID.sub("", text))
    return bool(named) and known.issuperset(named) and unread is None


def read_evidence(
    question: Question, conversation: Conversation, policy: EvidencePolicy
) -> Evidence:
    """Return the gold turn ids of a question.

    Parameters
    ----------
    policy : {"paper", "repaired"}
        Under "paper" an id that names no turn stays, and can never be found.

    Raises
    ------
    ConfigError
        If the policy is unknown.
    """
    if policy not in POLICIES:
        raise ConfigError(
            f"unknown evidence policy {policy!r}",
            expected=closest(policy, POLICIES),
            next_step="set the parameter `evidence` to one of these",
        )
    ids: dict[TurnId, None] = {}
    changes = []
    for text in question.evidence:
        read = _paper(text) if policy == "paper" else _repaired(text, conversation.turn_ids)
        if read != [text]:
            where = f"{conversation.id}#{question.index}"
            changes.append(EvidenceChange(where, text, tuple(read)))
        ids.update(dict.fromkeys(read))
    return Evidence(tuple(ids), tuple(changes))


def evidence_changes(
    conversations: Iterable[Conversation], policy: EvidencePolicy
) -> list[EvidenceChange]:
    """Return every change a policy makes over whole conversations, in file order."""
    return [
        change
        for conversation in conversations
        for question in conversation.questions
        for change in read_evidence(question, conversation, policy).changes
    ]
