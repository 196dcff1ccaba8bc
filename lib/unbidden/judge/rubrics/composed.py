"""How many of its facts a composed reply covers (LoCoMo-Conv 5.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unbidden.judge.rubric import LabelRubric, addressed, safe
from unbidden.judge.verdict import Verdict

if TYPE_CHECKING:
    from unbidden.judge.case import Case
    from unbidden.judge.rubric import ProtocolName
    from unbidden.llm.schemas_judge import Coverage


@dataclass(frozen=True)
class CoverageRubric(LabelRubric):
    """Coverage of numbered facts; the score is covered / all.

    The labels are "all", "some" and "none". The protocol "paper" takes the judge's marks in their
    order whatever numbers they carry, cuts off what is too many and counts a missing one as not
    covered. "repaired" goes by the number, and a missing or unknown one makes the whole verdict
    unscored. Marks are booleans under both; the paper's script takes the text "false" for true.
    """

    def variables(self, case: Case, protocol: ProtocolName) -> dict[str, Any]:
        """Return speaker, message, reply and the numbered facts."""
        facts = [
            {"number": str(number), "text": safe(fact.text)}
            for number, fact in enumerate(case.facts, 1)
        ]
        return {**addressed(case), "facts": facts}

    def read(self, value: Coverage, case: Case, protocol: ProtocolName) -> Verdict:
        """Return the share of facts that are covered, with each fact's mark as a part."""
        count = len(case.facts)
        if protocol == "paper":
            found = [mark.covered for mark in value.facts][:count]
            covered = [*found, *[False] * (count - len(found))]
        else:
            by_number = {mark.number: mark.covered for mark in value.facts}
            if sorted(by_number) != list(range(1, count + 1)):
                return Verdict.none(f"marks for facts {sorted(by_number)} of {count}")
            covered = [by_number[number] for number in range(1, count + 1)]
        return coverage(covered)


def coverage(covered: list[bool]) -> Verdict:
    """Return the verdict on facts of which each is covered or not.

    >>> coverage([True, False]).label, coverage([True, False]).score
    ('some', 0.5)
    """
    score = sum(covered) / len(covered)
    label = "all" if score == 1 else "some" if score else "none"
    parts = tuple((str(number), float(one)) for number, one in enumerate(covered, 1))
    return Verdict(label, score, parts=parts)


def rubric() -> CoverageRubric:
    """Return the rubric of atomic coverage."""
    name = "judge_composed.v1"
    return CoverageRubric(
        name="composed",
        about="share of the facts that the reply covers",
        scale={"all": 1.0, "some": 0.5, "none": 0.0},
        answer_field="",
        prompts={"paper": name, "repaired": name},
    )
