"""The tables of the chapter on TeaFarm, by hand, from scripted models."""

from dataclasses import replace

import pandas as pd
import pytest

from tests.report.teafarm.scripts import AGENTS, config, harbour, run, say, tables
from unbidden.judge.guards import INSTRUCTS
from unbidden.llm import ScriptedLLM
from unbidden.report import figures
from unbidden.report.teafarm import by_form, by_judge
from unbidden.report.teafarm import runs as tea_runs
from unbidden.report.teafarm import tables as teafarm
from unbidden.report.teafarm import text as teafarm_text


@pytest.fixture(scope="module")
def whole():
    """A run without faults."""
    return run()


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
    judges = by_judge.shown_rates(by_judge.rates(runs.talk)).set_index("agent")
    assert judges.loc["oracle", "the paper's"].startswith("100.0")
    assert judges.loc["always-refuse", "word rule"].startswith("0.0")
    agree = by_judge.judges_agree(runs.talk, "repaired").set_index("second")
    assert agree.loc["paper", "same"] == 1 and agree.loc["paper", "n"] == 36
    forms = by_form.both_forms(teafarm.of_judge(runs.talk, "repaired"), runs.messages)
    assert set(forms["system"]) == {"no-memory", "oracle", "bm25"}
    assert set(forms["source"]) == {"converted", "made"}
    assert (forms["agree"] == 1).all() and set(forms["n"]) == {4, 2}
    assert forms.set_index(["source", "system"]).loc[("made", "bm25"), "both"] == 1
    messages = by_form.shown_messages(runs.messages).set_index("agent")
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
    forms = by_form.both_forms(teafarm.of_judge(runs.talk, "repaired"), runs.messages)
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
