import pandas as pd
import pytest

from tests.report.toy import items
from unbidden.report.paired import (
    COMPARED,
    against,
    condition_effect,
    paired_differences,
    style_drop,
    system_pairs,
)
from unbidden.report.summary import select
from unbidden.report.tables import shown_differences


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


def test_against_compares_each_system_with_one_and_corrects_over_the_table():
    rows = items(
        [
            (c, f"{c}#0", style, 4, system, value)
            for c in "abcdefgh"
            for style in ("question", "implicit")
            for system, value in (("s", 1.0), ("t", 0.0), ("u", 0.5))
        ]
    )
    table = against(rows, "s")
    assert list(zip(table["style"], table["system"], strict=True)) == [
        *(("question", "t"), ("question", "u"), ("implicit", "t"), ("implicit", "u"))
    ]
    assert list(table["difference"]) == [-1, -0.5, -1, -0.5]
    assert list(table["p"]) == [2 / 2**8] * 4
    assert list(table["p_holm"]) == [4 * 2 / 2**8] * 4
    assert set(table["verdict"]) == {"differs"}


def test_an_item_that_only_one_system_has_a_score_for_is_no_pair():
    rows = items(
        [
            ("a", "a#0", "question", 4, "s", 1.0),
            ("a", "a#0", "question", 4, "t", None),
            ("b", "b#0", "question", 4, "s", 1.0),
            ("b", "b#0", "question", 4, "t", 0.5),
        ]
    )
    (row,) = against(rows, "s").to_dict("records")
    assert (row["difference"], row["n"], row["conversations"]) == (-0.5, 1, 1)


def test_no_pairs_make_an_empty_table_with_its_columns():
    table = paired_differences([])
    assert (len(table), list(table.columns)) == (0, COMPARED)


def test_a_difference_within_one_conversation_is_shown_as_such():
    def shown(homes):
        rows = items(
            [
                (c, f"{c}#{i}", "question", 4, system, value)
                for c in homes
                for i in range(8)
                for system, value in (("s", 1.0), ("t", 0.0))
            ]
        )
        return list(shown_differences(against(rows, "s"), ["system"])["differs?"])

    assert shown("a") == ["yes, in this one"]
    assert shown("abcdefgh") == ["yes"]


def test_nothing_to_compare_still_names_its_columns(toy):
    recall = select(toy, "recall")
    asked = recall[recall["style"] == "question"]
    for table, keys in (
        (style_drop(asked), ["system", "style"]),
        (system_pairs(asked), ["style", "first", "second"]),
        (against(asked, "s"), ["metric", "style", "system"]),
        (condition_effect(asked.iloc[:0], "a", "b"), ["style", "system", "a", "b"]),
        (paired_differences([]), []),
    ):
        assert list(table.columns) == [*keys, *COMPARED]
        assert table.empty
        assert shown_differences(table, keys).empty
