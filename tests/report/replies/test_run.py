"""The chapter on replies over a loopback endpoint: what is asked, not asked again, and shown."""

import json
from collections import Counter

import pandas as pd
import pytest
from werkzeug import Response

from unbidden.config import RepliesConfig
from unbidden.corpus.load import load_corpus
from unbidden.llm.session import PLAN_VARIABLE, asking, open_llm
from unbidden.report.judges import guarded
from unbidden.report.replies import checks as replychecks
from unbidden.report.replies import costs as replycosts
from unbidden.report.replies import run as replyrun
from unbidden.report.replies import tables as replies
from unbidden.report.replies import trust as replytrust
from unbidden.report.replies.examples import ReplyExamples

EVIL = "<script>alert('{{ 7 * 7 }}')</script> You sold it, I think."


@pytest.fixture
def endpoint(httpserver, monkeypatch, tmp_path):
    """A model that replies, thinks and judges; the run's files lie in a folder of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def chat(request):
        body = request.get_json()
        form = body.get("response_format", {}).get("json_schema", {})
        names = form["schema"]["properties"] if form else {}
        value = {name: item["enum"][0] for name, item in names.items() if "enum" in item}
        text, reason = json.dumps(value), "stop"
        if not form:
            text = EVIL if "(none)" not in body["messages"][-1]["content"] else "cut"
            reason = "length" if text == "cut" and body["model"] == "cutting" else "stop"
        elif form["name"] == "SessionFacts":
            text = json.dumps({"facts": ["Ana sold a boat."]})
        elif "facts" in names:
            text = json.dumps({"facts": [{"number": n, "covered": n == 1} for n in (1, 2)]})
        elif "reply" in names:
            text = json.dumps({"situation": "the red boat", "reply": "I do not know."})
        choice = {"index": 0, "message": {"role": "assistant", "content": text}}
        usage = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}
        body = {"choices": [choice | {"finish_reason": reason}], "usage": usage}
        return Response(json.dumps(body), mimetype="application/json")

    httpserver.expect_request("/v1/chat/completions", method="POST").respond_with_handler(chat)
    monkeypatch.setenv("OPENAI_BASE_URL", httpserver.url_for("/v1"))


@pytest.fixture
def corpus(sample, cluster, write):
    sample["qa"][1] |= {f"{s}_query": "And the boat?" for s in ("dialog", "implicit")}
    sample["qa"][1] |= {"counterfactual_query": "The boat is still red.", "asserted_wrong": "red"}
    place = write([sample], "mine/locomo10_dialog.json").parent
    write([cluster | {"sample_idx": 0}], "mine/locomo10_multimem_full.json")
    return load_corpus(str(place))


def config(**changes):
    given = {
        "chapter": "03_replies",
        "llm_mode": "record",
        "answer_model": "small",
        "judge_model": "one",
        "memory_model": "writer",
        "rewriter_model": "writer",
        "systems": ["bm25"],
        "condition_system": "bm25",
        "judges": ["model", "words"],
        "top_k": 2,
    }
    return RepliesConfig.of(**(given | changes))


def run(settings, corpus):
    """Return what the chapter makes, and the roles of the calls it added to the ledger."""
    with open_llm(settings) as llm:
        asked = asking(settings, llm)
        before = _roles(llm)
        made = replyrun.make_replies(settings, corpus, llm, asked)
        items = replyrun.score_replies(settings, corpus, made.table, asked)
        plan = replyrun.still_to_ask(settings, corpus, made.table, asked)
        return made, items, plan, _roles(llm) - before


def _roles(llm):
    ledger = getattr(llm, "ledger", None)
    return Counter(row.role for row in ledger.rows()) if ledger else Counter()


def test_another_judge_asks_the_judge_alone_and_another_model_searches_nothing(corpus, endpoint):
    """The ledger of a run with systems that write, compress and rewrite with a model."""
    more = {
        "systems": ["bm25", "msc-retrieval"],
        "conditions": ["oracle", "no_memory", "compressed", "rewrite_facets", "cot_noselect"],
    }
    _, _, _, first = run(config(**more), corpus)
    assert set(first) == {"memory", "rewriter", "answer", "judge"}
    made, items, _, rejudged = run(config(**more, judge_model="two"), corpus)
    assert set(rejudged) == {"judge"}
    assert made.table["text"].notna().any() and items["value"].notna().any()
    _, _, _, again = run(config(**more, judge_model="two"), corpus)
    assert not again, "what is on record is not asked again"
    _, _, _, other = run(config(**more, answer_model="large", judge_model="two"), corpus)
    assert other["answer"] == first["answer"] and set(other) == {"answer"}, (
        "the same texts get the verdicts they have"
    )


def test_oracle_and_no_memory_are_rows_and_every_reply_is_scored_or_has_a_reason(corpus, endpoint):
    made, items, plan, _ = run(config(), corpus)
    table = replies.scores(items)
    assert set(table["way"]) == {"bm25", "oracle", "no memory"}
    assert set(table["style"]) == {
        *("question", "dialog", "implicit", "counterfactual", "composed"),
        replies.ALL,
    }
    assert (items["value"].isna() == items["unscored"].notna()).all()
    assert set(items["judge"]) == {"one, json", "word rule"}
    assert len(made.table) == 3 * len(made.queries)
    assert plan.empty


def test_a_recording_in_part_shows_as_that_part(corpus, endpoint):
    _, _, _, few = run(config(queries_per_style=1), corpus)
    _, items, plan, asked = run(config(llm_mode="replay"), corpus)
    assert not asked
    table = replies.scores(items)
    row = table[(table["judge"] == "one, json") & (table["style"] == "dialog")].iloc[0]
    assert (row["n"], row["not_run"], row["unscored"]) == (1, 1, 0)
    assert plan["on_record"].sum() == few.total()
    assert plan["to_ask"].sum() > 0
    shown = replyrun.shown_plan(plan)
    assert shown["still to ask"].iloc[-1] == plan["to_ask"].sum()
    _, _, _, rest = run(config(), corpus)
    waiting = plan.set_index("prompt")["to_ask"]
    assert rest["answer"] == waiting["reply_short.v1"] > 0
    _, _, done, _ = run(config(llm_mode="replay"), corpus)
    assert done["to_ask"].sum() == 0


def test_nothing_on_record_is_not_run_and_planned(corpus, endpoint, monkeypatch, tmp_path):
    made, items, plan, _ = run(config(llm_mode="replay"), corpus)
    assert items["value"].isna().all()
    assert made.table["text"].isna().all()
    answers = plan[plan["prompt"] == "reply_short.v1"]["to_ask"].item()
    assert 0 < answers <= len(made.table), "the same prompt is asked once"
    verdicts = plan[plan["prompt"] != "reply_short.v1"]["to_ask"].sum()
    assert verdicts == len(made.table), "a verdict for each reply, by its style's rubric"
    assert len(ReplyExamples(made, items).chosen) == 0
    written = tmp_path / "plan.txt"
    monkeypatch.setenv(PLAN_VARIABLE, str(written))
    run(config(), corpus)
    assert f"{answers + verdicts} calls to make" in written.read_text()


def test_examples_are_escaped(corpus, endpoint):
    made, items, _, _ = run(config(), corpus)
    page = ReplyExamples(made, items)._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page
    assert "word rule: " in page and "one, json: " in page


def test_single_rules_of_the_paper_change_scores_on_the_same_calls(corpus, endpoint):
    settings = config(answer_model="cutting", conditions=["oracle", "no_memory", "cot_noselect"])
    made, items, _, _ = run(settings, corpus)
    assert made.table["unscored"].fillna("").str.startswith("truncated").any()
    replayed = config(**{**settings.model_dump(), "llm_mode": "replay"})
    with open_llm(replayed) as llm:
        table = replychecks.rule_effects(replayed, made, items, llm)
        words = table[table["judge"] == "word rule"].set_index("rule")
        assert words.loc[replychecks.READ_ALL, "changed"] > 0, "the thoughts hold the fact"
        assert (
            words.loc[replychecks.READ_ALL, "paper_n"] > words.loc[replychecks.READ_ALL, "ours_n"]
        )
        zero = words.loc[replychecks.AS_ZERO]
        assert zero["paper"] < zero["ours"] and zero["paper_n"] > zero["ours_n"]
        wording = table[table["rule"] == replychecks.WORDING].iloc[0]
        assert wording["paper_n"] < wording["ours_n"], "the paper's own prompt is not on record"
        shown = replychecks.shown_rule_effects(table)
        assert len(shown) == len(table)


def test_costs_are_those_of_the_different_calls_on_record(corpus, endpoint):
    made, _, _, asked = run(config(), corpus)
    with open_llm(config(llm_mode="replay")) as llm:
        table = replycosts.costs(config(), made, llm)
    judged = table[table["what"].str.startswith("judge_")]
    assert judged["calls"].sum() == asked["judge"]
    assert (table["input_tokens"] == 20 * table["calls"]).all()
    assert (table["output_tokens"] == 5 * table["calls"]).all()
    assert len(replycosts.shown_costs(table)) == len(table)


def test_trust_is_said_on_the_page(corpus, endpoint):
    with open_llm(config(llm_mode="replay")) as llm:
        table = replytrust.trust(config(), llm)
    own = table[table["judge"] == "one, json"]
    assert (own["not_run"] == own["items"]).all() and own["on_common"].isna().all()
    assert set(replytrust.shown_trust(table)["accuracy"].iloc[: len(own)]) == {"not run"}
    assert "not known" in replytrust.trust_note(config(), table)
    model = table["judge"] == "one, json"
    known = table.assign(not_run=0, unscored=0, words=0.7, both=4)
    known.loc[model, ["accuracy", "on_both"]] = 0.1
    assert "not above that floor" in replytrust.trust_note(config(), known)
    known.loc[model, ["accuracy", "on_both"]] = 1.0
    note = replytrust.trust_note(config(), known)
    assert "floor" not in note and "below" not in note
    known.loc[model & (known["rubric"] == "composed"), "on_both"] = 0.5
    note = replytrust.trust_note(config(), known)
    assert note.endswith("But it is below the word rule on composed (50.0 to 70.0 %, 4 replies).")
    assert "has no verdict" in replytrust.trust_note(config(), known.assign(both=0))
    assert "No model" in replytrust.trust_note(config(judges=["words"]), table)


def trusted(*rows):
    """Return a trust table: rows of judge, rubric, and accuracy on the ten replies in common."""
    table = pd.DataFrame(rows, columns=["judge", "rubric", "on_common"])
    return table.assign(common=10, items=10, not_run=0, unscored=0)


def labels(right, *, asked=10, unscored=0, judged_as="yes"):
    """Return a judge's verdicts on ten replies of one rubric: so many right, the last unscored."""
    rows = []
    for number in range(asked):
        judged = judged_as if number < right else "other"
        why = "timeout: slow" if number >= asked - unscored else None
        rows.append([f"i{number}", "ab"[number % 2], "fact_use", "", judged, why])
    frame = pd.DataFrame(
        rows, columns=["item", "conversation", "rubric", "part", "judged", "unscored"]
    ).assign(gold=judged_as)
    frame.loc[frame["unscored"].notna(), "judged"] = None
    return frame


