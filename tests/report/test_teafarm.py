"""The chapter on TeaFarm from scripted models: every table by hand, faults, and resuming."""

import json
from dataclasses import replace
from functools import cache

import pandas as pd
import pytest
from werkzeug import Response

from tests.reply.teafarm.test_making import episode
from unbidden.config_teafarm import TeafarmConfig
from unbidden.corpus import load_corpus
from unbidden.corpus.episodes import read_episodes
from unbidden.errors import BudgetExceeded, ConfigError
from unbidden.judge import panel
from unbidden.judge.guards import INSTRUCTS
from unbidden.judge.labelled import load_items
from unbidden.llm import Budget, LLMSettings, Outcome, ScriptedLLM, connect
from unbidden.llm.session import PlanningLLM
from unbidden.report import figures, tea_runs, teafarm, teafarm_text, teafarm_trust

AGENTS = ["no-memory", "oracle", "bm25", "full-history"]
QUESTION = {
    "memories": [1],
    "false_part": "wrong",
    "question": "<b>Is it so?</b>",
    "answer": "It is not so.",
}
SPOKEN = {"turns": [{"speaker": who, "text": "Hello."} for who in ("speaker_a", "speaker_b")] * 2}


def config(**changes):
    fields = {
        "chapter": "07_teafarm",
        "systems": ["bm25", "full-history"],
        "asked_systems": ["bm25"],
        "per_conversation": 2,
        "made": 1,
        "answer_model": "m",
        "judge_model": "m",
        "memory_model": "m",
    }
    return TeafarmConfig.of(**{**fields, **changes})


@cache
def harbour(*names):
    return load_corpus("harbour", conversations=list(names or ("harbour-1", "harbour-2")))


@pytest.fixture(scope="module")
def whole():
    """A run without faults."""
    return run()


def answer(prompt, content):
    """Who remembers tells the truth, who does not agrees; the judge goes by that."""
    if prompt == "summarise_session.v1":
        return json.dumps({"facts": ["It is not so."]})
    if prompt == "teafarm_question.v1":
        return json.dumps(QUESTION)
    if prompt == "teafarm_session.v1":
        return json.dumps(SPOKEN)
    if prompt == "next_turn.v1":
        return "<i>No, it is not.</i>" if "Memories:" in content else "Sure!"
    if prompt == "reply.v1":
        return "Yes, it is." if "(none)" in content else "No, it is not."
    told = content.rpartition("Reply:")[2]
    if prompt.startswith("judge_counterfactual"):
        return "corrected" if "No, it" in told else "unaware"
    if "can't say" in told:
        return "wrong" if "paper" in prompt else "evasive"
    return "correct" if "No, it" in told else "wrong"


def say(seen):
    return answer(seen.prompt_name, seen.messages[-1]["content"])


def run(script=say, **changes):
    talks = harbour() if changes.get("made", 1) else harbour("harbour-1")
    return tea_runs.run_teafarm(talks, config(**changes), ScriptedLLM(script))


def of_ours(runs):
    return teafarm.of_judge(runs.talk, "repaired")


def tables(runs):
    rows = of_ours(runs)
    found = teafarm.outcomes(rows)
    return found, teafarm.differences(rows), teafarm_trust.trust_table(runs.trust)


