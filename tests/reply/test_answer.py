"""Replies under conditions: one prompt, equal limits, and a reason for each that is not there."""

import json
from dataclasses import replace

import pytest

from unbidden.corpus.load import load_corpus
from unbidden.llm import Outcome, ScriptedLLM, ScriptExhausted
from unbidden.llm.parse import parse_text
from unbidden.llm.schemas_reply import SelectedReply, ThoughtReply
from unbidden.queries.build import build_queries
from unbidden.reply.answer import NO_SYSTEM, THOUGHTS_ONLY, answer, answer_all
from unbidden.reply.conditions import condition
from unbidden.reply.material import Material
from unbidden.reply.rules import PAPER, REPAIRED
from unbidden.retrieval.run import retrieve


@pytest.fixture
def corpus(sample, write):
    return load_corpus(str(write([sample])))


@pytest.fixture
def given(corpus):
    queries = build_queries(corpus, styles=["question", "implicit"])
    (ranking,) = retrieve(corpus, queries, ["bm25"], depth=4)
    return Material(corpus, queries, {"original": ranking})


def only(given, *styles):
    return replace(given, queries=[q for q in given.queries if q.style in styles])


def test_one_prompt_and_one_limit_for_all_plain_conditions(given):
    llm = ScriptedLLM(lambda seen: " It was Rui. ")
    names = ("top_k", "oracle", "oracle_context", "no_memory", "random", "all_memory")
    one = only(given, "implicit")
    options = {"top_k": {"k": 2}, "random": {"k": 2}}
    replies = answer_all(one, [condition(n, **options.get(n, {})) for n in names], llm)
    assert [reply.text for reply in replies] == ["It was Rui."] * len(names)
    assert {seen.prompt_name for seen in llm.seen} == {"reply.v1"}
    assert len({seen.messages[0]["content"] for seen in llm.seen}) == 1
    by_name = {reply.condition: reply for reply in replies}
    assert by_name["top_k"].system == "bm25" and by_name["oracle"].system == NO_SYSTEM
    assert by_name["oracle"].turns == ("D1:1",)
    assert by_name["oracle"].memories == ("Ana, 3 May 2023: I sold the red boat.",)
    assert by_name["no_memory"].memories == () and by_name["no_memory"].tokens == 0
    assert len(by_name["all_memory"].memories) == 6
    assert by_name["top_k"].k == 2 and by_name["oracle"].k is None
    assert all(reply.key for reply in replies)


def limits(llm):
    return [limit_of(llm, seen) for seen in llm.seen]


def limit_of(llm, seen):
    from unbidden.llm.base import Call, prepare

    keys = {}
    for limit in (200, 300, 600, 800):
        call = Call(seen.prompt_name, seen.variables, repeat=seen.repeat, max_tokens=limit)
        keys[prepare(call, llm.library, llm.settings).keys[0]] = limit
    return keys[seen.key]


def test_output_limits(given):
    one = only(given, "implicit")
    script = json.dumps({"situation": "s", "reply": "r"})
    for rules, want in ((REPAIRED, [300, 300, 300, 800]), (PAPER, [300, 800, 800, 300])):
        llm = ScriptedLLM(lambda seen: script if seen.schema else "REPLY: r")
        conditions = [
            condition("top_k", k=2),
            condition("random", k=2),
            condition("oracle_context"),
            condition("cot_noselect", k=2),
        ]
        answer_all(replace(one, rules=rules), conditions, llm)
        assert limits(llm) == want


def test_thoughts_and_choices_are_kept_apart_from_the_reply(given):
    value = {
        "situation": "She sold it.",
        "used": [{"number": 1, "adds": "the sale"}, {"number": 9, "adds": "x"}],
        "reply": "You sold it.",
    }
    llm = ScriptedLLM(lambda seen: json.dumps(value))
    (reply,) = answer(only(given, "implicit"), condition("cot_select", k=4), llm)
    found = len(reply.memories)
    assert reply.text == "You sold it."
    assert reply.thoughts == "She sold it.\n[1] the sale\n[9] x"
    assert reply.cited == ((1,) if found else ())
    assert any("do not exist" in note for note in reply.notes)


