"""Agents' replies to misleading questions, and conversion to counterfactual queries and back."""

import json
from dataclasses import replace

import pytest

from tests.memory.hand import Words, conversation
from unbidden.corpus.load import load_corpus
from unbidden.corpus.models import Corpus, Turn
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.queries.build import build_queries
from unbidden.reply.replaying import NO_MEMORY, PROMPT, Arm
from unbidden.reply.teafarm import (
    FIXED,
    TeaItem,
    fixed_replies,
    from_question,
    items_of,
    tea_replies,
    to_question,
    with_items,
)

TALK = conversation(
    [
        ("Ana", "I bought a red boat."),
        ("Ben", "I like cats."),
        ("Ana", "Rain again."),
        ("Ben", "Soup is ready."),
    ],
    [("Ana", "I sold the boat to Rui."), ("Ben", "Good for you.")],
)
ITEM = TeaItem(
    "hand#b",
    "hand",
    "Ben",
    "Ana",
    question="Shall we take your boat out?",
    answer="Ana sold the boat.",
    false_part="Ana has a boat.",
    evidence=("D2:1",),
    talk=(Turn("T:1", "Ben", "I still like cats."), Turn("T:2", "Ana", "Hello!")),
)
ARMS = [
    Arm("bm25", "bm25", 1, {}),
    Arm("msc-retrieval", "msc-retrieval", 2, {}),
    Arm(NO_MEMORY, NO_MEMORY, 0, {}),
]


def say(seen):
    if seen.schema:
        return json.dumps({"facts": ["Ana sold the boat."]})
    return f"shown {len(seen.variables['memories'])}"


def test_any_memory_system_replies_as_the_one_who_is_asked():
    llm = ScriptedLLM(say)
    replies = tea_replies(TALK, [ITEM], ARMS, llm, embedder=Words())
    assert [(r.agent, r.text) for r in replies] == [
        ("bm25", "shown 1"),
        ("msc-retrieval", "shown 2"),
        (NO_MEMORY, "shown 0"),
    ]
    asked = [seen for seen in llm.seen if seen.prompt_name == PROMPT]
    assert {seen.variables["speaker"] for seen in asked} == {"Ana"}
    lines = asked[0].variables["dialogue"]
    assert lines[-1] == "Ben: Shall we take your boat out?" and len(lines) == 3
    assert not any(
        ITEM.answer in seen.messages[-1]["content"]
        for seen in asked
        if not seen.variables["memories"]
    )


def test_small_talk_can_hide_the_question():
    """By hand: the session's cats find the cats, the question finds a boat."""
    llm = ScriptedLLM(say)
    dialogue, question = (
        tea_replies(TALK, [ITEM], ARMS[:1], llm, search_with=how)[0].memories[0]
        for how in ("dialogue", "question")
    )
    assert "cats" in dialogue and "boat" in question
    with pytest.raises(ConfigError, match="search_with"):
        tea_replies(TALK, [ITEM], ARMS[:1], llm, search_with="talk")


def test_memories_are_clipped_alike():
    llm = ScriptedLLM(say)
    (reply,) = tea_replies(TALK, [ITEM], [Arm("b", "bm25", 4, {})], llm, memory_tokens=5)
    assert "clipped to 5 tokens" in reply.notes[0]


def test_what_cannot_be_asked_is_unscored():
    broken = replace(ITEM, id="hand#a", unscored="question: refused: no")
    llm = ScriptedLLM(lambda seen: Outcome("timeout", "slow") if seen.schema else "<think>hm")
    replies = tea_replies(TALK, [broken, ITEM], ARMS, llm, embedder=Words())
    assert all(reply.text is None for reply in replies)
    by_agent = {(r.agent, r.item.id): r.unscored for r in replies}
    assert by_agent["bm25", "hand#a"] == "question: refused: no"
    assert by_agent["bm25", "hand#b"] == "thoughts without a reply"
    assert "stored nothing" in by_agent["msc-retrieval", "hand#b"]
    with pytest.raises(ConfigError, match="another conversation"):
        tea_replies(TALK, [replace(ITEM, conversation="x")], ARMS, llm)


def test_fixed_agents():
    for name, text in FIXED.items():
        (reply,) = fixed_replies(name, [ITEM])
        assert reply.text == text
    (none,) = fixed_replies("always-agree", [replace(ITEM, unscored="x")])
    assert none.text is None and none.unscored == "x"
    with pytest.raises(ConfigError, match="always-agree"):
        fixed_replies("agree", [ITEM])


def test_items_become_counterfactual_queries_and_come_back():
    corpus = with_items(Corpus("tea", (TALK,)), [ITEM, replace(ITEM, id="x", unscored="no")])
    (query,) = build_queries(corpus)
    assert (query.style, query.text, query.speaker) == ("counterfactual", ITEM.question, "Ben")
    assert query.gold == {"D2:1"}
    (back,) = items_of(corpus)
    assert back == replace(ITEM, id="hand#0", talk=())
    with pytest.raises(ConfigError, match="no question"):
        to_question(replace(ITEM, unscored="no"), 0)


def test_counterfactual_queries_become_items_and_come_back():
    """Nothing of a query is lost on the way there and back, on the whole embedded corpus."""
    harbour = load_corpus("harbour")
    items = items_of(harbour)
    queries = build_queries(harbour, styles=["counterfactual"])
    assert [item.id for item in items] == [query.id for query in queries]
    assert [item.question for item in items] == [query.text for query in queries]
    for talk in harbour.conversations:
        for question in talk.questions:
            item = from_question(talk, question)
            if item is None:
                continue
            back = to_question(item, question.index)
            old, new = question.rewrites["counterfactual"], back.rewrites["counterfactual"]
            assert (new.text, new.speaker, new.asserted_wrong) == (
                old.text,
                old.speaker,
                old.asserted_wrong,
            )
            for name in ("index", "text", "category", "evidence", "answer"):
                assert getattr(back, name) == getattr(question, name)
            assert from_question(talk, back) == item


def test_a_query_alone_can_be_asked():
    harbour = load_corpus("harbour")
    talk = harbour.conversations[0]
    items = [item for item in items_of(harbour) if item.conversation == talk.id][:2]
    llm = ScriptedLLM(say)
    replies = tea_replies(talk, items, ARMS[:1], llm)
    assert [reply.text for reply in replies] == ["shown 1"] * 2
    assert llm.seen[0].variables["dialogue"] == [f"{items[0].speaker}: {items[0].question}"]
