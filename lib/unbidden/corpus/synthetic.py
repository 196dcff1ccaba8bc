"""Conversations made by a seeded generator: to measure cost against size, never quality.

Words are made up and drawn by Zipf's law, so that indices have the long and short lists that real
text gives them. Lengths follow LoCoMo's: 27 sessions of 22 turns, some 23 words a turn. Nothing is
kept: conversations come one by one, however many there are.
"""

from __future__ import annotations

import datetime as dt
import itertools
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from unbidden.corpus.dates import month_name
from unbidden.corpus.models import Conversation, ConversationId, Question, Session, Turn, TurnId
from unbidden.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

LOCOMO_CONVERSATIONS = 10
SESSIONS, TURNS = 27, 22
"""Of one conversation, and of one session: LoCoMo's means (272 sessions, 5,882 turns in ten)."""
_WORDS = 20_000
_EPOCH = dt.datetime(2023, 1, 1, 13, 56)
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "el", "or")]


@lru_cache(maxsize=1)
def _vocabulary() -> tuple[NDArray[np.str_], NDArray[np.float64]]:
    """Return made-up words, all different, and the cumulative share of each in text."""
    made = ("".join(parts) for n in (1, 2, 3) for parts in itertools.product(_SYLLABLES, repeat=n))
    words = np.array(list(itertools.islice(made, _WORDS)))
    weights = 1 / (np.arange(_WORDS) + 2.7)
    return words, np.cumsum(weights / weights.sum())


def synthetic_conversations(
    count: int, *, seed: int = 0, sessions: int = SESSIONS, turns: int = TURNS, questions: int = 20
) -> Iterator[Conversation]:
    """Yield conversations ``synthetic-1``, ``synthetic-2``, ...; each depends on its number alone.

    Parameters
    ----------
    count : int
        How many; `LOCOMO_CONVERSATIONS` make the size of LoCoMo.
    sessions, turns : int
        Sessions of a conversation, and turns of a session.
    questions : int
        Questions of each conversation. A question repeats some words of one turn, common and
        rare, which is its evidence; it says nothing about how hard real questions are.

    Raises
    ------
    ConfigError
        If a number is not positive.
    """
    for name, value in {"count": count, "sessions": sessions, "turns": turns}.items():
        if value < 1:
            raise ConfigError(f"`{name}` is out of range", expected="1 or more", got=str(value))
    for number in range(1, count + 1):
        yield _conversation(
            number, np.random.default_rng([seed, number]), sessions, turns, questions
        )


def _conversation(
    number: int, generator: np.random.Generator, sessions: int, turns: int, questions: int
) -> Conversation:
    pair = (f"Ana{number}", f"Ben{number}")
    made = []
    for session in range(1, sessions + 1):
        when = _EPOCH + dt.timedelta(days=9 * session)
        texts = _texts(generator, turns)
        made.append(
            Session(
                session,
                when,
                f"1:56 pm on {when.day} {month_name(when.month)}, {when.year}",
                tuple(
                    Turn(TurnId(f"D{session}:{i}"), pair[i % 2], text)
                    for i, text in enumerate(texts, start=1)
                ),
            )
        )
    every = [turn for session in made for turn in session.turns]
    asked = tuple(
        _question(index, every[int(generator.integers(len(every)))]) for index in range(questions)
    )
    return Conversation(ConversationId(f"synthetic-{number}"), pair, tuple(made), asked)


def _texts(generator: np.random.Generator, count: int) -> list[str]:
    """Return sentences with LoCoMo's mean and spread of length, at least three words each."""
    words, cumulative = _vocabulary()
    lengths = np.clip(generator.gamma(3.2, 7.1, count), 3, 87).astype(int)
    drawn = words[np.searchsorted(cumulative, generator.random(int(lengths.sum())))].tolist()
    ends = np.cumsum(lengths).tolist()
    return [" ".join(drawn[a:b]) + "." for a, b in itertools.pairwise([0, *ends])]


def _question(index: int, turn: Turn) -> Question:
    words = turn.text.rstrip(".").split()
    rarest = sorted(set(words), key=lambda word: (-len(word), word))[:3]
    asked = " ".join([*words[:6], *rarest])  # common words too, as in real questions
    return Question(index, f"What was said about {asked}?", 4, (turn.id,), answer=rarest[0])
