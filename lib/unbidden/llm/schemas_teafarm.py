"""The forms of what TeaFarm has a model write."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from unbidden.llm.schemas import Output, Person, Text


class MisleadingQuestion(Output):
    """A question that takes something false for granted.

    Attributes
    ----------
    memories : list of int
        Numbers, from 1, of the notes that show the truth.
    """

    memories: list[int]
    false_part: Text
    question: Text
    answer: Text


class Spoken(Output):
    """One utterance."""

    speaker: Person
    text: Text


def _some(turns: list[Spoken]) -> list[Spoken]:
    if not turns:
        raise ValueError("no utterance")
    return turns


class FurtherSession(Output):
    """What is said before the question, at least one utterance."""

    turns: Annotated[list[Spoken], AfterValidator(_some)]
