"""The forms of replies to the prompts that summarise one session."""

from __future__ import annotations

from typing import Annotated

from unbidden.llm.schemas import Output, most


class SessionFacts(Output):
    """What a session tells about its speakers; none is a valid answer."""

    facts: Annotated[list[str], most(12)]


class CitedFact(Output):
    """A fact, and the numbers of the lines that say it."""

    text: str
    lines: list[int]


class CitedFacts(Output):
    """As `SessionFacts`, with the lines."""

    facts: Annotated[list[CitedFact], most(12)]
