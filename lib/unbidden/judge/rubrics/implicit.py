"""Two separate questions on replies to implicit queries: the fact, and the situation (5.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unbidden.judge.rubric import LabelRubric
from unbidden.judge.verdict import Verdict

if TYPE_CHECKING:
    from unbidden.judge.case import Case
    from unbidden.judge.rubric import ProtocolName
    from unbidden.llm.schemas_judge import FactAndSituation


@dataclass(frozen=True)
class TwoDimensionRubric(LabelRubric):
    """Fact used and situation answered; only both together count as success.

    The paper's script takes a blank second answer for a no. Here the form of the reply excludes
    a blank, and a reply of another form is unscored under both protocols.
    """

    def read(self, value: FactAndSituation, case: Case, protocol: ProtocolName) -> Verdict:
        """Return the verdict with its two parts."""
        return both(value.fact_used == "yes", value.situation_tied == "yes")


def both(fact: bool, situation: bool) -> Verdict:
    """Return the verdict of the two answers.

    >>> both(True, False).label
    'fact only'
    """
    label = {
        (True, True): "both",
        (True, False): "fact only",
        (False, True): "situation only",
        (False, False): "neither",
    }[fact, situation]
    parts = (("fact", float(fact)), ("situation", float(situation)))
    return Verdict(label, float(fact and situation), parts=parts)


def rubric() -> TwoDimensionRubric:
    """Return the two-dimensional rubric."""
    name = "judge_implicit.v1"
    return TwoDimensionRubric(
        name="implicit",
        about="the reply uses the fact and answers the situation: both 1, else 0",
        scale={"both": 1.0, "fact only": 0.0, "situation only": 0.0, "neither": 0.0},
        answer_field="",
        prompts={"paper": name, "repaired": name},
    )
