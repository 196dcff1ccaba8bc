import pandas as pd

from tests.conftest import ROOT
from unbidden.recorded import recorded_view
from unbidden.report.grounding import support


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

    shown = support.shown_released_support(means(0.5), means(0.25))
    assert shown["votes"].tolist() == ["all", "others only"]
    assert shown["supportive"].tolist() == ["50.0 [25.0, 75.0]", "25.0 [0.0, 50.0]"]


def test_the_recorded_tables_have_the_form_that_is_shown(monkeypatch):
    monkeypatch.chdir(ROOT)
    names = ("supportive_recall_circular", "supportive_recall_held_out")
    shown = recorded_view("locomo", "01_dataset", support.shown_released_support, *names)
    assert len(shown) == 4 and "gold and supportive" in shown
