"""A conversation cut into message batches, as mem0 is fed: by whom each is stored, and as what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from unbidden.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unbidden.corpus.models import Conversation, Session, Turn, TurnId

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def observation_date(session: Session) -> str:
    """Return the day of a session as a prompt gives it, never today's; the same in every locale.

    The weekday helps to resolve words like "last Friday".
    """
    if session.when is None:
        return session.date_text.strip() or "unknown"
    return f"{session.when.date().isoformat()}, a {_WEEKDAYS[session.when.weekday()]}"


def said(turn: Turn, *, captions: bool) -> str:
    """Return what was said in a turn, with the caption of a shared image if wanted.

    >>> from unbidden.corpus.models import Turn
    >>> said(Turn("D1:1", "Ana", " Look! ", "a boat"), captions=True)
    'Look! [image: a boat]'
    """
    image = f"[image: {turn.caption}]" if captions and turn.caption else ""
    return f"{turn.text.strip()} {image}".strip()


@dataclass(frozen=True, slots=True)
class Message:
    """A turn in the role a store sees it in."""

    role: Literal["user", "assistant"]
    name: str
    text: str
    turn: TurnId

    def variables(self, cut: int | None = None) -> dict[str, str]:
        """Return what a prompt needs of it, the text cut to so many characters."""
        return {"role": self.role, "name": self.name, "text": self.text[:cut]}


@dataclass(frozen=True, slots=True)
class Group:
    """Messages of one session that go into one call.

    Attributes
    ----------
    label : str
        Names it for people.
    """

    label: str
    session: Session
    messages: tuple[Message, ...]

    @property
    def date(self) -> str:
        """The day it was said on."""
        return observation_date(self.session)

    @property
    def turns(self) -> tuple[TurnId, ...]:
        """The ids of its turns."""
        return tuple(message.turn for message in self.messages)

    def variables(self) -> list[dict[str, str]]:
        """Return its messages as a prompt needs them."""
        return [message.variables() for message in self.messages]


@dataclass(frozen=True, slots=True)
class Batch(Group):
    """Messages stored by one call.

    Attributes
    ----------
    last : bool
        Whether it is the last of its session.
    """

    last: bool


def batches(
    conversation: Conversation, owner: str | None, *, size: int | None, captions: bool
) -> Iterator[Batch]:
    """Yield the batches of a conversation in time order; none spans two sessions.

    Parameters
    ----------
    owner : str or None
        The speaker whose store it is: that person's turns are the user's and the other's the
        assistant's. None makes all turns the user's.
    size : int or None
        Messages in a batch; None means a whole session.
    """
    check_size(size)
    for session in conversation.sessions:
        messages = [
            Message(
                "user" if owner in (None, turn.speaker) else "assistant",
                turn.speaker,
                said(turn, captions=captions),
                turn.id,
            )
            for turn in session.turns
        ]
        done = 0
        for part in _parts(messages, size or len(messages)):
            span = f"messages {done + 1}-{done + len(part)}"
            done += len(part)
            store = f", store of {owner}" if owner else ""
            label = f"session {session.number}, {span}{store}"
            yield Batch(label, session, part, last=done == len(messages))


def check_size(size: int | None, parameter: str = "batch_size") -> None:
    """Check the number of messages in a batch or segment.

    Raises
    ------
    ConfigError
        If it is not positive.
    """
    if size is not None and size < 1:
        raise ConfigError(
            f"`{parameter}` is out of range",
            expected="1 or more messages, or None for whole sessions",
            got=str(size),
        )


def _parts(messages: list[Message], size: int) -> Iterator[tuple[Message, ...]]:
    for start in range(0, len(messages), size or 1):
        yield tuple(messages[start : start + size])
