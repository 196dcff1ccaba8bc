"""What a reply does about a wrong premise: LoCoMo-Conv's three classes (5.3)."""

from __future__ import annotations

from unbidden.judge.rubric import LabelRubric

SCALE = {"unaware": 0.0, "ambiguous": 0.5, "corrected": 1.0}
"""The paper's A, B and C; words, because a letter is found inside almost any sentence."""


def rubric() -> LabelRubric:
    """Return the rubric; both protocols ask alike, since only the paper's reading is at fault."""
    name, word = "judge_counterfactual.v1", "judge_counterfactual_word.v1"
    return LabelRubric(
        name="counterfactual",
        about="the wrong premise is corrected 1, doubted 0.5, not noticed 0",
        scale=SCALE,
        answer_field="handling",
        prompts={"paper": name, "repaired": name},
        word_prompts={"paper": word, "repaired": word},
    )
