"""The forms of replies to the prompts of THEANINE."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from unbidden.llm.schemas import Output, Text


class RelationLabel(Output):
    """How an older memory leads to a newer one.

    Attributes
    ----------
    relation : str
        A label; any text is taken, since the system counts the words that are none.
    """

    relation: Text


class ReasonedRelation(Output):
    """The same, after a few words of reason.

    Attributes
    ----------
    reason : str
        Comes first, so that the label follows from it.
    """

    reason: str
    relation: Text


class RefinedTimeline(Output):
    """A timeline rewritten for the reply at hand."""

    memory: Text


def _not_none(texts: list[str]) -> list[str]:
    if not texts:
        raise ValueError("empty")
    return texts


class RefinedTimelines(Output):
    """All timelines of a turn rewritten together; how many texts there are is the model's choice.

    Attributes
    ----------
    memories : list of str
        One or more.
    """

    memories: Annotated[list[Text], AfterValidator(_not_none)]