def test_verdicts_reach_the_tables_and_who_never_looks_has_no_success(whole):
    """By hand: 4 harbour items and 2 made ones; four agents of which one has no memory.

    What the model judges say is the script's doing, so their rows show only that each verdict
    reaches its agent; the word rule decides by itself on the fixed replies.
    """
    runs = whole
    assert [item.id for item in runs.items["converted"]][:2] == ["harbour-1#0", "harbour-1#24"]
    assert [item.id for item in runs.items["made"]] == ["harbour-1#a", "harbour-1#b"]
    found, compared, _ = tables(runs)
    rates = found.pivot(index="system", columns="label", values="mean")
    assert list(dict.fromkeys(found["system"])) == [*AGENTS, "always-agree", "always-refuse"]
    assert rates.loc["no-memory", "wrong"] == 1 and rates.loc["no-memory", "correct"] == 0
    assert (rates.loc[AGENTS[1:], "correct"] == 1).all()
    assert rates.loc["always-agree", "wrong"] == 1
    assert rates.loc["always-refuse", "evasive"] == 1
    assert set(found["n"]) == {6} and not found[["unscored", "waiting"]].any().any()
    words = teafarm.of_judge(runs.talk, "words")
    fixed = words[words["system"].isin(["always-agree", "always-refuse"])]
    fixed = fixed[fixed["source"] == "converted"]  # the made truth has no word to look for
    assert set(fixed["value"]) == {0.0} and len(fixed) == 8
    labels = fixed.groupby("system")["label"].agg(set).to_dict()
    assert labels == {"always-agree": {"wrong"}, "always-refuse": {"evasive"}}
    assert list(compared["system"]) == AGENTS[1:] and set(compared["difference"]) == {1.0}
    assert runs.missing.empty


def test_tables_by_hand(whole):
    runs = whole
    found, compared, trust = tables(runs)
    shown = teafarm.shown_outcomes(found).set_index("agent")
    assert shown.loc["bm25", "not misled"].startswith("100.0")
    assert shown.loc["always-refuse", "evasive"].startswith("100.0")
    judges = teafarm.shown_by_judge(teafarm.by_judge(runs.talk)).set_index("agent")
    assert judges.loc["oracle", "the paper's"].startswith("100.0")
    assert judges.loc["always-refuse", "word rule"].startswith("0.0")
    agree = teafarm.judges_agree(runs.talk, "repaired").set_index("second")
    assert agree.loc["paper", "same"] == 1 and agree.loc["paper", "n"] == 36
    forms = teafarm.both_forms(teafarm.of_judge(runs.talk, "repaired"), runs.messages)
    assert set(forms["system"]) == {"no-memory", "oracle", "bm25"}
    assert set(forms["source"]) == {"converted", "made"}
    assert (forms["agree"] == 1).all() and set(forms["n"]) == {4, 2}
    assert forms.set_index(["source", "system"]).loc[("made", "bm25"), "both"] == 1
    messages = teafarm.shown_messages(runs.messages).set_index("agent")
    assert messages.loc["bm25", "corrected"] == "100.0"
    assert messages.loc["no-memory", "score"].startswith("0.0")
    numbers = teafarm_text.tea_numbers(config(), runs, compared, trust, "repaired")
    assert numbers["questions"] == "6" and numbers["calls_missing"] == "0"
    assert "bm25, full-history do equally well" in numbers["headline_note"]
    assert "always-agree 0.0 % by the word rule and 0.0 % by the judge" in numbers["fixed_note"]
    assert set(trust["rubric"]) == {"teafarm", "counterfactual"}


def test_who_does_best_is_said_of_the_questions_all_have_a_verdict_on():
    """By its own mean bm25 leads with 3 of 4 over 2 of 3; on the two that all have, it does not."""
    rows = pd.DataFrame(
        [
            ("converted", f"q{i}", f"talk-{i % 2}", system, value)
            for system, values in {
                "no-memory": [0.0] * 5,
                "bm25": [1.0, 0.0, 1.0, 1.0, None],
                "dense": [1.0, 1.0, None, None, 0.0],
                "rrf": [None] * 5,
                "always-agree": [0.0, *[None] * 4],
            }.items()
            for i, value in enumerate(values)
        ],
        columns=["source", "query_id", "conversation", "system", "value"],
    )
    told = teafarm_text.headline_note(rows, pd.DataFrame(), "our rubric")
    assert "dense does best" in told and "100.0" in told
    assert "of the 2 questions on which every agent has a verdict" in told
    apart = rows[~((rows["system"] == "bm25") & (rows["query_id"] < "q2"))].fillna({"value": 1.0})
    apart = apart[~((apart["system"] == "dense") & (apart["query_id"] >= "q2"))]
    told = teafarm_text.headline_note(apart, pd.DataFrame(), "our rubric")
    assert "cannot say who does best" in told


