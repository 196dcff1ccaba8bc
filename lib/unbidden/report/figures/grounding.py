"""Figures of the chapter on implicit grounding, in the study's look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unbidden.report.figures.looks import AXIS, MARKERS, PALETTE
from unbidden.report.figures.style import legend_above, name_rows, new_axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_PARTS = ("score", "retrieval", "representation", "response")


def decomposition(table: pd.DataFrame, *, judge: str) -> Figure | None:
    """Draw the weighted decomposition as stacked bars, one a style and way; None without values.

    A negative part (the system beats the oracle) is drawn to the left of zero.

    Parameters
    ----------
    table : DataFrame
        From `unbidden.report.grounding.tables.decomposition_table`.
    """
    rows = table[(table["judge"] == judge) & (table["n"] > 0)] if len(table) else table
    if rows.empty:
        return None
    names = [f"{row['style']}, {row['way']}" for row in rows.to_dict("records")]
    figure, axes = new_axes(height=1.4 + 0.28 * len(names))
    right, left = [0.0] * len(names), [0.0] * len(names)
    for part, colour in zip(_PARTS, PALETTE, strict=False):
        values = [100 * float(value) for value in rows[part]]
        starts = [r if v >= 0 else s + v for v, r, s in zip(values, right, left, strict=True)]
        widths = [abs(value) for value in values]
        axes.barh(range(len(names)), widths, left=starts, color=colour, label=part)
        right = [r + max(v, 0.0) for v, r in zip(values, right, strict=True)]
        left = [s + min(v, 0.0) for v, s in zip(values, left, strict=True)]
    axes.axvline(0, color=AXIS, linewidth=1)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.grid(axis="x")
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("Points of 100")
    legend_above(figure, axes)
    return figure


def margins(table: pd.DataFrame, *, part: str = "total", limits: str = "equal") -> Figure | None:
    """Draw how often one arm beats another, with 95 % intervals; None without values.

    Parameters
    ----------
    table : DataFrame
        From `unbidden.report.grounding.silence.margins_table`.
    """
    rows = table[(table["part"] == part) & (table["limits"] == limits) & (table["n"] > 0)]
    if rows.empty:
        return None
    pairs, ways = (list(dict.fromkeys(rows[name])) for name in ("compared", "counted"))
    figure, axes = new_axes(height=1.4 + 0.6 * len(pairs))
    for i, way in enumerate(ways):
        own = rows[rows["counted"] == way]
        mean, low, high = (100 * own[name].astype(float) for name in ("margin", "low", "high"))
        axes.errorbar(
            mean,
            [pairs.index(pair) + 0.18 * (i - (len(ways) - 1) / 2) for pair in own["compared"]],
            xerr=[list((mean - low).fillna(0)), list((high - mean).fillna(0))],
            fmt=MARKERS[i],
            color=PALETTE[i],
            capsize=3,
            label=way,
        )
    axes.axvline(0, color=AXIS, linewidth=1)
    name_rows(axes, pairs)
    axes.set_xlim(-105, 105)
    axes.set_xlabel("Wins minus losses (points)")
    legend_above(figure, axes)
    return figure
