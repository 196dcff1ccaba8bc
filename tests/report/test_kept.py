"""Tables that were made now or are on record, and the row in the place of one that is neither."""

import pandas as pd
import pytest

from unbidden.config import CostConfig
from unbidden.report.folder import RunFolder
from unbidden.report.kept import KeptTables

FRAME = pd.DataFrame({"a": [1, 2]})


@pytest.fixture
def kept(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "study.yaml").touch()
    monkeypatch.chdir(tmp_path)
    return KeptTables(RunFolder(CostConfig.of(chapter="09_cost")), ("bench", "09_cost"))


def shown(kept, source="x"):
    return kept.table(source, lambda frame: frame + 1, "tab-x", "X.").frame


def test_what_is_made_now_is_shown_and_written(kept, tmp_path):
    kept.add({"x": FRAME})
    assert shown(kept)["a"].tolist() == [2, 3]
    written = tmp_path / "results" / "runs" / "scratch" / "09_cost" / "tables" / "x.csv"
    pd.testing.assert_frame_equal(pd.read_csv(written), FRAME)


def test_what_is_on_record_is_shown_and_what_is_not_is_said(kept, tmp_path):
    place = tmp_path / "results" / "recorded" / "bench" / "09_cost" / "tables"
    place.mkdir(parents=True)
    FRAME.to_csv(place / "x.csv", index=False)
    kept.take_recorded(["x", "y"])
    assert set(kept.frames) == {"x"}
    assert shown(kept)["a"].tolist() == [2, 3]
    assert shown(kept, "y").iloc[0, 0] == "not recorded here (results/recorded/bench/09_cost)"
