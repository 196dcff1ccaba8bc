"""The form of the reply that says when turns would matter (`unbidden-llm`)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from unbidden.llm.schemas import Output

MOST_LINES: dict[str, Any] = {"maxItems": 5}
"""Sent with the schema, so that a small model that repeats itself comes to an end."""


class LineCues(Output):
    """When one line would matter later; a text may be blank.

    Attributes
    ----------
    line : int
        Number of the line as shown.
    who : str
        Whom it matters to.
    occasion : str
        A moment at which it should come to mind.
    consequence : str
        What follows from it.
    need : str
        What a person would then want or worry about.
    because_of : int or None
        Number of the line that is its cause, if that is shown.
    """

    line: int
    who: str
    occasion: str
    consequence: str
    need: str
    because_of: int | None


class WindowCues(Output):
    """The lines of a window that will matter; none is a valid answer."""

    lines: Annotated[list[LineCues], Field(json_schema_extra=MOST_LINES)]
