import pandas as pd

from tests.conftest import ROOT
from unbidden.recorded import recorded_view
from unbidden.report.grounding import silence


def test_released_support_with_and_without_own_votes():
    def means(value):
        names = ("recall_same", "recall_supportive", "recall_both")
        return pd.DataFrame(
            [
                {
                    **{"metric": name, "system": "bm25", "n": 28},
                    **{"mean": value, "low": value - 0.25, "high": value + 0.25},
                }
                for name in names
            ]
        )

    shown = silence.shown_released_support(means(0.5), means(0.25))
    assert shown["votes"].tolist() == ["all", "others only"]
    assert shown["supportive"].tolist() == ["50.0 [25.0, 75.0]", "25.0 [0.0, 50.0]"]


def test_the_recorded_tables_have_the_form_that_is_shown(monkeypatch):
    monkeypatch.chdir(ROOT)
    names = ("supportive_recall_circular", "supportive_recall_held_out")
    shown = recorded_view("locomo", "01_dataset", silence.shown_released_support, *names)
    assert len(shown) == 4 and "gold and supportive" in shown


def test_a_cut_reply_is_told_from_one_that_failed_or_waits():
    reasons = ["truncated: limit", "timeout: slow", "planned: this run only plans", None]
    table = pd.DataFrame(
        {
            "way": ["random"] * 4,
            "text": [None, None, None, "two words"],
            "unscored": pd.Series(reasons, dtype=object),
        }
    )
    (row,) = silence.cut_table(table, table[:0]).to_dict("records")
    assert (row["replies"], row["cut"], row["other"], row["waiting"]) == (1, 1, 1, 1)
    assert row["words"] == 2
    waits = silence.cut_table(table[2:3], table[:0])
    assert silence.shown_cut(waits)["replies"].tolist() == ["not run"]