@pytest.mark.parametrize(
    ("model", "best"),
    [
        (labels(1, asked=24, unscored=23), "word rule"),  # right on the only one it scored
        (labels(24, asked=24, unscored=5), "word rule"),  # 19 of 24 are too few
        (labels(24, asked=24, unscored=4), "m"),
        (labels(12, asked=24), "m"),  # level with the rule, and first
        (labels(11, asked=24), "word rule"),
    ],
)
def test_unscored_replies_never_help_a_judge(model, best):
    rule = labels(12, asked=24)
    found = [
        {"judge": judge, "rubric": "fact_use"}
        | replytrust.agreement({"m": model, "word rule": rule}, rule, judge, "fact_use")
        for judge in ("m", "word rule")
    ]
    table = pd.DataFrame(found)
    assert replytrust.best_judges(table) == {"fact_use": best}
    note = replytrust.best_note(table)
    scored = int(model["judged"].notna().sum())
    assert (f"Too few verdicts to be chosen: m for fact_use ({scored} of 24)" in note) == (
        scored < 20
    )
    assert f"(on {24 if scored < 20 else scored} replies)" in note


def test_judges_are_compared_on_the_replies_all_of_them_scored():
    """By hand: the model leaves out the two that the rule has wrong, so it gains nothing."""
    rule, model = labels(8), labels(8, unscored=2)
    both = {"m": model, "word rule": rule}
    row = replytrust.agreement(both, rule, "m", "fact_use")
    assert (row["accuracy"], row["items"], row["unscored"]) == (1.0, 10, 2)
    assert (row["both"], row["on_both"], row["words"]) == (8, 1.0, 1.0)
    rule_row = replytrust.agreement(both, rule, "word rule", "fact_use")
    assert (rule_row["accuracy"], rule_row["common"], rule_row["on_common"]) == (0.8, 8, 1.0)


