"""Three grades of one reply: faithfulness, relevance, engagement (LoCoMo-Conv 5.8).

The paper calls it pairwise, but each reply is graded alone against a block of memories, and sums
are compared. What the block is decides what faithfulness means: under the protocol "paper" each
arm's own memories, so that an arm without memory cannot reach more than half; under "repaired" one
reference for all arms. The caller puts the right one into the case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unbidden.judge.rubric import LabelRubric, addressed, safe
from unbidden.judge.verdict import Verdict

if TYPE_CHECKING:
    from unbidden.judge.case import Case
    from unbidden.judge.rubric import ProtocolName
    from unbidden.llm.schemas_judge import ReplyQuality

DIMENSIONS = ("faithfulness", "relevance", "engagement")
LEVELS = {"yes": 1.0, "partly": 0.5, "no": 0.0}


@dataclass(frozen=True)
class QualityRubric(LabelRubric):
    """The mean of three dimensions; the paper's total is three times the score."""

    def missing(self, case: Case) -> str | None:
        """Return None: no gold answer is needed, and none is shown."""
        return None

    def variables(self, case: Case, protocol: ProtocolName) -> dict[str, Any]:
        """Return speaker, message, reply and the memories."""
        return {**addressed(case), "memories": [safe(text) for text in case.memories]}

    def read(self, value: ReplyQuality, case: Case, protocol: ProtocolName) -> Verdict:
        """Return the verdict with its three parts."""
        return graded({name: LEVELS[getattr(value, name)] for name in DIMENSIONS})


def graded(parts: dict[str, float]) -> Verdict:
    """Return the verdict of three grades.

    >>> graded({"faithfulness": 1, "relevance": 0.5, "engagement": 0}).label
    '1/0.5/0'
    """
    label = "/".join(f"{parts[name]:g}" for name in DIMENSIONS)
    return Verdict(label, sum(parts.values()) / len(parts), parts=tuple(parts.items()))


def winner(first: Verdict, second: Verdict) -> str | None:
    """Return which reply has the higher sum, "tie", or None if one has no verdict (as in 5.8).

    >>> winner(Verdict("a", 1.0), Verdict("b", 0.5))
    'first'
    """
    if first.score is None or second.score is None:
        return None
    if abs(first.score - second.score) < 1e-9:
        return "tie"
    return "first" if first.score > second.score else "second"


def rubric() -> QualityRubric:
    """Return the three-dimensional rubric."""
    name = "judge_quality.v1"
    return QualityRubric(
        name="quality",
        about="mean of faithfulness, relevance and engagement, each 1, 0.5 or 0",
        scale={},
        answer_field="",
        prompts={"paper": name, "repaired": name},
    )
