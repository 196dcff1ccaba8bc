"""Episodes: a title, an account, a time, and all the messages they tell."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unbidden.memory.records import united

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from unbidden.corpus.models import TurnId
    from unbidden.llm.schemas_notes import EpisodeText
    from unbidden.memory.nemori.messages import Group, Message

_SHOWN = 200
"""Characters of a candidate's content in the merge check, as in the original."""


@dataclass(frozen=True, slots=True)
class Episode:
    """A narrated group of messages.

    Attributes
    ----------
    unit : str
        The group it began as, for reports.
    fallback : bool
        True if it holds raw messages because no model told it.
    """

    unit: str
    title: str
    content: str
    time: dt.datetime | None
    messages: tuple[Message, ...]
    fallback: bool = False

    @property
    def sources(self) -> tuple[TurnId, ...]:
        """The turns of its messages."""
        return united(m.turn for m in self.messages)

    @property
    def index_text(self) -> str:
        """What is embedded; the title comes first, since MiniLM reads 256 word pieces only."""
        return f"{self.title} {self.content}"

    @property
    def shown(self) -> str:
        """What a reply is given to read."""
        return stamped(self.time, self.content)

    def fields(self, *, cut: bool = False) -> dict[str, Any]:
        """Return what prompts show of it."""
        content = self.content[:_SHOWN] if cut else self.content
        return {"time": time_text(self.time), "title": self.title, "content": content}


def told(group: Group, reply: EpisodeText, events: Counter[str]) -> Episode:
    """Return the episode a model told; without a readable time it has its messages'."""
    time = read_time(reply.timestamp)
    events["unreadable_times"] += time is None
    return Episode(
        group.name, reply.title, reply.content, time or group.messages[0].time, group.messages
    )


def raw(group: Group) -> Episode:
    """Return the episode of a group that no model told: every message as it stands."""
    lines = "\n".join(message.line for message in group.messages)
    title = f"Conversation ({len(group.messages)} messages)"
    return Episode(group.name, title, lines, group.messages[0].time, group.messages, fallback=True)


def merged(old: Episode, new: Episode, reply: EpisodeText, events: Counter[str]) -> Episode:
    """Return two episodes as one, with all messages of both in order of time.

    Its time is the model's if readable, otherwise the earlier of both.
    """
    time = read_time(reply.timestamp)
    events["unreadable_times"] += time is None
    known = [t for t in (old.time, new.time) if t is not None]
    messages = sorted({*old.messages, *new.messages}, key=lambda m: m.position)
    return Episode(
        new.unit,
        reply.title,
        reply.content,
        time or min(known, default=None),
        tuple(messages),
    )


def read_time(text: str) -> dt.datetime | None:
    """Return an ISO time without its zone, None if it is none.

    >>> read_time("2023-05-08T13:00:00Z"), read_time("in May")
    (datetime.datetime(2023, 5, 8, 13, 0), None)
    """
    try:
        return dt.datetime.fromisoformat(text.strip()).replace(tzinfo=None)
    except ValueError:
        return None


def time_text(time: dt.datetime | None) -> str:
    """Return a time to the minute, or nothing."""
    return f"{time:%Y-%m-%d %H:%M}" if time else ""


def stamped(time: dt.datetime | None, text: str) -> str:
    """Return a text after its time in brackets, as Nemori shows memories."""
    return f"[{time_text(time)}] {text}" if time else text


def with_messages(text: str, messages: Sequence[Message]) -> str:
    """Return an episode's text followed by what was really said."""
    return "\n".join([text, "Said:", *(message.line for message in messages)])
