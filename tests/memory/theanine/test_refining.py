"""Rewriting timelines: one by one, together, not at all; and every way it can fail."""

import random

import pytest

from tests.memory.theanine.hand import drawing
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.schemas_theanine import RefinedTimeline, RefinedTimelines
from unbidden.memory.calls import CountedCalls
from unbidden.memory.theanine.refining import refine
from unbidden.memory.theanine.timelines import DrawRules, Timelines

TIMELINES = Timelines(drawing(), DrawRules()).drawn([("f", 0.9), ("z", 0.5)], random.Random(0))
RAW = ["[Event a.] - (Cause) - [Event c.] - (Reason) - [Event f.]", "[Event z.]"]
TALK = ["Ana: Hi!", "Ben: How is the boat?"]


def refined(mode, *answers, timelines=TIMELINES):
    llm = ScriptedLLM(answers)
    return refine(timelines, TALK, CountedCalls(llm), mode), llm


def texts(found):
    return [one.text for one in found]


def test_off_keeps_the_timelines_as_they_are():
    found, llm = refined("off")
    assert texts(found) == RAW and llm.seen == []
    assert [one.timelines for one in found] == [(TIMELINES[0],), (TIMELINES[1],)]
    assert all(one.unscored is None for one in found)


def test_a_call_for_each_timeline_single_memories_too():
    found, llm = refined(
        "per_timeline", RefinedTimeline(memory=" A led to f. "), RefinedTimeline(memory="Only z.")
    )
    assert texts(found) == ["A led to f.", "Only z."] and len(llm.seen) == 2
    assert [one.timelines for one in found] == [(TIMELINES[0],), (TIMELINES[1],)]
    user = llm.seen[0].messages[1]["content"]
    assert user == f"Timeline: {RAW[0]}\nTalk:\nAna: Hi!\nBen: How is the boat?"
    system = llm.seen[0].messages[0]["content"]
    assert all(
        f"{label}:" in system
        for label in ("Changed", "Cause", "Reason", "HinderedBy", "React", "Want", "SameTopic")
    )


def test_one_call_for_all_timelines():
    answer = RefinedTimelines(memories=["A led to f.", "z.", "And more."])
    found, llm = refined("joint", answer)
    assert texts(found) == ["A led to f.\nz.\nAnd more."] and len(llm.seen) == 1
    assert found[0].timelines == tuple(TIMELINES), "which text is whose cannot be said"
    assert llm.seen[0].messages[1]["content"].startswith(f"1. {RAW[0]}\n2. {RAW[1]}\nTalk:\nAna")


@pytest.mark.parametrize("mode", ["off", "per_timeline", "joint"])
def test_without_timelines_nothing_is_asked(mode):
    found, llm = refined(mode, timelines=[])
    assert found == [] and llm.seen == []


BAD = ["", "words", "[]", "{}", '{"memory": 1}', '{"memory": " "}', '{"memory": "cut',
       '{"memory": "x", "more": 1}', Outcome("refused", "no"),
       Outcome("truncated", "x")]  # fmt: skip


@pytest.mark.parametrize("bad", BAD)
def test_a_failed_call_leaves_its_own_timeline_as_it_is(bad):
    found, _ = refined("per_timeline", bad, RefinedTimeline(memory="Only z."))
    assert texts(found) == [RAW[0], "Only z."]
    assert found[0].unscored and found[1].unscored is None


@pytest.mark.parametrize(
    "bad",
    [*BAD, '{"memories": []}', '{"memories": ["a", " "]}', '{"memories": "a"}',
     '{"memories": ["a", 1]}'],
)  # fmt: skip
def test_a_failed_joint_call_leaves_all_timelines_as_they_are(bad):
    found, _ = refined("joint", bad)
    assert texts(found) == ["\n".join(RAW)]
    assert found[0].unscored and found[0].timelines == tuple(TIMELINES)
