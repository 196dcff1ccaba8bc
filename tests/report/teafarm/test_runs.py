"""Faults, plans and resumed recordings of the chapter on TeaFarm."""

import json

import pandas as pd
import pytest
from werkzeug import Response

from tests.reply.teafarm.test_making import episode
from tests.report.teafarm.scripts import (
    answer,
    config,
    harbour,
    of_ours,
    run,
    say,
    tables,
)
from unbidden.corpus.episodes import read_episodes
from unbidden.errors import BudgetExceeded, ConfigError
from unbidden.judge.labelled import load_items
from unbidden.llm import Budget, LLMSettings, Outcome, ScriptedLLM, connect
from unbidden.llm.session import PlanningLLM
from unbidden.report import figures
from unbidden.report.teafarm import by_form
from unbidden.report.teafarm import runs as tea_runs
from unbidden.report.teafarm import tables as teafarm
from unbidden.report.teafarm import text as teafarm_text
from unbidden.report.teafarm import trust as teafarm_trust


@pytest.mark.parametrize(
    ("prompt", "broken", "part"),
    [
        ("next_turn.v1", Outcome("timeout", "slow"), "no reply: timeout"),
        ("next_turn.v1", Outcome("truncated", "cut"), "no reply: truncated"),
        ("next_turn.v1", "<think>hm", "no reply: thoughts"),
        ("next_turn.v1", " ", "no reply: empty"),
        ("judge_teafarm_word.v1", "perhaps", "label"),
        ("judge_teafarm_word.v1", Outcome("refused", "no"), "refused: no"),
    ],
)
def test_what_fails_is_unscored_and_no_zero(prompt, broken, part):
    runs = run(lambda seen: broken if seen.prompt_name == prompt else say(seen), made=0)
    rows = teafarm.of_judge(runs.talk, "repaired")
    rows = rows[rows["system"] == "bm25"]
    assert rows["value"].isna().all()
    assert rows["unscored"].str.contains(part).all()
    found, compared, trust = tables(runs)
    cell = found[(found["system"] == "bm25") & (found["label"] == "correct")].iloc[0]
    assert (cell["n"], cell["unscored"], cell["waiting"]) == (0, 2, 0)
    assert pd.isna(cell["mean"]) and compared.empty
    numbers = teafarm_text.tea_numbers(config(), runs, compared, trust, "repaired")
    assert "cannot say" in numbers["headline_note"]


@pytest.mark.parametrize("broken", [Outcome("timeout", "slow"), '{"question": "x"}'])
def test_questions_that_cannot_be_made_are_counted(broken):
    runs = run(lambda seen: broken if seen.prompt_name == "teafarm_question.v1" else say(seen))
    assert [item.unscored is None for item in runs.items["made"]] == [False, False]
    found, compared, trust = tables(runs)
    numbers = teafarm_text.tea_numbers(config(), runs, compared, trust, "repaired")
    assert numbers["questions"] == "4" and numbers["questions_failed"].startswith("2 could not")
    assert set(found[found["label"] == "correct"]["unscored"]) == {2}


def test_a_run_with_nothing_on_record_shows_what_it_would_take():
    """By hand, one conversation of 9 sessions, 2 items: 4 agents reply, 6 are judged, twice; 3 are
    asked in the other form; making two questions begins with 9 summaries."""
    with connect(LLMSettings.of("nobody"), "replay") as llm:
        runs = tea_runs.run_teafarm(harbour("harbour-1"), config(), llm)
    missing = runs.missing.groupby(["step", "protocol"])["calls"].sum()
    assert missing.to_dict() == {
        ("reply", ""): 8,
        ("verdict", "repaired"): 12,
        ("verdict", "paper"): 12,
        ("message", ""): 6,
        ("message verdict", "repaired"): 6,
        ("question", ""): 9,
    }
    found, compared, trust = tables(runs)
    assert set(found["n"]) == {0} and set(found["waiting"]) == {2} and set(found["unscored"]) == {0}
    assert "not run" in set(teafarm.shown_outcomes(found)["not misled"])
    assert "cannot say" in teafarm_text.headline_note(of_ours(runs), compared, "our rubric")
    assert "not on record" in teafarm_trust.trust_note(trust, "m", "repaired")
    assert len(tea_runs.all_items(runs)) == 6 * 2 * 3 + 3 * 2
    assert not teafarm.shown_missing(runs.missing).empty
    figures.misled_shares(found)


def test_a_plan_counts_verdicts_on_replies_that_are_not_made_yet():
    with connect(LLMSettings.of("nobody"), "replay") as llm:
        planning = PlanningLLM(llm)
        tea_runs.run_teafarm(harbour("harbour-1"), config(made=0), planning)
        rows = {row.prompt: row.to_ask for row in planning.plan().rows}
    assert rows["next_turn.v1"] == 8 and rows["reply.v1"] == 6
    assert rows["judge_teafarm_word.v1"] == 12 + 15, "and those of the labelled set"
    assert rows["judge_teafarm_paper_word.v1"] == 12 + 15


