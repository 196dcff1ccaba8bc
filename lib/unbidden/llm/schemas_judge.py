"""The forms of a judge's verdicts on replies: the label alone, so that a call costs few tokens."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator

from unbidden.llm.schemas import Output

YesNo = Literal["yes", "no"]
Level = Literal["yes", "partly", "no"]


class FactUseReasoned(Output):
    """How far a reply conveys a fact, and then why; the label first, so that it is not argued."""

    use: Literal["correct", "partial", "wrong"]
    reason: str


class PremiseHandling(Output):
    """What a reply does about a wrong premise."""

    handling: Literal["unaware", "ambiguous", "corrected"]


class FactMark(Output):
    """Whether a reply covers one fact, which is named by its number."""

    number: int
    covered: bool


def _distinct(marks: list[FactMark]) -> list[FactMark]:
    if len({mark.number for mark in marks}) < len(marks):
        raise ValueError("a fact's number stands twice")
    return marks


class Coverage(Output):
    """Which facts a reply covers."""

    facts: Annotated[list[FactMark], AfterValidator(_distinct)]


class Asserted(Output):
    """Whether a reply asserts what it should not."""

    asserted: YesNo


class FactAndSituation(Output):
    """Whether a reply uses a fact, and whether it answers the situation; two separate questions."""

    fact_used: YesNo
    situation_tied: YesNo


class ReplyQuality(Output):
    """Three grades of one reply, each on three levels."""

    faithfulness: Level
    relevance: Level
    engagement: Level


class Choice(Output):
    """Which of two texts is the better one."""

    better: Literal["first", "second", "tie"]


class ReasonedChoice(Output):
    """Which of two texts is the better one, argued before it is chosen, as G-Eval has it."""

    reason: str
    better: Literal["first", "second", "tie"]


class BinaryResult(Output):
    """Whether a reply agrees with the reference answer: the paper's two classes."""

    result: Literal["correct", "wrong"]


class ThreeWayResult(Output):
    """Whether a reply agrees with the reference answer, disagrees, or evades it."""

    result: Literal["correct", "wrong", "evasive"]
