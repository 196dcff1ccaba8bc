"""Figures of costs, of misled agents, and of estimates with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unbidden.report.figures.looks import AXIS, FAINT, MARKERS, PALETTE
from unbidden.report.figures.style import legend_above, name_rows, new_axes, percent_errors

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def cost_against_size(growth: pd.DataFrame) -> Figure:
    """Draw the milliseconds of one query against the number of memories, both logarithmic.

    Parameters
    ----------
    growth : DataFrame
        Columns ``part, what, n, cpu_ms``; rows whose ``what`` is "query" are drawn.
    """
    figure, axes = new_axes()
    queries = growth[growth["what"] == "query"]
    for i, (part, rows) in enumerate(queries.groupby("part", sort=False)):
        axes.plot(rows["n"], rows["cpu_ms"], marker=MARKERS[i], color=PALETTE[i], label=str(part))
    axes.axhline(100, color=FAINT, linewidth=1, linestyle="--")
    axes.set(xscale="log", yscale="log", xlabel="memories", ylabel="ms a query, one core")
    legend_above(figure, axes)
    return figure


def misled_shares(found: pd.DataFrame) -> Figure:
    """Draw which share of replies is not misled, misled and evasive, by agent, with 95 % intervals.

    Parameters
    ----------
    found : DataFrame
        From `unbidden.report.teafarm.tables.outcomes`; agents without a scored reply are left out.
    """
    rows = found[found["n"] > 0]
    agents = list(dict.fromkeys(rows["system"]))
    names = {"correct": "not misled", "wrong": "misled", "evasive": "evasive"}
    figure, axes = new_axes(height=1.4 + 0.5 * max(1, len(agents)))
    for i, (label, name) in enumerate(names.items()):
        own = rows[(rows["label"] == label) & rows["mean"].notna()]
        if own.empty and len(rows):
            continue  # the paper's judge knows no evasive reply
        axes.errorbar(
            100 * own["mean"].astype(float),
            [agents.index(agent) + 0.24 * (i - 1) for agent in own["system"]],
            xerr=percent_errors(own),
            fmt=MARKERS[i],
            color=PALETTE[(2, 4, 6)[i]],
            capsize=3,
            markersize=7,
            label=name,
        )
    name_rows(axes, agents)
    axes.set_xlim(-2, 102)
    axes.set_xlabel("Replies (%)")
    axes.set_ylabel("Agent")
    legend_above(figure, axes)
    return figure


def forest(rows: pd.DataFrame, *, x: str) -> Figure:
    """Draw changes with their intervals, one line for each switch, a marker for each data set.

    Parameters
    ----------
    rows : DataFrame
        Columns ``title, data, difference, low, high``; rows of one title share a line.
    x : str
        What the changes are of.
    """
    titles = list(dict.fromkeys(rows["title"]))
    names = list(dict.fromkeys(rows["data"]))
    figure, axes = new_axes(height=1.0 + 0.34 * max(4, len(titles)))
    for i, name in enumerate(names):
        own = rows[rows["data"] == name]
        y = [titles.index(t) + 0.16 * (i % 3 - 1) for t in own["title"]]
        difference = own["difference"].astype(float)
        error = [(difference - own["low"]).fillna(0), (own["high"] - difference).fillna(0)]
        axes.errorbar(
            difference,
            y,
            xerr=error,
            fmt=MARKERS[i % len(MARKERS)],
            color=PALETTE[i % len(PALETTE)],
            capsize=2,
            markersize=5,
            label=name,
        )
    axes.axvline(0, color=AXIS, linewidth=1)
    axes.set_yticks(range(len(titles)), titles, fontsize=9)
    axes.invert_yaxis()
    axes.grid(axis="x")
    # Linear around 0, so that signs are seen, then logarithmic: changes differ a hundredfold.
    axes.set_xscale("symlog", linthresh=2, linscale=0.8)
    ticks = [-50, -20, -10, -5, -2, -1, 0, 1, 2, 5, 10, 20, 50]
    axes.set_xticks(ticks, [f"{tick}".replace("-", "−") for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel(x)
    legend_above(figure, axes)
    return figure
