"""Agents' replies to TeaFarm's items: with any memory system, and with none that thinks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from unbidden.corpus.evidence import read_evidence
from unbidden.errors import ConfigError
from unbidden.llm import Call
from unbidden.llm.reaching import reached
from unbidden.memory.protocol import ExplainsFailures
from unbidden.memory.registry import create_system
from unbidden.memory.units import one_of, turn_text
from unbidden.reply.answer import EMPTY, THOUGHTS_ONLY
from unbidden.reply.fixed import fixed_text
from unbidden.reply.render import text_lines
from unbidden.reply.replaying import NO_MEMORY, PROMPT
from unbidden.reply.rules import REPAIRED
from unbidden.reply.sections import visible
from unbidden.reply.teafarm.convert import to_question
from unbidden.reply.teafarm.making import untagged
from unbidden.retrieval.contract import refusal
from unbidden.retrieval.score import NO_GOLD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.evidence import EvidencePolicy
    from unbidden.corpus.models import Conversation
    from unbidden.llm import LLM, Outcome
    from unbidden.memory.protocol import MemorySystem
    from unbidden.reply.replaying import Arm
    from unbidden.reply.teafarm.items import TeaItem

Searched = Literal["dialogue", "question"]
MAX_FAILED = 0.05
ORACLE = "oracle"
"""The arm that is given the turns that show the truth."""


@dataclass(frozen=True, slots=True)
class TeaReply:
    """What an agent says to a misleading question.

    Attributes
    ----------
    agent : str
        Name of the arm or of the fixed agent.
    k : int or None
        Memories asked for.
    text : str or None
        None if unscored.
    memories : tuple of str
        As shown.
    notes : tuple of str
        What was clipped.
    unscored : str or None
        Why there is no reply.
    """

    item: TeaItem
    agent: str
    k: int | None
    text: str | None
    memories: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unscored: str | None = None


def fixed_replies(name: str, items: Sequence[TeaItem]) -> list[TeaReply]:
    """Return the replies of an agent that always says the same; raises as `fixed_text` does."""
    text = fixed_text(name)
    return [
        TeaReply(item, name, None, None if item.unscored else text, unscored=item.unscored)
        for item in items
    ]


def tea_replies(
    conversation: Conversation,
    items: Sequence[TeaItem],
    arms: Sequence[Arm],
    llm: LLM,
    *,
    search_with: Searched = "dialogue",
    evidence: EvidencePolicy = "paper",
    memory_tokens: int | None = REPAIRED.memory_tokens,
    reply_tokens: int | None = None,
    **options: Any,
) -> list[TeaReply]:
    """Return the replies of each arm to each item of one conversation.

    A system takes in the whole conversation once; the further session is never stored. One prompt
    serves all arms, the same as in the replay of sessions.

    Parameters
    ----------
    search_with : {"dialogue", "question"}
        What memories are searched for with: the whole further session, as in the paper, whose
        small talk can hide the question, or the question alone.
    evidence : {"paper", "repaired"}
        How the turns that show the truth are read, as for the oracle of LoCoMo-Conv's form.
    memory_tokens : int or None
        Most tokens of the memories of a prompt.
    reply_tokens : int or None
        Most tokens of a reply, in place of the prompt's own; one that is cut is unscored.
    **options
        Of every system that takes them.

    Raises
    ------
    ConfigError
        If `search_with` or a system is unknown, or an item is of another conversation.
    LLMError, BudgetExceeded
        As `LLM.ask_many` and `reached`.
    """
    one_of("search_with", search_with, ("dialogue", "question"))
    if strange := [item.id for item in items if item.conversation != conversation.id]:
        raise ConfigError(
            "an item is of another conversation",
            expected=f"items of {conversation.id}",
            got=", ".join(strange[:5]),
            next_step="group the items by conversation",
        )
    replies: list[TeaReply] = []
    for arm in arms:
        system, refused = None, None
        if arm.system not in (NO_MEMORY, ORACLE):
            system = create_system(arm.system, own=arm.options, llm=llm, **options)
            refused = refusal(system.ingest(conversation), MAX_FAILED)
        found = [
            _remembered(conversation, arm, system, item, search_with, evidence)
            if (reason := item.unscored or refused) is None
            else ((), reason)
            for item in items
        ]
        replies += _said(arm, items, found, llm, memory_tokens, reply_tokens)
    return replies


def _remembered(
    conversation: Conversation,
    arm: Arm,
    system: MemorySystem | None,
    item: TeaItem,
    search_with: Searched,
    evidence: EvidencePolicy,
) -> tuple[tuple[str, ...], str | None]:
    """Return what an arm brings to mind, or why it cannot."""
    if arm.system == ORACLE:
        shown = _true_turns(conversation, item, evidence)
        return shown, None if shown else f"no memories: {NO_GOLD}"
    if system is None:
        return (), None
    return _search(system, item, arm.k, search_with)


def _true_turns(
    conversation: Conversation, item: TeaItem, evidence: EvidencePolicy
) -> tuple[str, ...]:
    """Return the turns that show the truth, in the order of the conversation."""
    true = read_evidence(to_question(item, 0), conversation, evidence).ids
    return tuple(
        " ".join(turn_text(turn, session, "repaired").split())
        for session in conversation.sessions
        for turn in session.turns
        if turn.id in true
    )


def _search(
    system: MemorySystem, item: TeaItem, k: int, search_with: Searched
) -> tuple[tuple[str, ...], str | None]:
    query = item.tagged if search_with == "dialogue" else item.question
    hits = system.search(query, k=k, speaker=item.speaker)
    if isinstance(system, ExplainsFailures) and (reason := system.search_failure):
        return (), reason
    return tuple(hit.text for hit in hits), None


def _said(
    arm: Arm,
    items: Sequence[TeaItem],
    found: Sequence[tuple[tuple[str, ...], str | None]],
    llm: LLM,
    memory_tokens: int | None,
    reply_tokens: int | None,
) -> list[TeaReply]:
    shown = [text_lines(memories, memory_tokens) for memories, _ in found]
    calls = [
        Call(
            PROMPT,
            {
                "memories": lines,
                "dialogue": item.tagged.splitlines(),
                "speaker": item.other,
            },
            max_tokens=reply_tokens,
        )
        for item, (lines, _), (_, reason) in zip(items, shown, found, strict=True)
        if reason is None
    ]
    asked = llm.ask_many(calls, label=f"TeaFarm, {arm.name}") if calls else []
    outcomes = iter(reached(asked))
    replies = []
    for item, (lines, note), (_, reason) in zip(items, shown, found, strict=True):
        text, unscored = _heard(next(outcomes), item) if reason is None else (None, reason)
        notes = (note,) if note else ()
        replies.append(TeaReply(item, arm.name, arm.k or None, text, tuple(lines), notes, unscored))
    return replies


def _heard(outcome: Outcome[Any], item: TeaItem) -> tuple[str | None, str | None]:
    """Return what is heard of a reply, without a name in front, or why nothing is."""
    if not outcome.ok:
        return None, outcome.unscored
    reply = visible(outcome.text).reply
    if reply is None:
        return None, THOUGHTS_ONLY if outcome.text.strip() else EMPTY
    said = untagged(reply, (item.other, item.speaker))
    return (said, None) if said else (None, EMPTY)
