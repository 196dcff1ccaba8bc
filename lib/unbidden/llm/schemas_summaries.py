"""The forms of replies to the prompts that summarise one session."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from unbidden.llm.schemas import Output

MOST_FACTS: dict[str, Any] = {"maxItems": 12}
"""Sent with the schema, so that a small model that repeats itself comes to an end; a longer list
from an endpoint that does not keep to it is read all the same."""


class SessionFacts(Output):
    """What a session tells about its speakers; none is a valid answer."""

    facts: Annotated[list[str], Field(json_schema_extra=MOST_FACTS)]


class CitedFact(Output):
    """A fact, and the numbers of the lines that say it."""

    text: str
    lines: list[int]


class CitedFacts(Output):
    """As `SessionFacts`, with the lines."""

    facts: Annotated[list[CitedFact], Field(json_schema_extra=MOST_FACTS)]
