"""The recorded scores of the published outputs, and how they are shown without them."""

import pandas as pd
import pytest

from unbidden.config import TimelinesConfig
from unbidden.recorded import recorded_table
from unbidden.reply.rescoring import released, rescore
from unbidden.report import figures
from unbidden.report.folder import RunFolder
from unbidden.report.timelines import rescored
from unbidden.report.timelines.release import RECORDED, TABLES, ReleaseReport


@pytest.mark.realdata
def test_the_recorded_scores_come_again(real_data):
    again = rescore(released()).reset_index(drop=True)
    recorded = recorded_table(*RECORDED, "published_rescored")
    pd.testing.assert_frame_equal(again, recorded, check_dtype=False, rtol=1e-9)


def test_the_recorded_scores_are_those_of_the_release():
    """The means over both sets, as our own reference has them."""
    table = recorded_table(*RECORDED, "published_rescored").query("dataset == 'mean'")
    table = table.set_index("system")
    for system, bleu, rouge in (
        ("theanine", 4.33, 19.39),
        ("msc-retrieval", 3.34, 18.20),
        ("memory-update", 3.01, 17.53),
        ("memochat", 1.84, 15.01),
    ):
        assert table.loc[system, "bleu4"] == pytest.approx(bleu, abs=0.03)
        assert table.loc[system, "rouge_l"] == pytest.approx(rouge, abs=0.03)


def report():
    return ReleaseReport(
        RunFolder(TimelinesConfig.of(chapter="06_timelines")), now=False, embedder="none"
    )


def test_every_table_is_recorded_and_can_be_drawn():
    found = report()
    assert set(found.frames) == set(TABLES)
    gap = found.differences()
    assert set(gap["replies"]) == {"as released", "cut to the same length"}
    assert len(figures.released_gap(gap).axes) == 2
    assert found.numbers()["bleu_theanine"] == "4.33"


def test_without_a_recording_the_tables_say_so(monkeypatch, tmp_path):
    monkeypatch.setattr("unbidden.recorded.recorded_folder", lambda *_: tmp_path)
    found = report()
    assert found.differences() is None
    assert found.numbers() == {}
    shown = found.table("published_rescored", rescored.shown_rescored, "tab-x", "c")
    assert "not recorded here" in shown.frame.iloc[0, 0]
