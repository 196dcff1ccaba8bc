"""The messages Nemori reads, and how they are parted into groups without losing one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    import datetime as dt
    from collections import Counter
    from collections.abc import Iterable, Sequence

    from unbidden.corpus.models import Session, TurnId

Uncovered = Literal["attach", "drop"]
UNCOVERED: tuple[Uncovered, ...] = get_args(Uncovered)


@dataclass(frozen=True, slots=True)
class Message:
    """A turn as Nemori buffers it.

    Attributes
    ----------
    position : int
        Counts the messages of a conversation, so that merged episodes can be put in order.
    """

    position: int
    turn: TurnId
    speaker: str
    text: str
    time_text: str
    time: dt.datetime | None

    @property
    def fields(self) -> dict[str, str]:
        """What prompts show."""
        return {"time": self.time_text, "speaker": self.speaker, "text": self.text}

    @property
    def line(self) -> str:
        """What a reply is shown."""
        return f"{self.speaker}: {self.text}"


@dataclass(frozen=True, slots=True)
class Group:
    """Messages of one episode.

    Attributes
    ----------
    told : bool
        Whether a model tells it; groups below the minimum are kept as they stand.
    """

    messages: tuple[Message, ...]
    topic: str = ""
    told: bool = True

    @property
    def name(self) -> str:
        """What a report calls it."""
        return f"messages {self.messages[0].turn} to {self.messages[-1].turn}"


def session_messages(session: Session, start: int) -> list[Message]:
    """Return a session's turns as messages, numbered from `start`; captions stand in brackets."""
    return [
        Message(
            position,
            turn.id,
            turn.speaker,
            turn.text.strip() + (f" [Image: {turn.caption}]" if turn.caption else ""),
            session.date_text,
            session.when,
        )
        for position, turn in enumerate(session.turns, start)
    ]


def parted(
    messages: Sequence[Message],
    proposed: Sequence[tuple[Iterable[int], str]],
    uncovered: Uncovered,
    events: Counter[str],
) -> tuple[list[Group], list[Message]]:
    """Return the groups of a block, and the messages that were lost.

    Numbers out of range are ignored, those of a group sorted and freed of repeats; a message may
    stand in two groups, as in the original. With "attach", a message in no group joins the one
    that has its nearest neighbour; with "drop" it is lost, as in the original.

    Parameters
    ----------
    proposed : sequence of (numbers, topic)
        As the model gave them, numbers from 1.
    """
    count = len(messages)
    clean: list[tuple[list[int], str]] = []
    for numbers, topic in proposed:
        given = set(numbers)
        inside = sorted(n for n in given if 1 <= n <= count)
        events["numbers_out_of_range"] += len(given) - len(inside)
        if inside:
            clean.append((inside, topic))
    if not clean:
        return [Group(tuple(messages))], []
    named = [n for numbers, _ in clean for n in numbers]
    events["messages_in_two_episodes"] += len(named) - len(set(named))
    missing = [n for n in range(1, count + 1) if n not in set(named)]
    events["messages_in_no_episode"] += len(missing)
    if uncovered == "attach":
        homes = {n: _nearest(n, [numbers for numbers, _ in clean]) for n in missing}
        for n, home in homes.items():
            clean[home][0].append(n)
        missing = []
    groups = [Group(tuple(messages[n - 1] for n in sorted(ns)), topic) for ns, topic in clean]
    return groups, [messages[n - 1] for n in missing]


def long_enough(
    groups: Sequence[Group], minimum: int, uncovered: Uncovered, events: Counter[str]
) -> tuple[list[Group], list[Message]]:
    """Return the groups after the rule of the least length, and the messages that were lost.

    With "attach", a short group joins the nearest long one of its session, or is kept as it stands
    if there is none. With "drop", as in the original, its messages are lost unless they also stand
    in another group.
    """
    long = [group for group in groups if len(group.messages) >= minimum]
    short = [group for group in groups if len(group.messages) < minimum]
    events["short_groups"] += len(short)
    if uncovered == "drop":
        kept = {m for group in long for m in group.messages}
        return long, [m for group in short for m in group.messages if m not in kept]
    if not long:
        return [Group(group.messages, group.topic, told=False) for group in short], []
    numbers = [[m.position for m in group.messages] for group in long]
    members = [list(group.messages) for group in long]
    for message in (m for group in short for m in group.messages):
        members[_nearest(message.position, numbers)].append(message)
    return [
        Group(tuple(sorted(set(found), key=lambda m: m.position)), group.topic)
        for found, group in zip(members, long, strict=True)
    ], []


def _nearest(number: int, groups: Sequence[Sequence[int]]) -> int:
    """Return the position of the group with the number nearest to one; the first of equals."""
    distances = [min(abs(number - other) for other in group) for group in groups]
    return distances.index(min(distances))
