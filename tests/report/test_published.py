import pytest

from unbidden.errors import ConfigError, DataError
from unbidden.report.published import (
    PAPERS,
    REPLY_METRICS,
    published,
    theanine_internal_check,
    theanine_table,
)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_number_has_its_place_and_unit(paper):
    frame = published(paper)
    place = ["table", "row", "column"] if paper == "theanine" else ["place", "quantity"]
    assert frame["value"].notna().all()
    for column in ["paper", "unit", *place]:
        assert (frame[column].str.len() > 0).all(), column
    ranges = frame[frame["upper"].notna()]
    assert (ranges["upper"] > ranges["value"]).all()
    keys = [name for name in frame if name not in ("value", "upper", "unit", "note", "paper")]
    assert not frame.duplicated(keys).any() or paper == "locomo_conv"
    assert not frame.duplicated([*keys, "value"]).any()


def test_tables_are_whole():
    assert {number: len(theanine_table(number)) for number in (1, 3, 5, 7, 8, 9)} == {
        1: 9 * 2 * 4,
        3: 5,
        5: 3 * 4,
        7: 8,
        8: 12 * 2,
        9: 9 * 3 * 4,
    }
    cell = published("theanine").query("row == 'THEANINE' and column == 'session 5, BLEU-4'")
    assert cell["value"].tolist() == [4.34]


def test_table_1_and_table_9_say_the_same_but_for_one_misprint():
    check = theanine_internal_check()
    assert len(check) == 9 * len(REPLY_METRICS)
    far = check[check["difference"].abs() > 0.0101]
    assert far[["system", "metric"]].values.tolist() == [["rsum", "bertscore"]]
    assert far["misprint"].tolist() == [True]
    # The misprint is of one digit: 85.20 instead of 82.20 closes the gap.
    assert abs(float(far["difference"].iloc[0]) + 1) <= 0.0101
    assert check["misprint"].sum() == 1


def test_costs_are_their_ratios_but_for_one_misprint():
    table = theanine_table(8).pivot(index="system", columns="metric", values="value")
    ratio = table["api_cost"] / table.loc["theanine", "api_cost"]
    far = ratio[(ratio - table["api_cost_ratio"]).abs() > 0.0101]
    assert far.index.tolist() == ["memochat"]


def test_what_is_not_there_is_said(tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match="did you mean theanine"):
        published("theanin")
    with pytest.raises(DataError, match="Table 12"):
        theanine_table(12)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="from a clone"):
        published("theanine")
