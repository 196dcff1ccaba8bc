"""Which of two texts is better: replies (LoCoMo-Conv 5.9) and memories (Theanine's G-Eval).

A judge may favour the text it sees first, or a letter. Under the protocol "repaired" each pair is
put to it in both orders, and only a win in both counts. Under "paper" one order is asked, as given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unbidden.judge.guards import guard
from unbidden.judge.rubric import LabelRubric, safe
from unbidden.judge.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.judge.case import Case
    from unbidden.judge.rubric import ProtocolName

SCALE = {"first": 1.0, "tie": 0.5, "second": 0.0}
"""Score of the first text."""
SWAPPED = {"first": "second", "second": "first", "tie": "tie"}
INCONSISTENT = "the verdict changed with the order"


@dataclass(frozen=True)
class PairRubric(LabelRubric):
    """A choice between two texts."""

    def missing(self, case: Case) -> str | None:
        """Return whether the second text is missing; no gold answer is needed."""
        return None if case.other and case.other.strip() else "no second text"

    def views(self, case: Case) -> tuple[Case, ...]:
        """Return the pair in both orders."""
        return case, case.swapped()

    def variables(self, case: Case, protocol: ProtocolName) -> dict[str, Any]:
        """Return speaker, message, memories and the two replies."""
        return {
            "speaker": safe(case.speaker or "the user"),
            "message": safe(case.message),
            "memories": [safe(text) for text in case.memories],
            "first": guard(case.reply).text,
            "second": guard(case.other or "").text,
        }

    def combine(self, verdicts: Sequence[Verdict]) -> Verdict:
        """Return the win that holds in both orders, else a tie with a note.

        With one verdict (protocol "paper") that one counts. If either order has no verdict, the
        pair has none.
        """
        if len(verdicts) == 1:
            return verdicts[0]
        given, other = verdicts
        for verdict in verdicts:
            if not verdict.scored:
                return Verdict.none(f"one order: {verdict.unscored}", notes=verdict.notes)
        assert given.label is not None and other.label is not None
        notes = tuple(dict.fromkeys((*given.notes, *other.notes)))
        if given.label == SWAPPED[other.label]:
            return self.verdict(given.label, reason=given.reason, notes=notes)
        return self.verdict("tie", notes=(INCONSISTENT, *notes))


@dataclass(frozen=True)
class MemoryPairRubric(PairRubric):
    """A choice between two blocks of memories for a dialogue; its text is the case's message.

    Each block stands where a reply does, so it is clipped to what a judge sees of a reply
    (`unbidden.judge.guards.MAX_TOKENS`); what is cut off has no part in the choice.
    """

    def variables(self, case: Case, protocol: ProtocolName) -> dict[str, Any]:
        """Return speaker, dialogue and the two blocks."""
        found = super().variables(case, protocol)
        return {
            "speaker": found["speaker"],
            "dialogue": found["message"],
            "first": found["first"],
            "second": found["second"],
        }


def replies() -> PairRubric:
    """Return the choice between replies, by reference memories in the case."""
    name, word = "judge_pairwise.v1", "judge_pairwise_word.v1"
    return PairRubric(
        name="pairwise",
        about="the first reply fits the situation better: 1, tie 0.5, the second 0",
        scale=SCALE,
        answer_field="better",
        prompts={"paper": name, "repaired": name},
        word_prompts={"paper": word, "repaired": word},
    )


def helpfulness() -> MemoryPairRubric:
    """Return the choice between memories.

    The paper's criterion also rewards prose that connects events, which is its own system's form;
    "repaired" says that smoothness does not count.
    """
    word = "judge_helpfulness_word.v1"
    return MemoryPairRubric(
        name="helpfulness",
        about="the first memories help more with the dialogue: 1, tie 0.5, the second 0",
        scale=SCALE,
        answer_field="better",
        prompts={"paper": "judge_helpfulness_paper.v1", "repaired": "judge_helpfulness.v1"},
        word_prompts={"repaired": word},
    )