def test_the_headline_takes_for_each_rubric_the_judge_that_agrees_best():
    """A model wins a tie, being first; without labels on record nothing is preferred."""
    table = trusted(
        ("m", "fact_use", 0.7), ("m", "composed", 0.5), ("m", "all", 0.9), ("m", "trap", None),
        ("word rule", "fact_use", 0.7), ("word rule", "composed", 0.8), ("word rule", "all", 0.6),
    )  # fmt: skip
    assert replytrust.best_judges(table) == {"composed": "word rule", "fact_use": "m"}
    rows = [("m", "fact_use", 1.0), ("word rule", "fact_use", 0.0), ("m", "composed", 0.3),
            ("word rule", "composed", 0.6), ("m", "trap", 1.0)]  # fmt: skip
    items = pd.DataFrame(rows, columns=["judge", "metric", "value"])
    found = replytrust.with_best(items, table)
    best = found[found["judge"] == replytrust.BEST]
    assert found["judge"].iloc[0] == replytrust.BEST and len(found) == len(items) + 2
    assert dict(zip(best["metric"], best["value"], strict=True)) == {
        "fact_use": 1.0,
        "composed": 0.6,
    }
    assert "word rule for composed (on 10 replies); m for fact_use (on" in replytrust.best_note(
        table
    )
    assert len(replytrust.with_best(items[items["judge"] == "m"], table)) == 3
    unknown = trusted(("m", "fact_use", None))
    assert replytrust.with_best(items, unknown) is items
    assert "none is preferred" in replytrust.best_note(unknown)


def test_what_the_guards_found_is_counted_for_each_way(corpus, endpoint):
    with open_llm(config(llm_mode="record")) as llm:
        made = replyrun.make_replies(config(), corpus, llm, llm)
        items = replyrun.score_replies(config(), corpus, made.table, llm)
    own = replyrun.by_model(config(), items)
    assert set(own["judge"]) == {"one, json"} and (own["notes"] == "").all()
    table = guarded.guarded(own, "way")
    assert list(table["way"]) == list(dict.fromkeys(own["way"]))
    assert table["replies"].sum() == len(own) and not table["flagged"].any()
    assert "none was clipped" in guarded.guard_note(table)
    assert guarded.shown_guarded(table, "memories").empty
