"""The look of every figure: type, colours of the frame, axes, legends and intervals."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

from unbidden.report.figures.looks import GRID

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes

_RC: dict[str, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": GRID,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "font.size": 11,
    "svg.hashsalt": "unbidden",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
}


def use_style() -> None:
    """Set the study's look, and SVG as the notebook's figure format.

    A white face keeps the figures readable when a page is dark.
    """
    # A progress library warns of missing widgets, with a path of the machine; pages have no bars.
    warnings.filterwarnings("ignore", message="IProgress not found")
    mpl.rcParams.update(_RC)  # type: ignore[arg-type]  # the stubs want literal keys
    from matplotlib_inline.backend_inline import set_matplotlib_formats

    set_matplotlib_formats("svg", metadata={"Date": None})


def new_axes(width: float = 7.2, height: float = 3.8) -> tuple[Figure, Axes]:
    """Return a figure of one panel; width and height in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def nothing_to_draw(why: str) -> Figure:
    """Return a figure that says why there is nothing in it, so that text can still cite it."""
    figure, axes = new_axes(height=0.8)
    axes.set_axis_off()
    axes.text(0.5, 0.5, why, ha="center", va="center", transform=axes.transAxes)
    return figure


def legend_above(figure: Figure, axes: Axes) -> None:
    """Put the legend above the panels, where it hides no data."""
    handles, labels = axes.get_legend_handles_labels()
    columns = len(labels) if len(labels) <= 6 else 5
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, frameon=False)


def percent_errors(rows: pd.DataFrame) -> list[list[float]]:
    """Return how far each interval reaches below and above its mean, in percent; 0 if unknown."""
    mean, low, high = (100 * rows[column].astype(float) for column in ("mean", "low", "high"))
    return [list((mean - low).fillna(0)), list((high - mean).fillna(0))]


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Give each name a row, from the top, and rule the values instead of the rows."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(max(1, len(names)) - 0.5, -0.5)
    axes.grid(axis="x")
    axes.grid(visible=False, axis="y")
