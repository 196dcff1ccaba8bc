"""How Memora cuts a session: fixed lengths, or the episodes a model sees, with none left out."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from unbidden.memory.batches import Group

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Session
    from unbidden.llm.schemas_memora import Episode
    from unbidden.memory.batches import Message


class Segment(Group):
    """Messages whose facts are extracted together."""

    __slots__ = ()

    def variables(self) -> list[dict[str, str]]:
        """Return its messages as a prompt needs them: by the ids that facts cite."""
        return [
            {"id": message.turn, "name": message.name, "text": message.text}
            for message in self.messages
        ]


def segment_of_each(episodes: Sequence[Episode], size: int) -> tuple[list[int], bool]:
    """Return the segment of each of `size` messages, and whether the model's answer was repaired.

    The first episode that claims a message gets it; one that no episode claims joins the message
    before it, or at the beginning the one after it. So no message is lost, whatever is answered.

    >>> from unbidden.llm.schemas_memora import Episode
    >>> segment_of_each([Episode(topic="", indices=[2]), Episode(topic="", indices=[4, 9])], 4)
    ([0, 0, 0, 1], True)
    """
    claimed: dict[int, int] = {}
    repaired = False
    for place, episode in enumerate(episodes):
        for number in episode.indices:
            if not 1 <= number <= size or number in claimed:
                repaired = True
            else:
                claimed[number] = place
    first = claimed[min(claimed)] if claimed else 0
    places: list[int] = []
    for number in range(1, size + 1):
        before = places[-1] if places else first
        places.append(claimed.get(number, before))
    return places, repaired or len(claimed) < size


def interleaved(places: Sequence[int]) -> bool:
    """Return whether the messages of some segment do not follow each other.

    >>> interleaved([0, 0, 1]), interleaved([0, 1, 0])
    (False, True)
    """
    return len(list(groupby(places))) > len(set(places))


def fixed(size: int, length: int | None) -> list[int]:
    """Return the segment of each of `size` messages; a length of None makes one segment.

    >>> fixed(5, 2)
    [0, 0, 1, 1, 2]
    """
    return [place // (length or max(size, 1)) for place in range(size)]


def segments(session: Session, messages: Sequence[Message], places: Sequence[int]) -> list[Segment]:
    """Return segments in the order in which they begin, each with its messages in time order."""
    groups: dict[int, list[Message]] = {}
    for message, place in zip(messages, places, strict=True):
        groups.setdefault(place, []).append(message)
    return [
        Segment(f"session {session.number}, segment {number}", session, tuple(group))
        for number, group in enumerate(groups.values(), start=1)
    ]