@pytest.fixture
def endpoint(httpserver, monkeypatch):
    """A model that answers as the script, for text and for labels, and the bodies it got."""
    bodies = []
    asks = {
        "judge_teafarm_paper_word.v1": "Answer with one word: correct or wrong.",
        "judge_teafarm_word.v1": "correct, wrong or evasive",
        "judge_counterfactual_word.v1": "unaware",
        "next_turn.v1": "Say what the named speaker would",
        "reply.v1": "You are an assistant that remembers",
    }

    def chat(request):
        body = request.get_json()
        bodies.append(body)
        system, user = (message["content"] for message in body["messages"])
        prompt = next(name for name, part in asks.items() if part in system)
        choice = {"index": 0, "finish_reason": "stop"}
        text = answer(prompt, user)
        choice["message"] = {"role": "assistant", "content": text}
        if body.get("logprobs"):
            token = {"token": text, "logprob": 0.0}
            choice["logprobs"] = {"content": [{**token, "top_logprobs": [token]}]}
        usage = {"prompt_tokens": 5, "completion_tokens": 2}
        return Response(
            json.dumps({"choices": [choice], "usage": usage}), mimetype="application/json"
        )

    httpserver.expect_request("/v1/chat/completions", method="POST").respond_with_handler(chat)
    monkeypatch.setenv("OPENAI_BASE_URL", httpserver.url_for("/v1"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return bodies


def test_a_stopped_recording_is_resumed_and_shown_as_far_as_it_went(
    endpoint, tmp_path, monkeypatch
):
    labelled = load_items(split="test", rubrics=["teafarm"])[:2]
    monkeypatch.setattr(tea_runs, "load_items", lambda **_: labelled)
    corpus, small = harbour(), config(made=0, per_conversation=1)
    settings = LLMSettings.of("m", concurrency=1)
    place = tmp_path / "ledger.sqlite"
    budget = Budget(calls=5)
    with (
        connect(settings, "record", ledger=place, budget=budget) as llm,
        pytest.raises(BudgetExceeded),
    ):
        tea_runs.run_teafarm(corpus, small, llm)
    assert 0 < len(endpoint) <= 5
    with connect(settings, "replay", ledger=place) as llm:
        half = tea_runs.run_teafarm(corpus, small, llm)
    told = {reply.agent for reply in half.replies if reply.text}
    assert {"no-memory", "oracle"} <= told and "full-history" not in told
    assert not half.missing.empty
    with connect(settings, "record", ledger=place) as llm:
        whole = tea_runs.run_teafarm(corpus, small, llm)
    asked = len(endpoint)
    with connect(settings, "replay", ledger=place) as llm:
        again = tea_runs.run_teafarm(corpus, small, llm)
    assert len(endpoint) == asked, "nothing is asked twice"
    assert len({json.dumps(body, sort_keys=True) for body in endpoint}) == asked
    pd.testing.assert_frame_equal(again.talk, whole.talk)
    assert again.missing.empty
    found, _, _ = tables(again)
    assert found.set_index(["system", "label"]).loc[("oracle", "correct"), "mean"] == 1
    with connect(LLMSettings.of("m", "other", concurrency=1), "record", ledger=place) as llm:
        tea_runs.run_teafarm(corpus, small, llm)
    new = endpoint[asked:]
    assert new and {body["model"] for body in new} == {"other"}, "a new judge makes no new reply"


def test_settings_out_of_range():
    for wrong in ({"judge_protocols": []}, {"judge_form": "prose"}, {"top_k": 0}, {"made": -1}):
        with pytest.raises(ConfigError):
            config(**wrong)


def test_episodes_have_made_questions_alone(write):
    """Of the form of Multi-Session Chat and Conversation Chronicles, without any rewrite."""
    corpus = read_episodes(episode(write), "cc")
    runs = tea_runs.run_teafarm(corpus, config(made=5), ScriptedLLM(say))
    assert runs.items["converted"] == [] and len(runs.items["made"]) == 2
    found, compared, trust = tables(runs)
    assert set(found["n"]) == {2} and set(found["conversations"]) == {1}
    numbers = teafarm_text.tea_numbers(config(), runs, compared, trust, "repaired")
    assert (numbers["questions"], numbers["questions_own"]) == ("2", "0")


def test_without_any_question_there_is_nothing_to_show():
    runs = run(made=0, per_conversation=0)
    found, compared, trust = tables(runs)
    assert found.empty and compared.empty and tea_runs.all_items(runs).empty
    assert "cannot say" in teafarm_text.headline_note(of_ours(runs), compared, "our rubric")
    assert teafarm.shown_outcomes(found).empty and by_form.shown_messages(runs.messages).empty
    assert "No reply" in teafarm_text.TeaExamples(runs, "repaired")._repr_html_()
    teafarm_text.tea_numbers(config(), runs, compared, trust, "repaired")
    figures.misled_shares(found)
