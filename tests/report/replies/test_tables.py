"""Scored replies as the chapter shows them: counts beside means, the oracle, what was used."""

import numpy as np
import pandas as pd
import pytest

from unbidden.llm.session import PLANNED
from unbidden.reply.study import way_name
from unbidden.report.figures import reply_scores
from unbidden.report.replies import numbers as replynumbers
from unbidden.report.replies import tables as replies
from unbidden.report.replies import use as replyuse
from unbidden.report.tables import NumberedTable

PENDING = f"no reply: planned: {PLANNED}"
FAILED = "no reply: timeout: slow"


def items(values, *, judge="a judge", style="dialog", condition=None, metric="fact_use"):
    """Return items of one style: way -> list of values, a text where there is none."""
    rows = []
    for way, found in values.items():
        for number, value in enumerate(found):
            there = not isinstance(value, str)
            system, kind = ("none", way) if way in ("oracle", "no_memory") else (way, "top_k")
            rows.append(
                {
                    "judge": judge,
                    "way": way_name(system, kind),
                    "conversation": f"talk-{number % 3}",
                    "query_id": f"q{number}",
                    "style": style,
                    "system": system,
                    "condition": kind,
                    "metric": metric,
                    "value": value if there else np.nan,
                    "unscored": None if there else value,
                    "label": "x" if there else None,
                }
            )
    return pd.DataFrame(rows)


def answers(found, *, style="dialog", text="It was Rui."):
    """Return a table of replies: way -> list of the turns shown to each query."""
    rows = [
        {
            "way": way,
            "style": style,
            "query_id": f"q{number}",
            "turns": turns,
            "memories": [f"m{t}" for t in turns],
            "tokens": 10 * len(turns),
            "text": text,
            "unscored": None,
        }
        for way, shown in found.items()
        for number, turns in enumerate(shown)
    ]
    return pd.DataFrame(rows)


def test_failed_and_not_run_are_counted_and_in_no_mean():
    frame = items({"bm25": [1.0, 0.0, FAILED, PENDING], "oracle": [PENDING] * 4})
    table = replies.scores(frame)
    row = table[(table["way"] == "bm25") & (table["style"] == "dialog")].iloc[0]
    assert (row["mean"], row["n"], row["unscored"], row["not_run"]) == (0.5, 2, 1, 1)
    shown = replies.shown_scores(table, "a judge").set_index("memories")
    assert shown.loc["oracle", "dialog"] == "not run"
    assert shown.loc["oracle", ["n", "unscored", "not run"]].tolist() == [0, 0, 4]
    assert shown.loc["bm25", "all styles"].startswith("50.0")


def test_all_styles_are_those_a_judge_scores():
    frame = pd.concat(
        [
            items({"oracle": [1.0, 1.0]}),
            items({"oracle": [0.0, 0.0]}, style="counterfactual", metric="counterfactual"),
            items({"oracle": [1.0, 1.0]}, judge="other"),
            items({"oracle": [0.0, 0.0]}, metric="implicit", style="implicit"),
        ]
    )
    table = replies.scores(frame)
    pooled = table[table["style"] == replies.ALL].set_index("judge")["mean"].to_dict()
    assert pooled == {"a judge": 0.5, "other": 1.0}, "a second rubric of a style is not pooled"
    assert list(replies.shown_scores(table, "other").columns)[:2] == ["memories", "dialog"]


def test_the_oracle_is_compared_query_by_query():
    frame = items({"bm25": [0.0, 0.5, FAILED, 0.5], "oracle": [1.0, 1.0, 1.0, PENDING]})
    table = replies.differences(frame, by_style=False)
    (row,) = table.to_dict("records")
    assert (row["way"], row["n"], row["difference"]) == ("bm25", 2, 0.75)
    assert row["detectable"] is not None
    shown = replies.shown_oracle_gap(table, ["judge", "way"])
    assert {"n", "p", "detectable", "differs?"} <= set(shown.columns)
    assert len(replies.differences(frame, by_style=True)) == 1


def test_nothing_on_record_shows_as_that_everywhere():
    frame = items({"bm25": [PENDING] * 3, "oracle": [PENDING] * 3})
    table = replies.scores(frame)
    gaps = replies.differences(frame, by_style=False)
    assert gaps.empty and list(gaps.columns[:3]) == ["judge", "style", "way"]
    assert [text.get_text() for text in reply_scores(table).texts] == ["No reply is on record here"]
    assert (
        "nothing to show"
        in NumberedTable(
            replies.shown_oracle_gap(gaps, ["judge", "way"]), "t", "c"
        )._repr_markdown_()
    )
    assert replynumbers.answer_note(frame, table, gaps).startswith("No reply is on record")
    shown = answers({"bm25": [[]] * 3, "oracle": [[]] * 3})
    shares = pd.Series([0.0] * 6)
    assert replyuse.by_found(frame, shown, shares).empty
    assert replyuse.above_oracle(frame, shown, shares).empty
    assert replies.judge_agreement(frame).empty


