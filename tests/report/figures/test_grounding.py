import pandas as pd
import pytest

from unbidden.report import figures as drawn

PARTS = {"score": 0.5, "retrieval": 0.375, "representation": -0.125, "response": 0.25}


def test_the_parts_of_a_bar_are_as_long_as_their_points():
    row = {"judge": "m", "style": "all", "way": "bm25", "n": 4, **PARTS}
    figure = drawn.decomposition(pd.DataFrame([row, row | {"judge": "other"}]), judge="m")
    (axes,) = figure.axes
    bars = {str(c.get_label()): c.patches[0] for c in axes.containers}
    assert {name: bar.get_width() for name, bar in bars.items()} == {
        name: pytest.approx(100 * abs(value)) for name, value in PARTS.items()
    }
    # What the oracle lacks against the system lies left of zero, the rest side by side.
    assert bars["representation"].get_x() == pytest.approx(-12.5)
    assert bars["response"].get_x() == pytest.approx(87.5)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["all, bm25"]


def test_nothing_is_drawn_of_nothing():
    row = {"judge": "m", "style": "all", "way": "bm25", "n": 0, **PARTS}
    assert drawn.decomposition(pd.DataFrame([row]), judge="m") is None
    columns = ["compared", "counted", "limits", "part", "margin", "low", "high", "n"]
    assert drawn.margins(pd.DataFrame(columns=columns)) is None


def test_margins_are_drawn_with_their_intervals():
    row = {
        **{"compared": "oracle − random", "counted": "both orders", "limits": "equal"},
        **{"part": "total", "margin": 0.5, "low": 0.25, "high": 0.75, "n": 12},
    }
    other = row | {"part": "engagement", "margin": -0.5}
    figure = drawn.margins(pd.DataFrame([row, other]))
    (axes,) = figure.axes
    (points,) = [c for c in axes.containers if c.get_label() == "both orders"]
    assert list(points.lines[0].get_xdata()) == [50]
    assert points.lines[2][0].get_segments()[0][:, 0].tolist() == [25, 75]
