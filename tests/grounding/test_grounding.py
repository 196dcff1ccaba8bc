"""The arms of implicit replies and the replies that chose their memories, with a scripted model."""

import json

import numpy as np
import pandas as pd
import pytest

from unbidden.config import GroundingConfig
from unbidden.corpus import load_corpus
from unbidden.errors import DataError
from unbidden.grounding import reasoned, silent
from unbidden.grounding.scored import scored_replies, shown_recall
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.session import open_llm
from unbidden.queries.build import Query
from unbidden.report.grounding import judging, replying, silence, support
from unbidden.report.grounding import tables as grounding
from unbidden.report.grounding import text as words

EVIL = "<script>alert(1)</script>"


def script(**answers):
    """Return a model that answers each kind of prompt with what is named, or a usual answer."""
    usual = {
        "reply_select": {"situation": "s", "used": [{"number": 2, "adds": "a"}], "reply": "chosen"},
        "reply": f"plain reply {EVIL}",
        "judge_fact": {"use": "wrong"},
        "judge_counterfactual": {"correction": "unaware"},
        "judge_composed": {"facts": [{"number": n, "covered": n == 1} for n in (1, 2)]},
        "judge_implicit": {"fact_used": "no", "situation_tied": "yes"},
        "judge_quality": {"faithfulness": "yes", "relevance": "partly", "engagement": "no"},
        "judge_pairwise": {"better": "first"},
    } | answers

    def say(seen):
        kind = max((k for k in usual if seen.prompt_name.startswith(k)), key=len)
        answer = usual[kind](seen) if callable(usual[kind]) else usual[kind]
        if isinstance(answer, Outcome | str):
            return answer
        return json.dumps(answer)

    return ScriptedLLM(say)


@pytest.fixture(scope="module")
def corpus():
    return load_corpus("harbour", conversations=["harbour-1", "harbour-2"])


@pytest.fixture(scope="module")
def config():
    return GroundingConfig.of(
        chapter="05_implicit_grounding",
        conversations=["harbour-1", "harbour-2"],
        systems=["bm25"],
        condition_system="bm25",
        queries_per_style=1,
        implicit_queries=4,
        judges=["model", "words"],
        llm_mode="record",
    )


def run(config, corpus, llm):
    replies = replying.make_replies(config, corpus, llm, llm)
    return replies, judging.judge_replies(config, corpus, replies, llm)


def test_three_arms_are_compared_where_the_oracle_does_not_state_the_fact(config, corpus):
    replies, judged = run(config, corpus, script())
    assert len(replies.asked) == 4 and len(judged.pool) == 4
    assert {query.style for query in replies.asked} == {"implicit"}
    # The queries of the chapter on replies are among them, so that its calls are used.
    first = {query.id for query in replies.queries if query.style == "implicit"}
    assert first <= {query.id for query in replies.asked}
    assert set(judged.grades["way"]) == {silent.ORACLE, silent.NONE, silent.RANDOM}
    both = judged.pairs[judged.pairs["part"] == silent.BOTH_ORDERS]
    one = judged.pairs[judged.pairs["part"] == silent.ONE_ORDER]
    # A judge that always takes the first wins nothing in both orders, and all in one.
    assert (both["result"] == 0).all() and (one["result"] == 1).all()
    assert (judged.contests["result"] == 0).all()  # equal grades are ties
    table = silence.margins_table(judged.contests, judged.pairs)
    assert set(table["limits"]) == {"equal", "paper"}
    seen = table[(table["counted"] == silent.BOTH_ORDERS) & (table["limits"] == "equal")]
    assert (seen["ties"] == 4).all() and (seen["margin"] == 0).all()


def test_a_stated_fact_is_not_silent(config, corpus):
    _, judged = run(config, corpus, script(judge_fact={"use": "correct"}))
    assert judged.pool == [] and judged.pairs.empty
    shown = silence.shown_margins(silence.margins_table(judged.contests, judged.pairs))
    assert silence.NO_POOL in shown.to_string()


def test_all_queries_on_request(config, corpus):
    everything = config.model_copy(update={"pool": "all", "limits": ("equal",)})
    _, judged = run(everything, corpus, script(judge_fact={"use": "correct"}))
    assert len(judged.pool) == 4 and set(judged.pairs["limits"]) == {"equal"}