def test_where_a_system_is_above_the_oracle_its_gold_is_counted():
    frame = items({"bm25": [1.0, 1.0, 0.0], "dense": [0.0, 0.0, 0.0], "oracle": [0.5, 0.0, 0.5]})
    shown = answers({"bm25": [["g"], ["x"], ["g"]], "dense": [[]] * 3, "oracle": [["g"]] * 3})
    shares = pd.Series([float("g" in turns) for turns in shown["turns"]])
    (row,) = replyuse.above_oracle(frame, shown, shares).to_dict("records")
    assert (row["way"], row["queries"]) == ("bm25", 3)
    assert (row["better"], row["with_gold"], row["worse"]) == (2, 1, 1)


def note(frame, shown):
    shares = pd.Series([float("g" in turns) for turns in shown["turns"]])
    table = replies.scores(frame)
    gaps = replies.differences(frame, by_style=False)
    above = replyuse.above_oracle(frame, shown, shares)
    return replynumbers.oracle_note(None, frame, table, gaps, above), gaps


def test_the_text_says_whether_the_oracle_is_on_top():
    shown = answers({"bm25": [["g"]] * 6, "oracle": [["g"]] * 6})
    on_top, _ = note(items({"bm25": [0.0] * 6, "oracle": [1.0] * 6}), shown)
    assert on_top == "By a judge the oracle is at or above every system in every style."
    below, _ = note(items({"bm25": [1.0] * 6, "oracle": [0.5] * 6}), shown)
    assert (
        "above the oracle's in 1 of 1 cells" in below
        and "Of the 6 above, the system had shown every gold turn for 6" in below
    )
    alone, _ = note(items({"bm25": [1.0]}), answers({"bm25": [["g"]]}))
    assert alone.startswith("There is nothing to compare")


def test_the_text_says_if_a_recording_is_not_whole():
    for last, start in (
        (1.0, "Scored by a judge on the 3 queries"),
        (
            PENDING,
            "With 1 replies or verdicts not on record yet, scored by a judge on the 2 queries",
        ),
    ):
        frame = items({"bm25": [0.0, 0.5, last], "oracle": [1.0, 1.0, 1.0]})
        table = replies.scores(frame)
        gaps = replies.differences(frame, by_style=False)
        assert replynumbers.answer_note(frame, table, gaps).startswith(start)


def test_the_best_system_is_best_on_the_queries_all_have_a_score_for():
    """By its own mean bm25 leads with 75.0 over 50.0, as it failed on the harder half."""
    found = {"bm25": [1.0, 0.5, FAILED, PENDING], "dense": [1.0, 1.0, 0.0, 0.0]}
    frame = items({**found, "rrf": [PENDING] * 4, "oracle": [1.0, 1.0, 1.0, 0.0]})
    gaps = replies.differences(frame, by_style=False)
    table = replies.scores(frame)
    told = replynumbers.answer_note(frame, table, gaps)
    assert "best system (dense) found 100.0" in told and "on the 2 queries" in told
    own = table[table["style"] == replies.ALL].set_index("way")["mean"]
    assert (own["bm25"], own["dense"]) == (0.75, 0.5), "the table keeps each row's own mean"
    level = items({"bm25": [1.0, 0.0], "dense": [0.0, 1.0]})
    told = replynumbers.answer_note(level, replies.scores(level), gaps)
    assert "best systems (bm25, dense) found 50.0 %" in told
    apart = items({"bm25": [1.0, FAILED], "dense": [FAILED, 1.0]})
    told = replynumbers.answer_note(apart, replies.scores(apart), gaps)
    assert "none can be called the best" in told


def test_found_and_used():
    frame = items({"bm25": [1.0, 0.5, 0.0, FAILED], "oracle": [1.0, 1.0, 0.5, 1.0]})
    shown = answers({"bm25": [["g"], ["h"], [], ["g"]], "oracle": [["g"]] * 4})
    shares = pd.Series([1.0, 0.5, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    table = replyuse.by_found(frame, shown, shares)
    assert table["shown"].tolist() == list(replyuse.BUCKETS)
    assert table["mean"].tolist() == [1.0, 0.5, 0.0]
    assert table["oracle"].tolist() == [1.0, 1.0, 0.5]
    assert table["n"].sum() == 3, "the failed reply is in no bucket"
    assert len(replyuse.shown_by_found(table, "a judge")) == 3


def test_lengths_and_admitted_doubt():
    table = answers({"bm25": [["g"], [], []]}, text="I don't remember that.")
    table.loc[1, ["text", "unscored"]] = [None, "truncated: at 80 tokens"]
    table.loc[2, ["text", "unscored"]] = [None, f"planned: {PLANNED}"]
    (row,) = replyuse.lengths(table, pd.Series([1.0, 0.0, 0.0])).to_dict("records")
    assert [row[name] for name in ("n", "cut", "failed", "not_run")] == [1, 1, 0, 1]
    assert row["words"] == 4 and row["doubting"] == 1
    assert row["recall"] == pytest.approx(1 / 3)


def test_judges_are_compared_on_what_both_scored():
    frame = pd.concat(
        [items({"bm25": [1.0, 0.0, 1.0]}), items({"bm25": [1.0, 1.0, FAILED]}, judge="other")]
    )
    (row,) = replies.judge_agreement(frame).to_dict("records")
    assert (row["n"], row["same score, %"]) == (2, "50.0")


def test_the_figure_draws_every_judge_with_a_score():
    frame = pd.concat([items({"bm25": [1.0, 0.0]}), items({"bm25": [PENDING] * 2}, judge="mute")])
    figure = reply_scores(replies.scores(frame))
    texts = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert texts == ["a judge"]
