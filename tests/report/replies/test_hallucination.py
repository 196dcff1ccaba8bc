"""Questions without an answer: drawn apart, scored by a scripted judge, shown, or refused."""

import json

import pytest

from unbidden.config import GroundingConfig, RepliesConfig
from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError
from unbidden.llm import ScriptedLLM
from unbidden.report.figures import reply_scores
from unbidden.report.grounding import replying
from unbidden.report.replies import hallucination
from unbidden.report.replies import numbers as replynumbers
from unbidden.report.replies import run as replyrun
from unbidden.report.replies import tables as replies
from unbidden.report.replies import use as replyuse
from unbidden.report.replies.examples import ReplyExamples
from unbidden.report.replies.sample import sampled

BOTH = ["trap", "unsupported"]


def config(**changes):
    given = {
        "chapter": "03_replies",
        "systems": ["bm25"],
        "condition_system": "bm25",
        "conditions": ["oracle", "no_memory", "always_agree", "always_refuse"],
        "judges": ["model", "words"],
        "queries_per_style": 2,
        "answer_model": "m",
        "judge_model": "m",
    }
    return RepliesConfig.of(**(given | changes))


@pytest.fixture(scope="module")
def harbour():
    return load_corpus("harbour", conversations=["harbour-1", "harbour-2"])


def say(seen):
    """Who is shown memories claims something; the judge decides by the reply alone."""
    if seen.schema is None:
        return "It was the red one." if seen.variables["memories"] else "I don't know."
    claims = "red" in seen.variables.get("reply", "")
    value = {"asserted": "yes" if claims else "no"}
    if "asserted" not in seen.schema.model_fields:
        names = seen.schema.model_json_schema()["properties"]
        value = {name: item["enum"][0] for name, item in names.items() if "enum" in item}
    return json.dumps(value | ({"reason": "r"} if "reason" in seen.schema.model_fields else {}))


def run(settings, corpus):
    llm = ScriptedLLM(say)
    made = replyrun.make_replies(settings, corpus, llm, llm)
    return made, replyrun.score_replies(settings, corpus, made.table, llm), llm


def test_the_rate_of_made_up_answers_is_shown_by_way_and_style(harbour):
    made, items, _ = run(config(rubrics=BOTH), harbour)
    assert {query.category for query in made.queries} == {5}
    assert {query.style for query in made.queries} == {"question", "dialog", "implicit"}
    assert len(made.queries) == 6 and set(items["metric"]) == set(BOTH)
    table = hallucination.rates(items)
    model = table[(table["judge"] == "m, json") & (table["style"] == replies.ALL)]
    found = model.set_index(["metric", "way"])["mean"]
    for rubric in BOTH:
        assert found[rubric].to_dict() == {
            **{"bm25": 1.0, "oracle": 1.0, "no memory": 0.0},
            **{"always agree": 0.0, "always refuse": 0.0},
        }
    assert set(model["n"]) == {6}
    shown = hallucination.shown_rates(table)
    assert list(shown.columns[:7]) == [
        *("judge", "rubric", "memories", "question", "dialog", "implicit", "all styles")
    ]
    assert shown["question"].iloc[0].startswith("100.0")
    assert "Lower is better" in hallucination.hallucination_note(table)


def test_without_any_other_rubric_the_rest_of_the_page_has_nothing_to_show(harbour):
    made, items, _ = run(config(rubrics=BOTH), harbour)
    scores = replies.scores(items)
    gaps = replies.differences(items, by_style=False)
    shares = replyuse.gold_shown(made.table, made.queries)
    above = replyuse.above_oracle(items, made.table, shares)
    assert scores.empty and gaps.empty and above.empty
    assert replies.shown_scores(scores, "word rule").empty
    assert replies.judge_agreement(items).empty
    assert replyuse.by_found(items, made.table, shares).empty
    assert replies.differences(replies.only(items), by_style=True).empty
    numbers = replynumbers.reply_numbers(config(rubrics=BOTH), made, items, scores, gaps, above)
    assert numbers["answer_note"].startswith("No rubric of this run")
    assert len(replyuse.lengths(made.table, shares)) == 5
    assert ReplyExamples(made, items)._repr_html_()
    reply_scores(scores)


def test_the_other_sample_and_its_calls_stay_the_same(harbour):
    usual, both = config(), config(rubrics=["fact_use", "counterfactual", "composed", "trap"])
    plain, more = sampled(usual, harbour), sampled(both, harbour)
    assert more[: len(plain)] == plain and {q.category for q in more[len(plain) :]} == {5}
    _, first, asked = run(usual, harbour)
    _, second, also = run(both, harbour)
    assert {seen.key for seen in asked.seen} < {seen.key for seen in also.seen}
    assert replies.scores(first).equals(replies.scores(second)), "no fault rate in any score"
    assert hallucination.rates(first).empty and len(hallucination.rates(second))
    assert "asks none" in hallucination.hallucination_note(hallucination.rates(first))


@pytest.mark.parametrize(
    "wrong",
    [
        {"rubrics": ["helpfulness"]},
        {"rubrics": ["fact_use", "helpfulness"]},
        {"rubrics": ["fact_uze"]},
        {"rubrics": ["quality"]},
        {"rubrics": []},
        {"rubrics": ["composed"], "styles": ["dialog"]},
        {"rubrics": ["fact_use", "trap"], "styles": ["counterfactual", "question"], "limit": 1},
    ],
)
def test_rubrics_that_fit_no_query_are_refused(harbour, wrong):
    with pytest.raises(ConfigError, match="`rubrics` are for no query"):
        sampled(config(**wrong), harbour)


def test_a_rubric_of_a_style_that_is_not_asked_does_no_harm(harbour):
    assert {query.style for query in sampled(config(styles=["dialog"]), harbour)} == {"dialog"}


def test_the_chapter_on_grounding_asks_no_question_without_an_answer(harbour):
    settings = GroundingConfig.of(chapter="05_implicit_grounding", rubrics=BOTH)
    llm = ScriptedLLM([])
    with pytest.raises(ConfigError, match="`rubrics` are for no query"):
        replying.make_replies(settings, harbour, llm, llm)