def test_only_replies_that_were_cut_are_asked_for_again(config, corpus):
    def reply(seen):
        random = len(seen.variables["memories"]) == config.random_turns
        message = seen.variables["message"]
        cut = random and "short" in seen.prompt_name and message not in asked
        if random:
            asked.add(message)
        return Outcome("truncated", "the limit") if cut else "whole"

    asked = set()
    llm = script(reply=reply)
    replies, _ = run(config, corpus, llm)
    table = silence.cut_table(replies.implicit, replies.longer).set_index(["limits", "way"])
    assert table.loc[("equal", "random"), "cut"] == 4
    assert table.loc[("paper", "random"), ["replies", "cut"]].tolist() == [4, 0]
    assert table.loc[("equal", "oracle"), "cut"] == 0
    whole, _ = run(config, corpus, script())
    assert whole.longer["text"].tolist() == (
        whole.implicit[whole.implicit["way"] == "random"]["text"].tolist()
    )


def test_a_failed_grade_is_unscored_with_its_reason(config, corpus):
    _, judged = run(config, corpus, script(judge_quality=Outcome("timeout", "slow")))
    assert judged.contests["result"].isna().all()
    assert set(judged.contests["unscored"]) == {"timeout: slow"}
    table = silence.margins_table(judged.contests, judged.pairs)
    graded = table[table["counted"].str.startswith("graded")]
    assert (graded["n"] == 0).all() and (graded["unscored"] == 4).all()
    assert "not run" in silence.shown_margins(graded).to_string()


def test_without_memory_half_a_point_of_faith_is_the_most_by_the_paper_s_rule(config, corpus):
    """Faithfulness is asked against nothing there; against the gold turns by our rule."""
    seen = []

    def grade(one):
        seen.append(list(one.variables["memories"]))
        return {"faithfulness": "yes", "relevance": "yes", "engagement": "yes"}

    llm = script(judge_quality=grade)
    replies, _ = run(config, corpus, llm)
    alone = replies.implicit[replies.implicit["way"] == silent.NONE]
    for protocol, empty in (("paper", True), ("repaired", False)):
        seen.clear()
        silent.grades(llm, corpus, alone, protocol=protocol)
        assert len(seen) == 4 and all((not memories) == empty for memories in seen)


def test_reasoned_replies_are_graded_against_what_they_cite(config, corpus):
    llm = script()
    replies, judged = run(config, corpus, llm)
    way = replying.reasoned_way(config)
    table = replies.implicit[replies.implicit["way"] == way]
    cited = reasoned.cited_only(table)
    assert [list(row) for row in cited["memories"]] == [[row[1]] for row in table["memories"]]
    results = judging.judge_reasoned(config, corpus, replies, llm)
    assert set(results["protocol"]) == {"repaired", "paper"} and (results["result"] == 0).all()
    facts = judged.facts[judged.facts["judge"] == judging.first_judge(config)]
    assert len(reasoned.pool_of(facts, way, reasoned.POOLS[1])) == 4
    assert reasoned.pool_of(facts, way, reasoned.POOLS[2]) == set()
    shown = silence.shown_reasoned(silence.reasoned_table(config, results, facts))
    assert shown["queries"].iloc[0] == "all" and "0 / 4 / 0" in shown.to_string()


def test_cited_turns_vote_unless_the_oracle_won(config, corpus):
    replies, _ = run(config, corpus, script())
    ranking = replies.found["bm25"]["original"]
    thinking = [one for one in replies.answers if one.condition == "cot_select"]
    results = pd.DataFrame(
        [
            {
                **{"first": "x", "second": silent.ORACLE, "part": silent.TOTAL},
                **{"query_id": one.query.id, "result": result},
            }
            for one, result in zip(thinking, [1.0, 0.0, -1.0, np.nan], strict=True)
        ]
    )
    layer = reasoned.votes(thinking, ranking, results)
    places = {(query.style, query.id): i for i, query in enumerate(ranking.queries)}
    wanted = {
        (one.query.conversation, turn)
        for one in thinking[:2]
        for turn in ranking.hits[places[one.query.style, one.query.id]][1].sources
        if turn not in one.query.gold
    }
    assert {(key[0], item.turn) for key, item in layer} == wanted
    recall = reasoned.recall_with(layer, {"bm25": ranking}, replies.asked, k=10)
    supportive = recall[recall["metric"] == "recall_supportive"]["value"].dropna()
    assert recall["voted"].all() and (supportive == 1).all()
    table = support.supportive_table(recall)
    assert "yes" in support.shown_supportive(table)["votes of its own"].tolist()


