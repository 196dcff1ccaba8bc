"""The figure of the chapter on replies: scores by style, way to remember and judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from unbidden.corpus.models import STYLES
from unbidden.report.figures.looks import MARKERS, PALETTE
from unbidden.report.figures.style import legend_above, percent_errors
from unbidden.report.replies.tables import ALL

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = 3


def reply_scores(scores: pd.DataFrame) -> Figure:
    """Draw the mean score of each way to remember, a panel a style, a mark a judge.

    Parameters
    ----------
    scores : DataFrame
        From `unbidden.report.replies.tables.scores`. Judges without a score are left out; where
        nothing has one, the figure says so.
    """
    scored = scores[scores["n"] > 0]
    if scored.empty:
        figure = Figure(figsize=(8.2, 1.0), layout="constrained")
        figure.text(0.5, 0.5, "No reply is on record here", ha="center", va="center")
        return figure
    ways, judges = (list(dict.fromkeys(scored[name])) for name in ("way", "judge"))
    styles = [style for style in (*STYLES, ALL) if style in set(scored["style"])]
    rows = -(-len(styles) // _COLUMNS)
    figure = Figure(figsize=(8.2, 0.9 + rows * (0.7 + 0.36 * len(ways))), layout="constrained")
    panels = figure.subplots(rows, _COLUMNS, sharex=True, sharey=True, squeeze=False).ravel()
    for unused in panels[len(styles) :]:
        unused.set_visible(False)
    for axes, style in zip(panels, styles, strict=False):
        for i, judge in enumerate(judges):
            own = scored[(scored["style"] == style) & (scored["judge"] == judge)]
            axes.errorbar(
                100 * own["mean"].astype(float),
                [ways.index(way) + 0.22 * (i - (len(judges) - 1) / 2) for way in own["way"]],
                xerr=percent_errors(own),
                fmt=MARKERS[i],
                color=PALETTE[i],
                capsize=2,
                markersize=5,
                label=judge,
            )
        axes.set_title(style, fontsize=11)
        axes.grid(axis="x")
        axes.grid(visible=False, axis="y")
        axes.set_xlim(-3, 103)
        axes.set_ylim(len(ways) - 0.5, -0.5)
    panels[0].set_yticks(range(len(ways)), ways)
    figure.supxlabel("Score of the replies (%)", fontsize=11)
    legend_above(figure, panels[0])
    return figure
