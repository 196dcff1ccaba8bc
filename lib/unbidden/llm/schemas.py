"""The forms of structured replies, one class for each prompt that has one."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


class Output(BaseModel):
    """Base of output schemas: frozen, nothing optional, no further fields, types not coerced."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("blank")
    return text


# Checked here and not in the JSON schema: not every endpoint knows minLength in strict schemas.
Text = Annotated[str, AfterValidator(_not_blank)]
Person = Literal["speaker_a", "speaker_b"]


def most(count: int) -> Any:
    """Return the mark of a list that shall not be longer than `count`.

    It is sent with the schema, so that a small model that repeats itself comes to an end; a longer
    list from an endpoint that does not keep to it is read all the same.
    """
    return Field(json_schema_extra={"maxItems": count})


def full_lists(value: object) -> int:
    """Return how many lists of an answer are as long as `most` allows.

    An endpoint that keeps to the schema ends such a list there, whatever else was to be said.
    """
    if not isinstance(value, BaseModel):
        return 0
    found = 0
    for name, field in type(value).model_fields.items():
        held = getattr(value, name)
        extra = field.json_schema_extra
        if isinstance(extra, dict) and isinstance(held, list):
            found += len(held) >= int(str(extra.get("maxItems", len(held) + 1)))
    return found


class DialogRewrite(Output):
    """A question turned into a direct request to recall something.

    Attributes
    ----------
    naturalness : {"high", "medium", "low"}
        Whether people would ask for this outright.
    reason : str
        Why so.
    """

    subject_speaker: Person
    dialog_query: Text
    naturalness: Literal["high", "medium", "low"]
    reason: str


class ImplicitRewrite(Output):
    """A situation in which a good assistant would raise the memory unasked."""

    subject_speaker: Person
    implicit_query: Text
    expected_memory_use: str
    reason: str


class CounterfactualRewrite(Output):
    """A message that takes a wrong version of a remembered fact for granted."""

    subject_speaker: Person
    counterfactual_query: Text
    asserted_wrong: str
    reason: str


class ComposedQuery(Output):
    """A message that needs several memories at once."""

    subject_speaker: Person
    composed_query: Text
    expected_memory_use: str
    reason: str


class FactUse(Output):
    """How far a reply conveys a fact.

    >>> FactUse(use="partial").score
    0.5
    """

    use: Literal["correct", "partial", "wrong"]

    @property
    def score(self) -> float:
        """The grade in 0..1: 1 correct, 0.5 partial, 0 wrong or left out."""
        return {"correct": 1.0, "partial": 0.5, "wrong": 0.0}[self.use]


class Fact(Output):
    """One statement that stands on its own, and the turns that say it."""

    text: Text
    speaker: str
    turns: list[str]


class Facts(Output):
    """The facts in a piece of conversation; none is a valid answer."""

    facts: list[Fact]
