"""What each condition gives for a query, or why it gives nothing."""

from dataclasses import replace

import pytest

from unbidden.corpus.load import load_corpus
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.queries.build import build_queries
from unbidden.queries.facets import SearchTexts
from unbidden.reply.conditions import CONDITIONS, Condition, FixedReply, condition
from unbidden.reply.material import Material
from unbidden.reply.rules import PAPER, REPAIRED
from unbidden.retrieval.rewritten import retrieve_rewritten
from unbidden.retrieval.run import retrieve


@pytest.fixture
def corpus(sample, write):
    return load_corpus(str(write([sample])))


@pytest.fixture
def queries(corpus):
    return build_queries(corpus, styles=["question", "implicit"])


def turns(remembered):
    return [memory.turn for memory in remembered.memories]


def test_every_condition_has_a_name_and_the_protocol():
    for name in CONDITIONS.names():
        one = condition(name)
        assert one.name == name
        assert isinstance(one, Condition)
    golden = [name for name in CONDITIONS.names() if condition(name).gold]
    assert golden == ["oracle", "oracle_context"]
    with pytest.raises(ConfigError, match=r"did you mean oracle"):
        condition("oracel")
    with pytest.raises(ConfigError, match="option"):
        condition("oracle", kk=3)
    for name in ("top_k", "random", "compressed", "rewrite_facets"):
        with pytest.raises(ConfigError, match="`k` is out of range"):
            condition(name, k=0)
    with pytest.raises(ConfigError, match="always-agree"):
        FixedReply("agree")
    with pytest.raises(ConfigError, match="neighbours"):
        condition("oracle_context", neighbours=-1)


def test_oracle_shows_the_gold_turns_in_order(corpus, queries):
    found = condition("oracle").remember(Material(corpus, queries))
    assert turns(found[1]) == ["D1:1", "D1:3", "D2:2"]
    no_gold = next(i for i, query in enumerate(queries) if not query.gold)
    assert found[no_gold].unscored and not found[no_gold].memories


def test_oracle_with_neighbours_stays_inside_the_session(corpus, queries):
    found = condition("oracle_context", neighbours=1).remember(Material(corpus, queries))
    assert turns(found[0]) == ["D1:1", "D1:2"]
    assert turns(found[1]) == ["D1:1", "D1:2", "D1:3", "D2:1", "D2:2", "D2:3"]


def test_evidence_that_names_no_turn(corpus, queries):
    lost = replace(queries[0], gold=frozenset({"D9:9"}))
    half = replace(queries[0], gold=frozenset({"D9:9", "D1:1"}))
    oracle = condition("oracle")
    ours, part = oracle.remember(Material(corpus, [lost, half]))
    assert ours.unscored == "the evidence names no turn of the conversation"
    assert turns(part) == ["D1:1"] and "1 of 2 evidence ids" in part.notes[0]
    paper, _ = oracle.remember(Material(corpus, [lost, half], rules=PAPER))
    assert paper.unscored is None and paper.memories == ()


def test_random_turns_are_never_gold_and_do_not_depend_on_order(corpus, queries):
    random = condition("random", k=2)
    found = random.remember(Material(corpus, queries))
    for query, one in zip(queries, found, strict=True):
        assert len(one.memories) == 2
        assert not query.gold & set(turns(one))
        assert turns(one) == sorted(turns(one)), "in the order of the conversation"
    back = random.remember(Material(corpus, queries[::-1]))[::-1]
    assert [turns(one) for one in back] == [turns(one) for one in found]
    styles = {(q.id, q.style): turns(one) for q, one in zip(queries, found, strict=True)}
    assert styles["tiny-1#0", "question"] == styles["tiny-1#0", "implicit"], "styles are paired"
    other = condition("random", k=2, seed=7).remember(Material(corpus, queries))
    assert [turns(one) for one in other] != [turns(one) for one in found]


def test_the_papers_draw_depends_on_the_order(corpus, queries):
    random = condition("random", k=3)
    found = random.remember(Material(corpus, queries * 4, rules=PAPER))
    again = random.remember(Material(corpus, queries * 4, rules=PAPER))
    assert found == again
    n = len(queries)
    assert any(turns(found[i]) != turns(found[i + n]) for i in range(n))


def test_the_rules_say_how_many_random_turns_there_are(corpus, queries):
    for k, rules, count in ((None, PAPER, 3), (2, PAPER, 2), (None, REPAIRED, 5)):
        given = condition("random", **({} if k is None else {"k": k}))
        (one,) = given.remember(Material(corpus, queries[:1], rules=rules))
        assert len(one.memories) == count, "of the five turns that are not gold"


