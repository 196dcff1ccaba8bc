"""The forms of replies to the prompts that summarise one session."""

from __future__ import annotations

from unbidden.llm.schemas import Output


class SessionFacts(Output):
    """What a session tells about its speakers; none is a valid answer."""

    facts: list[str]


class CitedFact(Output):
    """A fact, and the numbers of the lines that say it."""

    text: str
    lines: list[int]


class CitedFacts(Output):
    """As `SessionFacts`, with the lines."""

    facts: list[CitedFact]
