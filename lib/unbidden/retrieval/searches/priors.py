"""What a search can know without the words: who speaks, and how long ago a turn was said."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def only_speaker(ranking: Sequence[int], speakers: Sequence[str], name: str | None) -> list[int]:
    """Return the turns of a ranking that one person said, in order; all if nobody is named.

    A name that says nothing in the conversation filters nothing either: a filter that returns
    nothing would be a fault of the query, not of the search.

    >>> only_speaker([2, 0, 1], ["Ana", "Rui", "Ana"], "Ana")
    [2, 0]
    """
    if name is None or name not in speakers:
        return list(ranking)
    return [i for i in ranking if speakers[i] == name]


def newest_first(times: Sequence[dt.datetime | None]) -> list[int]:
    """Return positions of turns from the newest session to the oldest.

    Turns of one session keep their order, so that none is older than another by its place in it. A
    turn without a date has that of the turn before it.

    >>> import datetime as dt
    >>> newest_first([dt.datetime(2023, 1, 1), None, dt.datetime(2023, 2, 1)])
    [2, 0, 1]
    """
    current, found = dt.datetime.min, []
    for time in times:
        current = time if time is not None else current
        found.append(current)
    return sorted(range(len(found)), key=lambda i: (dt.datetime.max - found[i], i))
