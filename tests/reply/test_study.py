"""Every way to remember over one sample, in the order that spares a slow model work."""

import json
from dataclasses import replace

import pytest

from unbidden.corpus.load import load_corpus
from unbidden.errors import ConfigError, LLMError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.queries.build import build_queries
from unbidden.queries.facets import NO_REWRITE
from unbidden.queries.sampling import balanced_sample
from unbidden.reply.rules import REPAIRED
from unbidden.reply.study import needs, reply_all, search, way_name, ways
from unbidden.retrieval.run import Rules

ALL = ["oracle", "no_memory", "random", "compressed", "cot_select", "rewrite_facets"]


@pytest.fixture
def corpus(sample, write):
    return load_corpus(str(write([sample])))


@pytest.fixture
def queries(corpus):
    return balanced_sample(build_queries(corpus), per_style=None)


def say(seen):
    if seen.schema is not None:
        return json.dumps({"situation": "s", "used": [], "reply": "You sold it."})
    return "boat\nRui" if seen.prompt_name.startswith("rewrite") else "You sold it."


def run(corpus, queries, llm, conditions=tuple(ALL), rules=REPAIRED):
    chosen = ways(["bm25"], conditions, k=2, of="bm25")
    found = search(corpus, queries, chosen, llm, depth=2, rules=Rules())
    return chosen, reply_all(corpus, queries, chosen, found, llm, rules)


def test_every_way_has_a_row_for_every_query(corpus, queries):
    chosen, answers = run(corpus, queries, ScriptedLLM(say))
    names = [
        *("bm25", "oracle", "no memory", "random", "bm25, compressed", "bm25, cot select"),
        "bm25, rewrite facets",
    ]
    assert [way.name for way in chosen] == names
    assert [way_name(one.system, one.condition) for one in answers] == names * len(queries)
    assert [one.query for one in answers] == [q for q in queries for _ in names]
    assert all(one.text == "You sold it." for one in answers)
    oracle = answers[1]
    assert set(oracle.turns) == oracle.query.gold
    assert answers[2].memories == ()


def test_the_calls_of_a_need_stand_together_and_the_oracle_shares_a_beginning(corpus, queries):
    llm = ScriptedLLM(say)
    run(corpus, queries, llm, ["oracle"])
    asked = [seen for seen in llm.seen if seen.prompt_name == "reply.v1"]
    oracle = [
        s for s in asked if s.variables["memories"] == ["Ana, 3 May 2023: I sold the red boat."]
    ]
    texts = [seen.messages[-1]["content"].partition("\n\n")[0] for seen in oracle]
    assert len(set(texts)) == 1 and len(texts) >= 4
    order = [seen.variables["message"] for seen in asked]
    first = [q.text for q in needs(queries)[0]]
    assert order[: 2 * len(first)] == first * 2, "one need under both ways before the next"


def test_one_prompt_and_one_limit_serve_all_plain_ways(corpus, queries):
    llm = ScriptedLLM(say)
    rules = replace(REPAIRED, wording="short", memory_tokens=12)
    _, answers = run(corpus, queries, llm, ["oracle", "no_memory", "random"], rules)
    assert {seen.prompt_name for seen in llm.seen} == {"reply_short.v1"}
    assert max(one.tokens for one in answers) <= 12


def test_without_any_rewrite_the_row_is_unscored(corpus, queries):
    def fail(seen):
        return Outcome("timeout", "slow") if "rewrite" in seen.prompt_name else "You sold it."

    _, answers = run(corpus, queries, ScriptedLLM(fail), ["rewrite_facets"])
    rewritten = [one for one in answers if one.condition == "rewrite_facets"]
    assert all(NO_REWRITE in one.unscored for one in rewritten)
    assert all(one.text is None for one in rewritten)


def test_a_server_that_is_gone_stops_the_recording_at_once(corpus, queries):
    llm = ScriptedLLM(lambda seen: Outcome("connection", "ConnectError"))
    with pytest.raises(LLMError, match="cannot be reached"):
        run(corpus, queries, llm, ["oracle"])
    assert len(llm.seen) == len(needs(queries)[0]), "after the first way's replies to one need"
    half = iter([Outcome("connection", "ConnectError")])
    run(corpus, queries, ScriptedLLM(lambda seen: next(half, "You sold it.")), ["oracle"])


@pytest.mark.parametrize(
    ("systems", "conditions", "match"),
    [
        (["bm25", "bm25"], [], "twice"),
        ([], [], "nothing"),
        (["bm25"], ["top_k"], "top_k"),
        (["bm25"], ["orakel"], "oracle"),
    ],
)
def test_wrong_names(systems, conditions, match):
    with pytest.raises(ConfigError, match=match):
        ways(systems, conditions, k=2, of="bm25")
