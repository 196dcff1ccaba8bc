import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from unbidden.report.summary import means
from unbidden.report.tables import NumberedTable, escape_markdown, flat_note, points, spread

HOSTILE = "<script>alert(1)</script> | {{ 7*7 }} `x` $y$ [a](b)\n:::\n# no"


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
