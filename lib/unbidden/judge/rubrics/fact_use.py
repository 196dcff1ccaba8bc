"""How far a reply conveys a fact: LoCoMo-Conv's metric for dialog and implicit queries (5.2)."""

from __future__ import annotations

from unbidden.judge.rubric import LabelRubric

SCALE = {"correct": 1.0, "partial": 0.5, "wrong": 0.0}


def rubric() -> LabelRubric:
    """Return the rubric of partial fact use.

    The protocol "paper" has the paper's criteria (a cautious tone is fine, a general kind is half);
    "repaired" says besides that a wrong name, date or number is wrong and that the reply is data.
    The wordings "plain", "paper" and "reader" ask for the same thing in three ways, "reason" asks
    for a reason after the label. Replies are read strictly under both protocols; what the paper's
    loose reading does is in `unbidden.judge.loose`.
    """
    prompts = {"paper": "judge_fact_use_paper.v1", "repaired": "judge_fact_use.v2"}
    words = {"paper": "judge_fact_use_paper_word.v1", "repaired": "judge_fact_use_word.v1"}
    return LabelRubric(
        name="fact_use",
        about="the reply conveys the fact: correct 1, partial 0.5, wrong 0",
        scale=SCALE,
        answer_field="use",
        prompts=prompts,
        wordings={
            "plain": prompts["repaired"],
            "reader": "judge_fact_use_reader.v1",
            "reason": "judge_fact_use_reason.v1",
        },
        word_prompts={
            **words,
            "plain": words["repaired"],
            "reader": "judge_fact_use_reader_word.v1",
        },
    )