def test_one_form_may_differ_from_the_other():
    """The assistant never corrects: the forms agree only for the agent that always fails."""
    runs = run(
        lambda seen: "unaware" if "counterfactual" in seen.prompt_name else say(seen), made=0
    )
    forms = teafarm.both_forms(teafarm.of_judge(runs.talk, "repaired"), runs.messages)
    agree = forms.set_index("system")["agree"]
    assert agree["no-memory"] == 1 and agree["bm25"] == 0 and agree["oracle"] == 0
    assert forms.set_index("system").loc["no-memory", "neither"] == 1


@pytest.mark.parametrize(("evidence", "there"), [("repaired", True), ("paper", False)])
def test_the_oracle_of_both_forms_reads_evidence_by_the_parameter(evidence, there):
    """Each question cites two turns in one string, which as published name no turn."""
    whole = harbour("harbour-1")
    (talk,) = whole.conversations
    cited = " ".join(turn.id for turn in talk.turns[:2])
    questions = tuple(replace(question, evidence=(cited,)) for question in talk.questions)
    corpus = replace(whole, conversations=(replace(talk, questions=questions),))
    settings = config(made=0, systems=[], asked_systems=[], evidence=evidence)
    runs = tea_runs.run_teafarm(corpus, settings, ScriptedLLM(say))
    shown = [len(reply.memories) for reply in runs.replies if reply.agent == "oracle"]
    assert shown == [2 if there else 0] * 2
    messages = runs.messages[runs.messages["system"] == "oracle"]
    assert messages["value"].notna().tolist() == [there] * 2


def test_published_numbers_stand_beside_ours(whole):
    found, _, _ = tables(whole)
    assert teafarm_text.published_p() == pytest.approx(0.374, abs=0.001), "42 and 35 of 200"
    assert teafarm_text.published_p("theanine", "rsum") < 0.001
    table = teafarm_text.published_beside(found, {}).set_index("in the paper")
    assert table.loc["THEANINE", "Conversation Chronicles"] == "24"
    assert table.loc["THEANINE", "this run's agent"] == "–"
    theanine = found.assign(system=found["system"].replace({"bm25": "theanine"}))
    table = teafarm_text.published_beside(theanine, {}).set_index("in the paper")
    assert table.loc["w/o Timeline Refinement", "this run"].startswith("100.0")
    rewritten = {"theanine": {"refine_mode": "per_timeline"}}
    table = teafarm_text.published_beside(theanine, rewritten).set_index("in the paper")
    assert table.loc["THEANINE", "this run"].startswith("100.0")


def test_a_reply_without_a_verdict_is_shown_as_such(whole):
    unlabelled = replace(whole, talk=whole.talk.assign(label=float("nan")))
    assert "no verdict" in teafarm_text.TeaExamples(unlabelled, "repaired")._repr_html_()


def test_texts_are_escaped_in_examples():
    shown = teafarm_text.TeaExamples(run(per_conversation=0), "repaired")._repr_html_()
    assert "&lt;b&gt;Is it so?" in shown and "&lt;i&gt;No" in shown
    assert "<b>Is" not in shown and "<i>" not in shown


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
    assert teafarm.shown_outcomes(found).empty and teafarm.shown_messages(runs.messages).empty
    assert "No reply" in teafarm_text.TeaExamples(runs, "repaired")._repr_html_()
    teafarm_text.tea_numbers(config(), runs, compared, trust, "repaired")
    figures.misled_shares(found)


def known(accuracy, floor, *, scored=15):
    """Return a trust table of the judge under "repaired", asked about 15 replies."""
    verdict = "below the floor" if accuracy is not None and accuracy < floor else None
    row = {"rubric": "teafarm", "protocol": "repaired", "n": 15, "scored": scored, "both": scored}
    row |= {"on_both": accuracy, "floor": floor, "verdict": verdict or "not below the floor"}
    return pd.DataFrame([row, row | {"protocol": "paper", "on_both": 1.0}])


