"""A model and the floors over the same replies; what is missing for want of a record."""

import json

import pytest

from tests.memory.hand import Words
from unbidden.corpus.load import load_corpus
from unbidden.judge.registry import RUBRICS
from unbidden.judge.scoring import (
    form_of,
    missing_record,
    model_verdicts,
    similarity_verdicts,
    with_stand_ins,
    word_verdicts,
)
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.session import PLANNED
from unbidden.queries.build import build_queries
from unbidden.reply.answer import answer_all
from unbidden.reply.conditions import condition
from unbidden.reply.material import Material
from unbidden.reply.table import answer_table

RUBRIC_NAMES = ("fact_use", "counterfactual", "composed")


@pytest.fixture
def corpus(sample, write):
    return load_corpus(str(write([sample])))


def replies(corpus, say):
    queries = build_queries(corpus, styles=["dialog", "counterfactual"])
    given = Material(corpus, queries)
    answers = answer_all(given, [condition("oracle"), condition("no_memory")], ScriptedLLM(say))
    return answer_table("mine", "m", answers)


def test_the_floors_need_no_model_and_agree_with_the_words(corpus):
    table = replies(corpus, lambda seen: "You sold the red boat.")
    words = word_verdicts(corpus, table, RUBRIC_NAMES)
    assert set(words["metric"]) == {"fact_use", "counterfactual"}
    assert (words["value"].dropna() == 1).all() and len(words) == len(table)
    near = similarity_verdicts(corpus, table, RUBRIC_NAMES, Words())
    assert set(near["metric"]) == {"fact_use"}, "similarity has no rule for premises"
    assert list(words.columns) == list(near.columns)


def test_every_rubric_has_a_form():
    for name in RUBRICS.names():
        for form in ("json", "word", "likelihood"):
            assert form_of(name, form) in (form, "json")
    assert form_of("composed", "word") == "json"
    assert form_of("counterfactual", "word") == "word"


def test_a_model_asked_for_words_is_asked_in_that_form(corpus):
    table = replies(corpus, lambda seen: "You sold the red boat.")
    llm = ScriptedLLM(lambda seen: "correct" if "fact" in seen.prompt_name else "corrected")
    items = model_verdicts(llm, corpus, table, RUBRIC_NAMES, form="word")
    assert (items["value"].dropna() == 1).all() and items["value"].notna().any()
    assert {seen.prompt_name for seen in llm.seen} == {
        "judge_fact_use_word.v1",
        "judge_counterfactual_word.v1",
    }


def test_failed_is_told_from_not_on_record(corpus):
    reasons = {
        f"planned: {PLANNED}": True,
        f"no reply: no memories: compression: planned: {PLANNED}": True,
        "no reply: timeout: slow": False,
        "truncated: at 80 tokens": False,
    }
    assert {reason: missing_record(reason) for reason in reasons} == reasons
    assert not missing_record(None)


def test_stand_ins_take_the_place_of_planned_replies_alone(corpus):
    said = iter(["You sold it.", Outcome("timeout", "slow")])
    table = replies(corpus, lambda seen: next(said, Outcome("planned", PLANNED)))
    full = with_stand_ins(table)
    made = table["text"].notna()
    failed = table["unscored"].fillna("").str.startswith("timeout")
    assert made.sum() == 1 and failed.sum() == 1
    assert (full["text"][made] == table["text"][made]).all()
    assert full["text"][failed].isna().all()
    planned = full["text"][~made & ~failed & ~table["unscored"].fillna("").str.contains("evidence")]
    assert planned.notna().all() and planned.is_unique
    llm = ScriptedLLM(
        lambda seen: json.dumps({"use": "wrong"} if "fact" in seen.prompt_name else
                                {"handling": "unaware"})
    )  # fmt: skip
    model_verdicts(llm, corpus, full, RUBRIC_NAMES)
    assert len(llm.seen) == made.sum() + len(planned)
