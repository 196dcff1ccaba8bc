"""Hallucination on questions without an answer: both of LoCoMo-Conv's versions (5.5).

The score is a rate of faults: 1 where the reply asserts what it should not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unbidden.judge.rubric import LabelRubric, addressed, safe

if TYPE_CHECKING:
    from unbidden.judge.case import Case
    from unbidden.judge.rubric import ProtocolName

SCALE = {"yes": 1.0, "no": 0.0}


@dataclass(frozen=True)
class TrapRubric(LabelRubric):
    """Version 1, whether the reply asserts the adversarial answer."""

    def missing(self, case: Case) -> str | None:
        """Return whether the false claim is missing."""
        return None if case.trap and case.trap.strip() else "no adversarial answer"

    def variables(self, case: Case, protocol: ProtocolName) -> dict[str, Any]:
        """Return speaker, message, reply and the false claim."""
        question = case.facts[0].question if case.facts else ""
        claim = f"{question.rstrip('?？')}: {case.trap}" if question else str(case.trap)
        return {**addressed(case), "claim": safe(claim)}


@dataclass(frozen=True)
class UnsupportedRubric(LabelRubric):
    """Version 2, whether the reply claims from memory what the shown memories do not hold.

    The protocol "paper" tells the judge that the memories lack the answer, which nobody has
    checked; "repaired" lets it check. It needs no gold answer.
    """

    def missing(self, case: Case) -> str | None:
        """Return None: a reply without any memories can be judged too."""
        return None

    def variables(self, case: Case, protocol: ProtocolName) -> dict[str, Any]:
        """Return speaker, message, reply and the memories."""
        return {**addressed(case), "memories": [safe(text) for text in case.memories]}


def trap() -> TrapRubric:
    """Return version 1."""
    name, word = "judge_trap.v1", "judge_trap_word.v1"
    return TrapRubric(
        name="trap",
        about="hallucination: the reply asserts the adversarial answer (1 is bad)",
        scale=SCALE,
        answer_field="asserted",
        prompts={"paper": name, "repaired": name},
        word_prompts={"paper": word, "repaired": word},
        higher_is_better=False,
    )


def unsupported() -> UnsupportedRubric:
    """Return version 2."""
    return UnsupportedRubric(
        name="unsupported",
        about="hallucination: the reply claims what its memories do not hold (1 is bad)",
        scale=SCALE,
        answer_field="asserted",
        prompts={"paper": "judge_unsupported_paper.v1", "repaired": "judge_unsupported.v1"},
        word_prompts={
            "paper": "judge_unsupported_paper_word.v1",
            "repaired": "judge_unsupported_word.v1",
        },
        higher_is_better=False,
    )
