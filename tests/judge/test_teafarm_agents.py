"""Verdicts conversation by conversation: what is missing is counted, never a zero."""

import pytest

from tests.judge.test_teafarm import ITEM, replies
from unbidden.errors import NotRecorded
from unbidden.judge.teafarm_agents import WAITING, judge_talk, waits
from unbidden.llm import LLMSettings, Outcome, ScriptedLLM, connect
from unbidden.llm.session import PlanningLLM
from unbidden.reply.teafarm import TeaReply
from unbidden.reply.teafarm.agents import WAITING as NO_REPLY_YET


def waiting(agent="a"):
    return TeaReply(ITEM, agent, 3, None, unscored=NO_REPLY_YET)


def test_verdicts_that_are_not_on_record_are_counted():
    said = [*replies("No, I sold it.", None), waiting("later")]
    with connect(LLMSettings.of("nobody"), "replay") as llm:
        found, missing = judge_talk("mine", said, llm, form="likelihood")
    assert found["value"].isna().all() and set(found["metric"]) == {"teafarm"}
    assert list(found["unscored"]) == [
        WAITING,
        "no reply: timeout: slow",
        f"no reply: {NO_REPLY_YET}",
    ]
    assert [waits(reason) for reason in found["unscored"]] == [True, False, True]
    assert dict(zip(missing["agent"], missing["calls"], strict=True)) == {"agent 0": 1, "later": 1}
    assert (missing["input_tokens"] > 100).all()


def test_a_plan_counts_verdicts_to_come_once_for_each_agent():
    said = [waiting("a"), waiting("b"), *replies("No.")]
    with connect(LLMSettings.of("nobody"), "replay") as llm:
        planning = PlanningLLM(llm)
        found, missing = judge_talk("mine", said, planning)
        assert planning.plan().to_ask == 3
    assert found["value"].isna().all() and missing.empty


def test_labels_and_order_are_kept():
    llm = ScriptedLLM(["correct", "evasive"])
    found, missing = judge_talk("mine", replies("No.", "Hm."), llm, form="word")
    assert list(found["label"]) == ["correct", "evasive"] and missing.empty
    assert list(found["value"]) == [1.0, 0.0]
    none, _ = judge_talk("mine", [], llm)
    assert none.empty and "label" in none


def test_a_failed_verdict_is_not_one_to_wait_for():
    found, missing = judge_talk("mine", replies("No."), ScriptedLLM([Outcome("timeout", "slow")]))
    assert not waits(found["unscored"][0]) and missing.empty
    assert not waits(None) and not waits(float("nan"))


def test_a_model_that_cannot_plan_says_what_is_missing(monkeypatch):
    def missing(*args, **options):
        raise NotRecorded("nothing", next_step="record")

    monkeypatch.setattr("unbidden.judge.teafarm_agents.judge_tea", missing)
    with pytest.raises(NotRecorded):
        judge_talk("mine", replies("No."), ScriptedLLM([]))