def test_too_few_turns_to_draw_from_are_noted(corpus, queries):
    (one,) = condition("random", k=10).remember(Material(corpus, queries[:1]))
    assert len(one.memories) == 5 and one.notes == ("only 5 turns to draw from",)
    (free,) = condition("random", k=6, with_gold=True).remember(Material(corpus, queries[:1]))
    assert len(free.memories) == 6 and not free.notes


def test_all_memory_and_none(corpus, queries):
    (one,) = condition("all_memory").remember(Material(corpus, queries[:1]))
    assert turns(one) == [turn.id for turn in corpus.conversations[0].turns]
    assert (one.keep, one.history) == ("end", True)
    assert condition("no_memory").remember(Material(corpus, queries[:1]))[0].memories == ()
    with pytest.raises(ConfigError, match="end"):
        condition("all_memory", keep="middle")


def material(corpus, queries, **more):
    (ranking,) = retrieve(corpus, queries, ["bm25"], depth=4)
    return Material(corpus, queries, {"original": ranking}, **more)


def about(query, text="sold the red boat"):
    return replace(query, text=text)


def test_top_k_takes_what_was_found(corpus, queries):
    queries = [about(queries[0]), *queries[1:]]
    found = condition("top_k", k=1).remember(material(corpus, queries))
    assert turns(found[0]) == ["D1:1"]
    with pytest.raises(ConfigError, match="4 memories"):
        condition("top_k", k=5).remember(material(corpus, queries))
    with pytest.raises(ConfigError, match="no rankings 'original'"):
        condition("top_k").remember(Material(corpus, queries))
    some = material(corpus, queries[:1])
    with pytest.raises(ConfigError, match="no such query"):
        condition("top_k", k=1).remember(replace(some, queries=queries))


def test_a_search_that_failed_or_a_refused_store_is_unscored(corpus, queries):
    (ranking,) = retrieve(corpus, queries, ["bm25"], depth=4)
    broken = replace(ranking, failures={0: "timeout: slow"})
    found = condition("top_k", k=2).remember(Material(corpus, queries, {"original": broken}))
    assert found[0].unscored == "timeout: slow" and found[1].memories
    refused = replace(ranking, refused={"tiny-1": "nothing stored"})
    found = condition("cot_select", k=2).remember(Material(corpus, queries, {"original": refused}))
    assert {one.unscored for one in found} == {"nothing stored"}


def test_compressed_is_one_call_a_query_with_the_message_in_view(corpus, queries):
    llm = ScriptedLLM(["Ana sold the boat."])
    queries = [about(queries[0])]
    (one,) = condition("compressed", k=2).remember(material(corpus, queries, llm=llm))
    assert [memory.text for memory in one.memories] == ["Ana sold the boat."]
    assert set(one.memories[0].sources) >= {"D1:1"}
    assert queries[0].text in llm.seen[0].messages[-1]["content"]
    with pytest.raises(ConfigError, match="needs a model"):
        condition("compressed", k=2).remember(material(corpus, queries))


def test_a_failed_compression_is_unscored_and_nothing_found_asks_nothing(corpus, queries):
    llm = ScriptedLLM(lambda seen: Outcome("truncated", "cut off"))
    found = material(corpus, [about(queries[0])], llm=llm)
    (one,) = condition("compressed", k=2).remember(found)
    assert one.unscored == "compression: truncated: cut off"
    nothing = about(queries[0], "zzz")
    silent = ScriptedLLM([])
    (one,) = condition("compressed", k=2).remember(material(corpus, [nothing], llm=silent))
    assert one.unscored is None and one.memories == ()


def test_rewritten_queries_and_the_papers_hint(corpus, queries):
    queries = [about(queries[0]), *queries[1:]]
    rewrites = [SearchTexts(query, "facets", ("bakery", "blue")) for query in queries]
    rewrites[0] = SearchTexts(queries[0], "facets", (), unscored="no rewrite: timeout: slow")
    (fused,) = retrieve_rewritten(corpus, rewrites, ["bm25"], depth=4)
    given = material(corpus, queries)
    given = replace(given, rankings={**given.rankings, "facets": fused})
    found = condition("rewrite_facets", k=2).remember(given)
    assert found[0].unscored == "no rewrite: timeout: slow"
    assert set(turns(found[1])) == {"D2:1", "D2:2"}
    hinted = condition("rewrite_facets", k=1).remember(replace(given, rules=PAPER))
    assert hinted[0].hint and turns(hinted[0]) == ["D1:1"] and not hinted[1].hint
    assert condition("rewrite_facets", rankings="facets+original").name.endswith("facets+original")
    only = replace(REPAIRED, missing_rewrite="hint")
    assert condition("rewrite_facets", k=1).remember(replace(given, rules=only))[0].hint
