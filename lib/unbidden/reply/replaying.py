"""Sessions replayed with memory systems: what would be said next, with what each brings to mind.

One prompt serves all systems, so that only the memories differ. (THEANINE's released replies of two
baselines with like memories differ by seven words in length, so theirs probably did not.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.errors import ConfigError
from unbidden.llm import Call
from unbidden.llm.reaching import reached
from unbidden.memory.protocol import ExplainsFailures
from unbidden.memory.registry import create_system
from unbidden.memory.theanine import Theanine
from unbidden.reply.metrics import rouge_l, word_count
from unbidden.reply.render import text_lines
from unbidden.reply.rules import REPAIRED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unbidden.corpus.models import Conversation
    from unbidden.corpus.replay import NextTurn
    from unbidden.llm import LLM
    from unbidden.memory.protocol import MemorySystem

PROMPT = "next_turn.v1"
NO_MEMORY = "no-memory"
"""The arm that is given the talk alone."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to remember, in the replay.

    Attributes
    ----------
    name : str
        What tables call it.
    system : str
        Registry name, or `NO_MEMORY`.
    k : int
        Memories asked for: 3 timelines in THEANINE, 6 sentences in its retrieval baseline.
    options : mapping
        Of the system.
    as_many_as : str or None
        An arm of THEANINE: at each turn as many sentences are asked for, in place of `k`, as its
        timelines hold (the paper's "dynamic k", Table 5).
    """

    name: str
    system: str
    k: int
    options: Mapping[str, Any]
    as_many_as: str | None = None


ARMS = (
    Arm("theanine", "theanine", 3, {"refine_mode": "per_timeline"}),
    Arm("theanine-no-refinement", "theanine", 3, {}),
    Arm("theanine-no-linking", "theanine", 3, {"relations": False, "refine_mode": "per_timeline"}),
    Arm("theanine-shuffled", "theanine", 6, {"relations": False, "timeline_form": "shuffled"}),
    Arm("msc-retrieval", "msc-retrieval", 6, {}),
    Arm("msc-retrieval, dynamic k", "msc-retrieval", 6, {}, as_many_as="theanine"),
    Arm(NO_MEMORY, NO_MEMORY, 0, {}),
)
"""THEANINE, its ablations, and its nearest rival, as in the paper's Tables 1 and 2."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What was said next, and with what at hand.

    Attributes
    ----------
    text : str or None
        None if unscored.
    memories : tuple of str
        As they were shown.
    unscored : str or None
        Why there is no reply: a failed search or a failed call.
    notes : tuple of str
        What was clipped.
    """

    arm: str
    turn: NextTurn
    text: str | None
    memories: tuple[str, ...]
    unscored: str | None = None
    notes: tuple[str, ...] = ()


def replay_replies(
    conversation: Conversation,
    turns: Sequence[NextTurn],
    arms: Sequence[Arm],
    llm: LLM,
    *,
    memory_tokens: int | None = REPAIRED.memory_tokens,
    **options: Any,
) -> list[Reply]:
    """Return the replies of each arm at each turn.

    Before each session a system takes in the sessions before it, and no later one; calls that were
    made for a shorter past are answered from the record.

    Parameters
    ----------
    turns : sequence of NextTurn
        Of this conversation, in order.
    memory_tokens : int or None
        Most tokens of the memories of a prompt, as for all other replies; None where only what a
        system would cost is counted.
    **options
        Of every system that takes them (protocol, embedder, ...).
    """
    replies: list[Reply] = []
    for arm in arms:
        system = None
        if arm.system != NO_MEMORY:
            system = create_system(arm.system, own=arm.options, llm=llm, **options)
        for _, group in groupby(turns, key=lambda turn: turn.session):
            session = list(group)
            past = replace(conversation, sessions=session[0].past)
            if system is not None:
                system.ingest(past)
            ks = [arm.k] * len(session)
            if arm.as_many_as is not None:
                (model,) = [other for other in arms if other.name == arm.as_many_as]
                ks = timeline_sizes(past, session, model, llm, **options)
            found = [_remembered(system, turn, k) for turn, k in zip(session, ks, strict=True)]
            replies += _said(arm, session, found, llm, memory_tokens)
    return replies


def timeline_sizes(
    past: Conversation, turns: Sequence[NextTurn], arm: Arm, llm: LLM, **options: Any
) -> list[int]:
    """Return how many different memories an arm's timelines hold at each turn, at least 1."""
    system = create_system(arm.system, own=arm.options, llm=llm, **options)
    if not isinstance(system, Theanine):
        raise ConfigError(
            f"arm {arm.name!r} draws no timelines", expected="an arm of theanine", got=arm.system
        )
    system.ingest(past)
    sizes = []
    for turn in turns:
        drawn = system.timelines(turn.tagged.splitlines(), k=arm.k)
        sizes.append(max(1, len({name for line in drawn for name in line.ids})))
    return sizes


def _remembered(
    system: MemorySystem | None, turn: NextTurn, k: int
) -> tuple[tuple[str, ...], str | None]:
    """Return the texts a system brings to mind for the talk so far, or why it cannot."""
    if system is None:
        return (), None
    hits = system.search(turn.tagged, k=k)
    if isinstance(system, ExplainsFailures) and (reason := system.search_failure):
        return (), reason
    return tuple(hit.text for hit in hits), None


def _said(
    arm: Arm,
    turns: Sequence[NextTurn],
    found: Sequence[tuple[tuple[str, ...], str | None]],
    llm: LLM,
    memory_tokens: int | None,
) -> list[Reply]:
    shown = [text_lines(memories, memory_tokens) for memories, _ in found]
    calls = [
        Call(
            PROMPT,
            {"memories": lines, "dialogue": turn.tagged.splitlines(), "speaker": turn.speaker},
        )
        for turn, (lines, _), (_, reason) in zip(turns, shown, found, strict=True)
        if reason is None
    ]
    outcomes = iter(reached(llm.ask_many(calls, label=f"replies, {arm.name}")))
    replies = []
    for turn, (lines, note), (_, reason) in zip(turns, shown, found, strict=True):
        text, unscored = None, reason
        if reason is None:
            outcome = next(outcomes)
            text = str(outcome.value).strip() if outcome.ok else None
            unscored = outcome.unscored
        notes = (note,) if note else ()
        replies.append(Reply(arm.name, turn, text, tuple(lines), unscored, notes))
    return replies


def reply_items(replies: Sequence[Reply]) -> pd.DataFrame:
    """Return one row a reply: ids, ROUGE-L in 0..1, words; no text.

    Returns
    -------
    DataFrame
        Columns ``conversation, session, turn, arm, rouge_l, words, gold_words, unscored``.
    """
    rows = []
    for reply in replies:
        scored = reply.text is not None
        text = reply.text or ""
        rows.append(
            {
                "conversation": reply.turn.conversation,
                "session": reply.turn.session,
                "turn": reply.turn.turn,
                "arm": reply.arm,
                "rouge_l": float(rouge_l([text], [reply.turn.gold])[0]) if scored else None,
                "words": word_count(text) if scored else None,
                "gold_words": word_count(reply.turn.gold),
                "unscored": reply.unscored,
            }
        )
    return pd.DataFrame(rows)


def set_arms(arms: Sequence[Arm], **options: Mapping[str, Any]) -> tuple[Arm, ...]:
    """Return arms with options of a run for one system, below those an arm has of its own.

    Parameters
    ----------
    **options
        By the system's registry name.
    """
    return tuple(
        replace(arm, options={**options.get(arm.system, {}), **arm.options}) for arm in arms
    )