BROKEN = [
    ("cot_select", '{"situation": "s", "reply": "r"}', "schema_mismatch"),
    ("cot_select", '{"situation": "s", "used": [1], "reply": "r"}', "schema_mismatch"),
    ("cot_select", '{"situation": "s", "used": [], "reply": " "}', "schema_mismatch"),
    ("cot_select", '{"situation": "s", "used": [], "reply": "r', "invalid_json"),
    ("cot_noselect", '{"reply": "r"}', "schema_mismatch"),
    ("cot_noselect", '{"situation": "s", "reply": "r", "used": []}', "schema_mismatch"),
    ("cot_noselect", "She sold it.", "invalid_json"),
    ("cot_noselect", "", "invalid_json"),
    ("top_k", "", "empty"),
    ("top_k", Outcome("truncated", "limit", "It was"), "truncated"),
    ("top_k", Outcome("refused", "no"), "refused"),
    ("top_k", "<think>May? Or", THOUGHTS_ONLY),
]


@pytest.mark.parametrize(("name", "said", "status"), BROKEN)
def test_a_reply_that_is_not_there_has_a_reason(given, name, said, status):
    llm = ScriptedLLM([said])
    (reply,) = answer(only(given, "implicit"), condition(name, k=2), llm)
    assert reply.text is None
    assert reply.unscored.startswith(status)


def test_schemas():
    good = '{"situation": "", "used": [{"number": 2, "adds": ""}], "reply": "r"}'
    assert parse_text(good, SelectedReply)[0] == "ok"
    assert parse_text('{"situation": "", "reply": "r"}', ThoughtReply)[0] == "ok"


def test_the_paper_keeps_thoughts_in_the_reply(given):
    one = replace(only(given, "implicit"), rules=PAPER)
    cut = "SITUATION: She sold it.\nMEMORIES:\n[1] the s"
    for said in (cut, Outcome("truncated", "limit", cut)):
        (reply,) = answer(one, condition("cot_select", k=2), ScriptedLLM([said]))
        assert reply.text == cut
        assert any("thoughts and all" in note for note in reply.notes)
    whole = f"{cut}\nREPLY: You did."
    (reply,) = answer(one, condition("cot_select", k=2), ScriptedLLM([whole]))
    assert reply.text == "You did." and reply.thoughts == cut
    (plain,) = answer(
        one, condition("top_k", k=2), ScriptedLLM([Outcome("truncated", "limit", "It was")])
    )
    assert plain.text == "It was" and "the reply is cut" in plain.notes


def test_prompts_of_the_paper_and_of_styles(given):
    def asked(rules, name, style="implicit"):
        llm = ScriptedLLM(lambda seen: "ok")
        options = {"k": 2} if name == "top_k" else {}
        answer(replace(only(given, style), rules=rules), condition(name, **options), llm)
        return {seen.prompt_name for seen in llm.seen}

    assert asked(PAPER, "no_memory") == {"reply_no_memory.v1"}
    assert asked(REPAIRED, "no_memory") == {"reply.v1"}
    by_style = replace(REPAIRED, wording="by_style")
    assert asked(by_style, "top_k") == {"reply_proactive.v1"}
    assert asked(by_style, "top_k", "question") == {"reply.v1"}
    assert asked(PAPER, "top_k") == {"reply.v1"}


def test_unscored_memories_ask_for_no_reply(given):
    no_gold = [query for query in given.queries if not query.gold]
    (reply,) = answer(replace(given, queries=no_gold), condition("oracle"), ScriptedLLM([]))
    assert reply.text is None and reply.unscored.startswith("no memories: no evidence")
    with pytest.raises(ScriptExhausted):
        answer(given, condition("oracle"), ScriptedLLM([]))


def test_repeats_and_the_oracle_of_the_paper(given):
    one = only(given, "implicit")
    conditions = [condition("oracle"), condition("top_k", k=2)]
    llm = ScriptedLLM(lambda seen: "ok")
    ours = answer_all(one, conditions, llm, repeats=3)
    assert [reply.repeat for reply in ours] == [0, 1, 2] * 2
    assert len({seen.key for seen in llm.seen}) == 6
    paper = answer_all(replace(one, rules=PAPER), conditions, llm, repeats=3)
    assert [(r.condition, r.repeat) for r in paper] == [
        ("oracle", 0),
        *(("top_k", i) for i in range(3)),
    ]


def test_equal_memory_limits_and_clipping_noted(given):
    rules = replace(REPAIRED, memory_tokens=20)
    llm = ScriptedLLM(lambda seen: "ok")
    one = replace(only(given, "implicit"), rules=rules)
    names = ("top_k", "oracle_context", "all_memory", "random")
    for name in names:
        options = {"k": 4} if name in ("top_k", "random") else {}
        (reply,) = answer(one, condition(name, **options), llm)
        assert reply.tokens <= 20
        if name == "all_memory":
            assert reply.memories[-1].endswith("Good for him!")
            assert any("clipped to 20 tokens" in note for note in reply.notes)
            assert len(reply.turns) == len(reply.memories), "turns are those that were shown"
