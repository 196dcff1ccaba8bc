"""Judging replies: verdicts, rubrics, guards, floors without a model, and trust in judges.

>>> from unbidden.llm import ScriptedLLM
>>> case = Case("1", "talk-1", "Ana", "What did I sell?", "A boat.",
...     facts=(GoldFact("What did Ana sell?", "the red boat"),))
>>> verdict = judge(ScriptedLLM(['{"use": "partial"}']), rubric("fact_use"), [case])[0]
>>> verdict.label, verdict.score
('partial', 0.5)
"""

from unbidden.judge.asking import judge, judge_views
from unbidden.judge.case import Case, GoldFact
from unbidden.judge.registry import RUBRICS, names_with, rubric, rubrics_for
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
    "names_with",
    "rubric",
    "rubrics_for",
]