def test_scored_replies_have_their_oracle_and_sum_to_one(config, corpus):
    use = {True: {"use": "correct"}, False: {"use": "partial"}}
    llm = script(judge_fact=lambda seen: use["plain" in seen.variables["reply"]])
    replies, judged = run(config, corpus, llm)
    scored = scored_replies(replies.base, judged.base, replies.queries)
    assert set(scored["way"]) == {"bm25"} and set(scored["judge"]) == set(judged.base["judge"])
    table = grounding.decomposition_table(scored)
    ran = table[table["n"] > 0]
    assert ran["total"].to_numpy() == pytest.approx(1, abs=1e-9)
    assert "100.0" in grounding.shown_weighted(ran)["sum"].tolist()
    assert len(grounding.shown_unweighted(ran)) == len(ran)
    buckets = grounding.buckets_table(scored)
    shares = buckets.groupby(["judge", "style", "way"])["share"].sum()
    assert shares.to_numpy() == pytest.approx(1)
    assert len(grounding.shown_buckets(buckets)) == len(shares)
    items = judging.all_items(judged, scored)
    assert not items.duplicated(["judge", "way", "style", "query_id", "metric"]).any()
    assert (items["value"].isna() == items["unscored"].notna()).all()
    assert {"fact_use", "implicit", "recall_shown"} <= set(items["metric"])
    starved = grounding.starvation_table(judged.facts, judging.CONTEXT)
    assert set(starved["judge"]) == set(judged.facts["judge"])
    assert len(grounding.shown_starvation(starved)) == len(starved)


def test_recall_is_of_what_was_shown_and_not_of_what_names_no_turn():
    query = Query("c#0", "c", "implicit", "t", 4, (0,), frozenset({"D1:1", "D1:2"}))
    table = pd.DataFrame(
        {
            "style": ["implicit"] * 3,
            "query_id": ["c#0"] * 3,
            "memories": [["a"], ["a"], []],
            "turns": [["D1:1"], [], []],
        }
    )
    found = shown_recall(table, [query]).tolist()
    assert found[0] == 0.5 and np.isnan(found[1]) and found[2] == 0


def test_a_reply_may_not_come_twice(config, corpus):
    replies, _ = run(config, corpus, script())
    twice = pd.concat([replies.implicit, replies.implicit])
    with pytest.raises(DataError, match="paired"):
        silent.side_by_side(script(), corpus, twice)


def test_situations_and_words(config, corpus):
    replies, judged = run(config, corpus, script())
    table = silence.situations_table(judged.situations, judged.pool)
    assert set(table["queries"]) == {"all", "fact not stated"}
    assert (table["situation"] == 1).all() and (table["fact"] == 0).all()
    assert "100.0" in silence.shown_situations(table).to_string()
    page = words.SilentExamples(
        corpus, replies.asked, replies.implicit, judged.pool, [silent.ORACLE, silent.NONE]
    )._repr_html_()
    assert "<script" not in page and "&lt;script" in page
    none = words.SilentExamples(corpus, replies.asked, replies.implicit, [], [silent.ORACLE])
    assert "Not run" in none._repr_html_()


def test_what_the_text_says_of_margins():
    table = pd.DataFrame(
        [
            {
                **{"compared": "oracle − random", "counted": silent.BOTH_ORDERS},
                **{"limits": "equal", "part": "total", "n": 4},
                **{"margin": 0.5, "low": 0.25, "high": 0.75},
            }
        ]
    )
    said = words.silent_note(table, 4)
    assert "50.0 [25.0, 75.0] points over random" in said and "Fewer than 10" in said
    assert "does not state the fact (4 replies)" in said
    assert "On all 4 implicit queries" in words.silent_note(table, 4, everything=True)
    assert "not run" in words.silent_note(table.assign(n=0), 0)
    assert "not run" in words.losses_note(pd.DataFrame(), "bm25")


def test_silent_replies_are_counted_among_the_scored():
    """Of three replies from the gold turns one failed and one does not state the fact."""
    facts = pd.DataFrame(
        [("oracle", 0.0), ("oracle", 0.5), ("oracle", None), ("rrf", 0.0)], columns=["way", "value"]
    ).assign(metric="fact_use")
    (row,) = words.silent_table(facts).to_dict("records")
    assert (row["implicit"], row["scored"], row["silent"], row["share"]) == (3, 2, 1, 0.5)
    assert words.silent_table(facts[:0])["share"].isna().all()
    assert "all 8 queries" in words.pool_note("all", 8) and "all" not in words.pool_note(
        "silent", 3
    )


def test_a_judge_below_the_floor_is_said_to_be_so(config):
    """The recorded verdicts on labelled replies: the model is right less often than the words."""
    with open_llm(config.model_copy(update={"llm_mode": "replay"})) as llm:
        table, note = words.judge_trust(config, llm)
        alone = words.judge_trust(config.model_copy(update={"judges": ("words",)}), llm)
    (own,) = table[table["judge"].str.startswith(config.judge_model) & table["rubric"].eq("all")][
        ["accuracy", "words", "not_run"]
    ].to_dict("records")
    assert own["accuracy"] < own["words"] and own["not_run"] == 0
    assert "not above that floor" in note
    assert {"fact_use", "implicit", "pairwise"} <= set(table["rubric"])
    assert "quality" not in set(table["rubric"]), "no rule of words to stand beside it"
    assert alone[1] == "No model judges in this run."
