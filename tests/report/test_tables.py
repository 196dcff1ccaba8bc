from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unbidden.report.summary import (
    complete_conversations,
    condition_effect,
    means,
    select,
    shared_conversations,
    style_drop,
    system_pairs,
    without_model,
)
from unbidden.report.tables import NumberedTable, escape_markdown, flat_note, points, spread

HOSTILE = "<script>alert(1)</script> | {{ 7*7 }} `x` $y$ [a](b)\n:::\n# no"


def items(rows):
    frame = pd.DataFrame(
        rows,
        columns=["conversation", "query_id", "style", "category", "system", "value"],
    )
    return frame.assign(
        metric="recall", k=10, condition="paper", category=frame["category"].astype("Int8")
    )


@pytest.fixture
def toy():
    return items(
        [
            ("a", "a#0", "question", 4, "s", 1.0),
            ("a", "a#1", "question", 4, "s", 0.0),
            ("b", "b#0", "question", 4, "s", 1.0),
            ("a", "a#0", "implicit", 4, "s", 0.0),
            ("b", "b#0", "implicit", 4, "s", None),
            ("a", "a#0+1", "composed", None, "s", 0.25),
            ("a", "a#9", "question", 5, "s", 1.0),
        ]
    )


def test_category_5_is_left_out_and_composed_stays(toy):
    kept = select(toy, "recall", 10)
    assert set(kept["query_id"]) == {"a#0", "a#1", "b#0", "a#0+1"}


def test_means_count_the_unscored(toy):
    rows = means(select(toy, "recall"), ["style"]).set_index("style")
    assert list(rows.index) == ["question", "implicit", "composed"]  # the study's order
    assert rows.loc["question", "mean"] == pytest.approx(2 / 3)
    assert (rows.loc["implicit", "n"], rows.loc["implicit", "unscored"]) == (1, 1)
    assert rows.loc["question", "high"] == 1  # cut: a share


def test_drop_pairs_a_composed_query_with_its_members(toy):
    drops = style_drop(select(toy, "recall")).set_index("style")
    assert drops.loc["composed", "difference"] == pytest.approx(0.25 - (1 + 0) / 2)
    assert drops.loc["implicit", "difference"] == -1
    assert drops.loc["implicit", "n"] == 1


def test_system_pairs_and_conditions():
    rows = items(
        [
            (c, f"{c}#{i}", "question", 4, system, value)
            for c in "abcdefgh"
            for i in range(3)
            for system, value in (("s", 0.0), ("t", 1.0))
        ]
    )
    (pair,) = system_pairs(rows).to_dict("records")
    assert (pair["difference"], pair["p"], pair["verdict"]) == (1, 2 / 2**8, "differs")
    both = pd.concat([rows, rows.assign(condition="repaired")])
    effect = condition_effect(both, "paper", "repaired")
    assert (effect["difference"] == 0).all()
    assert set(effect["verdict"]) == {"not distinguishable"}


def test_complete_conversations(toy):
    assert set(complete_conversations(toy)["conversation"]) == {"a"}


def test_cells_are_inert():
    table = NumberedTable(pd.DataFrame({"x": [HOSTILE]}), "tab-x", HOSTILE)
    page = table._repr_html_()
    assert "<script>" not in page
    text = table._repr_markdown_()
    assert "<script>" not in text
    assert text.count(":::") == 2  # its own fence only
    assert "{{" not in text


@given(st.text())
def test_escaping_leaves_one_line(text):
    escaped = escape_markdown(text)
    assert "\n" not in escaped
    assert "|" not in escaped.replace("\\|", "")


def test_missing_is_a_dash_never_zero():
    assert points(None) == points(float("nan")) == "–"
    summary = pd.DataFrame(
        [{"style": "q", "system": "s", "mean": None, "low": None, "high": None, "n": 0}]
    )
    assert spread(summary, "style", "system").loc[0, "s"] == "not available"


def test_an_empty_table_is_still_a_table():
    for frame in (pd.DataFrame(), pd.DataFrame({"a": []})):
        assert "nothing to show" in NumberedTable(frame, "tab-x", "x")._repr_markdown_()


def test_counts_that_differ_between_systems_are_all_shown():
    row = {"style": "q", "mean": 0.5, "low": 0.4, "high": 0.6}
    summary = pd.DataFrame(
        [
            {**row, "system": "s", "n": 2, "unscored": 0},
            {**row, "system": "t", "n": 1, "unscored": 1},
        ]
    )
    shown = spread(summary, "style", "system", extra={"n": "n", "unscored": "unscored"})
    assert shown.loc[0, "n"] == "2 / 1"
    assert shown.loc[0, "unscored"] == "0 / 1"


def test_numbers_of_a_run_without_scores(toy):
    from unbidden.report.headline import retrieval_numbers

    numbers = retrieval_numbers(toy.assign(value=float("nan")), 10)
    assert numbers["change_implicit_s"] == numbers["recall_question_s"] == "–"


def test_examples_escape_the_data(write, sample):
    from unbidden.corpus import load_corpus
    from unbidden.queries.build import build_queries
    from unbidden.report.retrieval.examples import Examples
    from unbidden.retrieval import retrieve

    sample["conversation"]["session_1"][0]["text"] = f"boat {HOSTILE}"
    sample["qa"][0]["question"] = f"boat {HOSTILE}"
    corpus = load_corpus(str(write([sample])))
    queries = build_queries(corpus)
    rankings = retrieve(corpus, queries, ["bm25"], depth=3)
    page = Examples(corpus, rankings, [0])._repr_html_()
    assert "<script>" not in page
    assert "first gold turn at rank 1" in page
    assert "Not scored" not in page
    refused = {query.conversation: "not on record" for query in queries}
    page = Examples(corpus, [*rankings, replace(rankings[0], system="m", refused=refused)], [0])
    assert "<p>Not scored here: m</p>" in page._repr_html_()


def test_conversations_that_every_system_has():
    rows = pd.DataFrame(
        {
            "conversation": ["a", "a", "b", "b"],
            "system": ["x", "y", "x", "y"],
            "value": [1.0, 0.0, 1.0, None],
        }
    )
    assert set(shared_conversations(rows)["conversation"]) == {"a"}


def test_systems_without_a_model_unless_there_is_none():
    rows = pd.DataFrame({"system": ["bm25", "nemori"], "value": [1.0, 0.5]})
    assert list(without_model(rows)["system"]) == ["bm25"]
    assert list(without_model(rows[1:])["system"]) == ["nemori"]


def test_intervals_without_width_are_explained_where_all_values_are_alike():
    def row(values):
        homes = ["a", "b"] * (len(values) // 2) or ["a"]
        frame = pd.DataFrame({"value": values, "conversation": homes[: len(values)], "s": "s"})
        return means(frame, ["s"])

    flat, one, spread_out = row([0.0] * 30), row([1.0]), row([0.0, 1.0, 1.0, 1.0])
    level = row([0.0, 0.0, 1.0, 1.0])
    assert level["low"][0] == level["high"][0] == 0.5, "no width either, but not alike"
    assert flat_note(pd.concat([one, spread_out, level])) == flat_note(flat[:0]) == ""
    told = flat_note(pd.concat([flat, spread_out, row([1.0] * 4)]))
    assert "10 points for the 30 replies" in told
