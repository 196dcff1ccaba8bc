"""The forms of replies that are thought about first; the person sees the field `reply` alone."""

from __future__ import annotations

from unbidden.llm.schemas import Output, Text


class UsedMemory(Output):
    """A memory that was chosen, by its number from 1, and what it adds."""

    number: int
    adds: str


class SelectedReply(Output):
    """A reply made from chosen memories.

    Attributes
    ----------
    situation : str
        What the person tells or needs; comes first, so that the choice follows from it.
    used : list of UsedMemory
        None is a valid choice.
    """

    situation: str
    used: list[UsedMemory]
    reply: Text


class ThoughtReply(Output):
    """A reply after one sentence of thought."""

    situation: str
    reply: Text
