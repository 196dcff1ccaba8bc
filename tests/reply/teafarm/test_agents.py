"""Agents in both forms: who is shown what, and what is left out of a replayed run."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reply.teafarm.test_replies import ITEM, TALK
from unbidden.corpus.load import load_corpus
from unbidden.corpus.models import Corpus
from unbidden.errors import ConfigError
from unbidden.llm import LLMSettings, Outcome, ScriptedLLM, connect
from unbidden.reply.replaying import NO_MEMORY
from unbidden.reply.teafarm.agents import (
    WAITING,
    Limits,
    agents,
    message_replies,
    query_ids,
    talk_replies,
)
from unbidden.reply.teafarm.choosing import converted, spread
from unbidden.reply.teafarm.replies import ORACLE

CORPUS = Corpus("tea", (TALK,))
LIMITS = Limits(40, 20)


def arms(*systems, **own):
    return agents(systems, top_k=1, memory_tokens=40, own=own)


def test_who_is_shown_what_in_both_forms():
    """The oracle sees D2:1 and nothing else, the agent without memory nothing."""
    llm = ScriptedLLM(lambda seen: "Ana: No.")
    replies, missing = talk_replies(CORPUS, [ITEM], arms("bm25", "full-history"), llm, LIMITS)
    shown = {reply.agent: reply.memories for reply in replies}
    assert shown[NO_MEMORY] == ()
    assert shown[ORACLE] == ("Ana, 2 May 2023: I sold the boat to Rui.",)
    assert len(shown["bm25"]) == 1 and "boat" in shown["full-history"][0]
    assert {reply.text for reply in replies} == {"No."}, "no name in front"
    assert missing.empty
    table, missing = message_replies(
        CORPUS, [ITEM], arms("bm25", "full-history"), llm, LIMITS, model="m"
    )
    assert list(table["system"]) == [NO_MEMORY, ORACLE, "bm25", "full-history"]
    assert table.set_index("system")["memories"][ORACLE] == list(shown[ORACLE])
    assert missing.empty
    assert all(seen.variables["speaker"] == "Ben" for seen in llm.seen[4:])
    assert {seen.variables["message"] for seen in llm.seen[4:]} == {ITEM.question}
    assert not any(ITEM.answer in str(seen.messages) for seen in llm.seen), "gold stays away"


def test_published_numbers_of_memories_and_options():
    found = {arm.name: arm for arm in arms("theanine", "msc-retrieval", "dense", theanine={"a": 1})}
    assert (found["theanine"].k, found["msc-retrieval"].k, found["dense"].k) == (3, 6, 1)
    assert found["theanine"].options == {"a": 1}
    llm = ScriptedLLM(lambda seen: "No.")
    with pytest.raises(ConfigError, match="no option"):
        talk_replies(CORPUS, [ITEM], arms("bm25", bm25={"a": 1}), llm, LIMITS)


def test_the_true_turns_may_not_be_known():
    llm = ScriptedLLM(lambda seen: "No.")
    blind = replace(ITEM, evidence=())
    replies, _ = talk_replies(CORPUS, [blind], arms(), llm, LIMITS)
    reasons = {reply.agent: reply.unscored for reply in replies}
    assert reasons[NO_MEMORY] is None and "no evidence" in reasons[ORACLE]
    table, _ = message_replies(CORPUS, [blind], arms(), llm, LIMITS, model="m")
    assert "no evidence" in table.set_index("system")["unscored"][ORACLE]


@pytest.mark.parametrize(
    ("evidence", "turns"),
    [("repaired", ["I bought a red boat.", "I sold the boat"]), ("paper", [])],
)
def test_both_forms_read_evidence_by_one_rule(evidence, turns):
    """Two ids in one string are two turns as repaired; as published they name no turn."""
    item = replace(ITEM, evidence=("D1:1 D2:1",))
    limits = replace(LIMITS, evidence=evidence)
    llm = ScriptedLLM(lambda seen: "No.")
    replies, _ = talk_replies(CORPUS, [item], arms(), llm, limits)
    table, _ = message_replies(CORPUS, [item], arms(), llm, limits, model="m")
    (talk,) = (reply for reply in replies if reply.agent == ORACLE)
    (message,) = table[table["system"] == ORACLE].to_dict("records")
    for shown in (list(talk.memories), message["memories"]):
        assert len(shown) == len(turns)
        assert all(part in line for part, line in zip(turns, shown, strict=True))
    assert (talk.text is None) == (message["text"] is None) == (not turns)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (Outcome("timeout", "slow"), "timeout: slow"),
        (Outcome("truncated", "cut"), "truncated"),
        ("Ana: ", "empty"),
    ],
)
def test_a_reply_that_is_not_there_has_its_reason(said, reason):
    replies, _ = talk_replies(CORPUS, [ITEM], arms(), ScriptedLLM(lambda seen: said), LIMITS)
    assert all(reply.text is None and reason in reply.unscored for reply in replies)


def test_what_is_not_on_record_is_counted_by_conversation():
    with connect(LLMSettings.of("nobody"), "replay") as llm:
        replies, missing = talk_replies(CORPUS, [ITEM], arms("bm25"), llm, LIMITS)
        table, later = message_replies(CORPUS, [ITEM], arms("bm25"), llm, LIMITS, model="m")
    assert {reply.unscored for reply in replies} == {WAITING} == set(table["unscored"])
    assert list(missing["agent"]) == [NO_MEMORY, ORACLE, "bm25"] == list(later["agent"])
    assert set(missing["calls"]) == {1} == set(later["calls"])


def test_an_item_that_was_never_made_keeps_its_reason():
    broken = replace(ITEM, id="hand#a", unscored="question: refused")
    with connect(LLMSettings.of("nobody"), "replay") as llm:
        replies, _ = talk_replies(CORPUS, [broken, ITEM], arms(), llm, LIMITS)
    assert [reply.unscored for reply in replies[:2]] == ["question: refused", WAITING]


def test_queries_are_found_back():
    broken = replace(ITEM, id="x", unscored="no")
    items = [broken, ITEM, replace(ITEM, id="hand#c")]
    assert query_ids(items) == {"hand#0": "hand#b", "hand#1": "hand#c"}


def test_harbour_gives_enough_questions_of_every_conversation():
    harbour = load_corpus("harbour")
    items = converted(harbour, 7)
    assert len(items) == 42 and len({item.id for item in items}) == 42
    for talk in harbour.conversations:
        asked = {item.speaker for item in items if item.conversation == talk.id}
        assert asked == set(talk.speakers), "both speakers are asked"
    assert converted(harbour, 0) == []


@given(st.lists(st.integers(), unique=True, max_size=60), st.integers(0, 70))
def test_spread_keeps_order_and_number(items, count):
    found = spread(items, count)
    assert len(found) == min(count, len(items))
    assert found == [item for item in items if item in set(found)]
    if found:
        assert found[0] == items[0]
