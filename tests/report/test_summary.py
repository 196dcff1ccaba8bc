import pandas as pd
import pytest

from unbidden.report.summary import (
    complete_conversations,
    leaders,
    means,
    named_categories,
    scored_systems,
    select,
    shared_conversations,
    shared_items,
    without_model,
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


def test_complete_conversations(toy):
    assert set(complete_conversations(toy)["conversation"]) == {"a"}


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


def test_a_system_without_any_score_is_not_run(toy):
    silent = toy.assign(system="silent", value=None)
    assert set(scored_systems(pd.concat([toy, silent]))["system"]) == {"s"}


def test_items_that_everyone_has_a_score_for():
    rows = pd.DataFrame(
        {
            "query_id": ["a#0", "a#1", "a#0", "a#1", "a#0"],
            "system": ["s", "s", "t", "t", "never scored"],
            "value": [1.0, 0.0, 1.0, None, None],
        }
    )
    kept = shared_items(rows, "system", ["query_id"])
    assert list(zip(kept["query_id"], kept["system"], strict=True)) == [("a#0", "s"), ("a#0", "t")]


def test_nobody_leads_where_nobody_was_run():
    assert leaders({}, ["s"]) == []


def test_categories_have_names_and_composed_queries_none(toy):
    named = named_categories(toy)
    assert "a#0+1" not in set(named["query_id"])
    assert set(named["category"]) == {"single-hop", "adversarial"}
