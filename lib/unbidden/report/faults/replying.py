"""Switches of what a reply is given to read: captions of the oracle, the history's order, size."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import pandas as pd

from unbidden.memory.tokens import count_tokens
from unbidden.queries.overlap import content_words
from unbidden.reply.material import Shown, places
from unbidden.reply.render import line
from unbidden.reply.rules import PAPER, REPAIRED
from unbidden.report.faults.base import Context, Effect, Fault, effect

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unbidden.corpus.models import Conversation, Session, TurnId

_NONE = float("nan")


def _oracle_captions(context: Context) -> list[Effect]:
    """Compare how much of the answer the oracle's memories hold, without and with captions."""
    answers = {
        f"{talk.id}#{q.index}": content_words(q.answer or "")
        for talk in context.corpus.conversations
        for q in talk.questions
    }
    found = {talk.id: places(talk) for talk in context.corpus.conversations}
    rows: dict[bool, list[float]] = {False: [], True: []}
    homes = []
    queries = [q for q in context.queries() if q.style == "question" and q.category != 5]
    for query in queries:
        homes.append(query.conversation)
        own = found[query.conversation]
        for shown, values in rows.items():
            rules = replace(REPAIRED, turn_captions=shown)
            turns = [Shown.of_turn(turn) for turn in own if turn in query.gold]
            held = content_words(" ".join(line(turn, own, rules) for turn in turns))
            words = answers.get(query.id, frozenset())
            values.append(len(words & held) / len(words) if words and turns else _NONE)
    first, second = (_table(values, homes) for values in rows.values())
    measure = "words of the answer in the oracle's memories"
    settings = ("without captions", "with captions")
    return [effect(context, "captions-in-oracle", measure, settings, first, second)]


def _session_order(context: Context) -> list[Effect]:
    limit = REPAIRED.memory_tokens or 0
    orders: list[Callable[[Session], object]] = [_number, _text]
    tables = [_kept_gold(context, order, tokens=limit) for order in orders]
    measure = f"gold turns in the last {limit:,} tokens of the history"
    settings = ("sessions by number", "by name, 1, 10, 2")
    return [effect(context, "session-order", measure, settings, *tables)]


def _history_limit(context: Context) -> list[Effect]:
    characters, tokens = PAPER.history_characters, REPAIRED.memory_tokens
    first = _kept_gold(context, _number, characters=characters)
    second = _kept_gold(context, _number, tokens=tokens)
    settings = (f"{characters:,} characters", f"{tokens:,} tokens, as all conditions have")
    measure = "gold turns in the whole history as it is shown"
    return [effect(context, "history-limit", measure, settings, first, second)]


def _number(session: Session) -> object:
    return session.number


def _text(session: Session) -> object:
    return f"session_{session.number}"


def _kept_gold(
    context: Context,
    order: Callable[[Session], object],
    *,
    tokens: int | None = None,
    characters: int | None = None,
) -> pd.DataFrame:
    """Return the share of each plain question's gold turns that a clipped history still shows."""
    kept = {
        talk.id: _last_turns(talk, order, tokens, characters)
        for talk in context.corpus.conversations
    }
    queries = [q for q in context.queries() if q.style == "question" and q.category != 5]
    queries = queries or [q for q in context.queries() if q.category != 5]
    values = [
        len(query.gold & kept[query.conversation]) / len(query.gold) if query.gold else _NONE
        for query in queries
    ]
    return _table(values, [query.conversation for query in queries])


def _last_turns(
    talk: Conversation,
    order: Callable[[Session], object],
    tokens: int | None,
    characters: int | None,
) -> frozenset[TurnId]:
    own, used = places(talk), [0, 0]
    kept: list[TurnId] = []
    sessions = sorted(talk.sessions, key=order)  # type: ignore[arg-type]
    for turn in reversed([turn for session in sessions for turn in session.turns]):
        text = line(Shown.of_turn(turn.id), own, REPAIRED)
        used[0] += _size(text)
        used[1] += len(text) + 1
        if (tokens is not None and used[0] > tokens) or (
            characters is not None and used[1] > characters
        ):
            break
        kept.append(turn.id)
    return frozenset(kept)


_size = lru_cache(maxsize=50_000)(count_tokens)


def _table(values: Sequence[float], homes: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame({"value": values, "conversation": homes}).astype({"value": "float64"})


FAULTS = [
    Fault(
        "captions-in-oracle",
        "Captions in the oracle",
        "The oracle shows gold turns without the captions that all systems' memories have.",
        "LoCoMo-Conv, code",
        "corpus",
        "reply.rules: turn_captions",
        _oracle_captions,
    ),
    Fault(
        "session-order",
        "Order of sessions",
        "One system's sessions are read in the order of their names, session 10 before session 2.",
        "LoCoMo-Conv, code",
        "corpus",
        "",
        _session_order,
    ),
    Fault(
        "history-limit",
        "Token limit of the whole history",
        "The whole history may have 95,000 characters, other conditions far less.",
        "LoCoMo-Conv, code",
        "corpus",
        "reply.rules: history_characters",
        _history_limit,
    ),
]