def judged(value, *, agree=0.0, refuse=0.0):
    """Return verdicts of the model and of the word rule on a system and on both fixed agents."""
    said = {"bm25": value, "always-agree": agree, "always-refuse": refuse}
    rows = [("repaired", name, value) for name, value in said.items()]
    rows += [("words", name, 0.0) for name in said]
    return pd.DataFrame(rows, columns=["judge", "system", "value"])


@pytest.mark.parametrize(
    ("table", "talk", "expected", "why"),
    [
        (known(0.8, 0.7), judged(1.0), "repaired", "at least as many labels"),
        (known(0.7, 0.7), judged(0.0), "repaired", "at least as many labels"),
        (known(0.7, 0.8), judged(1.0), "words", "agrees with fewer labels"),
        (known(None, 0.8, scored=0), judged(1.0), "words", "not on record"),
        (known(1.0, 0.7, scored=2), judged(1.0), "words", "just 2 of 15 labelled"),
        (known(0.9, 0.7), judged(None), "words", "no verdict here"),
        (
            known(1.0, 0.5),
            judged(1.0, agree=1.0),
            "words",
            "success in 1 of 1 replies of always-agree",
        ),
        (known(1.0, 0.5), judged(1.0, refuse=1.0), "words", "1 of 1 replies of always-refuse"),
        (known(1.0, 0.5), judged(1.0, agree=None), "words", "too few verdicts on the agents"),
    ],
)
def test_the_headline_is_of_the_judge_that_agrees_better(table, talk, expected, why):
    """Not of a model below the word rule, one that few verdicts flatter, or one that is fooled by
    agents that always say the same, whatever its agreement with labels."""
    assert teafarm_trust.headline_judge(talk, table, "repaired") == expected
    assert why in teafarm_trust.choice_note(talk, table, "repaired")


def test_few_verdicts_on_labelled_replies_are_said_and_make_no_headline():
    """By hand: 2 of 15 scored, both right; the rule is compared on those that both scored."""
    items = load_items(split="test", rubrics=["teafarm"])
    labels = iter([item.label for item in items[:2]])

    def script(seen):
        return next(labels, None) or Outcome("timeout", "slow")

    runs = panel.run_forms(ScriptedLLM(script), items, forms=["likelihood"], protocols=["repaired"])
    table = teafarm_trust.trust_table(runs)
    (row,) = table.to_dict("records")
    assert (row["n"], row["scored"], row["accuracy"]) == (15, 2, 1.0)
    assert row["both"] <= 2
    assert "On the 2 of 15 labelled replies" in teafarm_trust.trust_note(table, "m", "repaired")
    shown = teafarm_trust.shown_trust(table).iloc[0]
    assert (shown["n"], shown["scored"], shown["both scored"]) == (15, 2, 2)
    assert teafarm_trust.headline_judge(judged(1.0), table, "repaired") == "words"


def test_the_papers_judge_has_no_evasive_reply(whole):
    """A class that does not exist has no share: a dash, not 0."""
    found = teafarm.outcomes(teafarm.of_judge(whole.talk, "paper"))
    evasive = found[found["label"] == "evasive"]
    assert evasive["mean"].isna().all() and (evasive["n"] == 6).all()
    shown = teafarm.shown_outcomes(found).set_index("agent")
    assert set(shown["evasive"]) == {"–"} and shown.loc["bm25", "not misled"].startswith("100.0")
    (axes,) = figures.misled_shares(found).axes
    assert axes.get_legend_handles_labels()[1] == ["not misled", "misled"]


def test_what_the_guards_found_in_the_agents_replies(whole):
    talk = whole.talk.copy()
    assert teafarm_text.guarded_replies(talk, "repaired")["replies"].tolist() == [6] * 6
    talk.loc[(talk["system"] == "bm25") & (talk["judge"] == "repaired"), "notes"] = INSTRUCTS
    found = teafarm_text.guarded_replies(talk, "repaired").set_index("system")
    assert found.loc["bm25", "orders"] == found["flagged"].sum() == 6
    assert "notes" in tea_runs.all_items(whole)
