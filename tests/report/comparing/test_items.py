"""Pairing by item: what is compared, what is left out, and that each is said."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.report.comparing.conftest import item
from unbidden.report.comparing.items import AGREES, paired_items


def frame(*rows):
    found = pd.DataFrame(rows)
    return found.assign(category=found["category"].astype("Int8"))


def test_differences_are_second_minus_first_over_common_items():
    a = frame(item("a#1", 0.0), item("a#2", 0.5), item("b#1", 1.0), item("b#9", 1.0))
    b = frame(item("a#1", 1.0), item("a#2", 0.5), item("b#1", 0.0), item("c#1", 1.0))
    (row,) = paired_items(a, b).table.to_dict("records")
    assert (row["first_mean"], row["second_mean"]) == (0.5, 0.5)
    assert row["difference"] == 0.0
    assert (row["n"], row["conversations"]) == (3, 2)
    assert (row["only_first"], row["only_second"]) == (1, 1)
    # totals by conversation are +1 and -1: error sqrt(2 * 2) / 3, one degree of freedom
    assert row["high"] == pytest.approx(12.706 * 2 / 3, rel=1e-4)


def test_the_unscored_are_counted_and_never_zero():
    a = frame(item("a#1", 1.0), item("a#2", 0.0), item("a#3", None, unscored="no gold"))
    b = frame(item("a#1", 1.0), item("a#2", None, unscored="failed"), item("a#3", None))
    (row,) = paired_items(a, b).table.to_dict("records")
    assert (row["n"], row["unscored_in_one"], row["second_mean"]) == (1, 1, 1.0)


def test_category_5_is_left_out_and_said():
    a = frame(item("a#1", 1.0), item("a#2", 0.0, category=5))
    found = paired_items(a, a)
    assert found.table["n"].tolist() == [1]
    assert "category 5 is left out" in found.notes


def test_a_group_of_one_run_is_named_by_what_is_new():
    a = frame(item("a#1", 1.0), item("a#1", 1.0, system="dense"))
    b = frame(item("a#1", 1.0), item("a#1", 1.0, system="mine"))
    found = paired_items(a, b)
    assert found.table["system"].tolist() == ["bm25"]
    assert {"only in the first run: system dense", "only in the second run: system mine"} <= set(
        found.notes
    )


def test_one_value_in_each_run_is_paired_across():
    a = frame(item("a#1", 0.0), item("b#1", 0.0))
    b = frame(item("a#1", 1.0, condition="repaired"), item("b#1", 1.0, condition="repaired"))
    found = paired_items(a, b)
    assert found.table["difference"].tolist() == [1.0]
    assert "condition" not in found.table
    assert "paired across condition: paper and repaired" in found.notes


def test_items_of_other_data_and_doubled_items_are_said():
    a = frame(item("a#1", 1.0), item("b#1", 1.0))
    other = paired_items(a, frame(item("c#1", 1.0), item("d#1", 1.0)))
    assert other.table.empty
    assert any("no item in both" in note for note in other.notes)
    twice = paired_items(frame(item("a#1", 1.0), item("a#1", 0.0)), a)
    assert twice.table.empty
    assert any("there twice" in note for note in twice.notes)


def test_the_metric_and_the_cut_off_chosen():
    rows = [item("a#1", 1.0, metric=metric, k=k) for metric in ("recall", "mrr") for k in (1, 10)]
    a = frame(*rows)
    assert len(paired_items(a, a).table) == 2  # recall alone, both k
    assert len(paired_items(a, a, metric="all", k=[10]).table) == 2
    assert set(paired_items(a, a, metric="mrr", k=[1]).table["metric"]) == {"mrr"}


def test_verdicts_become_agreement():
    a = pd.DataFrame(
        {
            "judge": "rule",
            "item": ["1", "2", "3"],
            "conversation": ["x", "x", "y"],
            "gold": ["right", "wrong", "right"],
            "judged": ["right", "right", None],
        }
    )
    (row,) = paired_items(a, a.assign(judged=["right", "wrong", "right"])).table.to_dict("records")
    assert (row["measure"], row["first_mean"], row["second_mean"]) == (AGREES, 0.5, 1.0)
    assert row["unscored_in_one"] == 1


def test_lists_and_texts_are_no_groups():
    rows = [item("a#1", 1.0), item("b#1", 0.0)]
    a = frame(*rows).assign(memories=[["x"], ["y", "z"]], text=["one", "two"])
    (row,) = paired_items(a, a).table.to_dict("records")
    assert row["n"] == 2
    assert not {"memories", "text"} & set(row)


def test_files_without_ids_are_not_paired():
    a = pd.DataFrame({"conversation": ["a"], "value": [1.0]})
    found = paired_items(a, a)
    assert found.table.empty
    assert any("not paired" in note for note in found.notes)


@settings(deadline=None, max_examples=20)
@given(
    values=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30),
    seed=st.integers(0, 3),
)
def test_swapping_the_runs_turns_the_sign(values, seed):
    rows = [
        [item(f"{'ab'[i % 2]}#{i}", pair[side]) for i, pair in enumerate(values)] for side in (0, 1)
    ]
    a, b = (frame(*side) for side in rows)
    order = np.random.default_rng(seed).permutation(len(values))
    one = paired_items(a, b.iloc[order]).table
    other = paired_items(b, a).table
    assert one["difference"][0] == pytest.approx(-other["difference"][0])
    assert one["p"][0] == pytest.approx(other["p"][0])
