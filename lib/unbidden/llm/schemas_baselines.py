"""The forms of replies to the prompts of Memory Update, MemoChat and COMEDY."""

from __future__ import annotations

from typing import Literal

from unbidden.llm.schemas import Output

UpdateLabel = Literal["PASS", "CHANGE", "REPLACE", "APPEND", "DELETE"]


class PairDecision(Output):
    """How a new sentence bears on an old one (Memory Update), and briefly why."""

    reason: str
    label: UpdateLabel


class NumberedDecision(Output):
    """How a new sentence bears on the old one of that number."""

    memory: int
    label: UpdateLabel


class NumberedDecisions(Output):
    """Decisions on several old sentences; those not named are APPEND."""

    decisions: list[NumberedDecision]


class MemoTopic(Output):
    """A topic of a dialogue, and its first and last line (MemoChat, memo writing).

    Attributes
    ----------
    start, end : int
        Numbers of lines as shown; the system checks them.
    """

    topic: str
    summary: str
    start: int
    end: int


class Memo(Output):
    """The topics of a stretch of dialogue."""

    topics: list[MemoTopic]


class ChosenNumbers(Output):
    """Numbers of the options chosen, best first; none is a valid answer."""

    numbers: list[int]


class Compressed(Output):
    """A compressive memory (COMEDY); a part may be blank.

    Attributes
    ----------
    person : str
        Traits, likes and states of the person or persons described.
    relationship : str
        How the speakers stand to each other.
    events : str
        What happened.
    """

    person: str
    relationship: str
    events: str
