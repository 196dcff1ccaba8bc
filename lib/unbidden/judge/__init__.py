"""Judging replies: verdicts, rubrics, guards, floors without a model, and trust in judges."""

from unbidden.judge.asking import judge, judge_views
from unbidden.judge.case import Case, GoldFact
from unbidden.judge.registry import RUBRICS, rubric, rubrics_for
from unbidden.judge.rubric import FORMS, Form, LabelRubric, ProtocolName, Rubric
from unbidden.judge.verdict import Verdict

__all__ = [
    "FORMS",
    "RUBRICS",
    "Case",
    "Form",
    "GoldFact",
    "LabelRubric",
    "ProtocolName",
    "Rubric",
    "Verdict",
    "judge",
    "judge_views",
    "rubric",
    "rubrics_for",
]
