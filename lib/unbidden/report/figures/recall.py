"""Figures of what retrieval finds: by style, against K, and at equal budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.figure import Figure

from unbidden.corpus.models import STYLES
from unbidden.report.figures.looks import AXIS, MARKERS, PALETTE, looks
from unbidden.report.figures.style import legend_above, name_rows, new_axes, percent_errors

if TYPE_CHECKING:
    from collections.abc import Mapping


def recall_by_style(summary: pd.DataFrame, *, k: int) -> Figure:
    """Draw recall at K of each system in each style, with 95 % intervals.

    Parameters
    ----------
    summary : DataFrame
        Means by style and system, from `unbidden.report.summary.means`.
    """
    styles = list(dict.fromkeys(summary["style"]))
    systems = list(dict.fromkeys(summary["system"]))
    figure, axes = new_axes()
    step = 0.8 / len(systems)
    for i, (system, (colour, marker)) in enumerate(looks(systems).items()):
        rows = summary[summary["system"] == system]
        x = [styles.index(style) + (i - (len(systems) - 1) / 2) * step for style in rows["style"]]
        axes.errorbar(
            x,
            100 * rows["mean"].astype(float),
            yerr=percent_errors(rows),
            fmt=marker,
            color=colour,
            capsize=3,
            markersize=7,
            label=system,
        )
    axes.set_xticks(range(len(styles)), styles)
    axes.set_xlabel("How the need is put")
    axes.set_ylabel(f"Recall@{k} (% of gold turns)")
    axes.set_ylim(0, 100)
    legend_above(figure, axes)
    return figure


def recall_by_system(
    summary: pd.DataFrame, *, measure: str, wrote: Mapping[str, str], by: str = "implicit"
) -> Figure:
    """Draw recall of many systems: a row for each, a panel for each style, with 95 % intervals.

    Rows are in the order of one style, the best first, so that the other panels show where the
    order changes. The colour is not the system's, which its row names: it says what wrote the
    memories, since systems with different writers differ in more than their method.

    Parameters
    ----------
    summary : DataFrame
        Means by style and system, from `unbidden.report.summary.means`.
    measure : str
        What is drawn, for the axis.
    wrote : mapping of str to str
        What wrote each system's memories, by system; the legend keeps their order.
    by : str
        The style that orders the rows; the first one where it is not there.
    """
    styles = list(dict.fromkeys(summary["style"]))
    leading = summary[summary["style"] == (by if by in styles else styles[0])]
    systems = list(leading.sort_values("mean", ascending=False, kind="stable")["system"])
    figure = Figure(figsize=(7.2, 1.5 + 0.27 * len(systems)), layout="constrained")
    panels = figure.subplots(1, len(styles), sharey=True, squeeze=False).ravel()
    for style, axes in zip(styles, panels, strict=True):
        for i, writer in enumerate(dict.fromkeys(wrote.values())):
            here = (summary["style"] == style) & (summary["system"].map(wrote) == writer)
            rows = summary[here & summary["system"].isin(systems)]
            axes.errorbar(
                100 * rows["mean"].astype(float),
                [systems.index(system) for system in rows["system"]],
                xerr=percent_errors(rows),
                fmt=MARKERS[i],
                color=PALETTE[i],
                capsize=2,
                markersize=5.5,
                label=writer,
            )
        name_rows(axes, systems)
        axes.set_xlim(-4, 104)
        axes.set_xticks([0, 50, 100])
        axes.set_title(style, fontsize=11)
    figure.supxlabel(f"{measure} (% of gold turns)", fontsize=11)
    legend_above(figure, panels[0])
    return figure


def drop_by_style(drops: pd.DataFrame, *, k: int) -> Figure:
    """Draw the paired change from plain question to each style, with 95 % intervals."""
    figure, axes = new_axes(height=0.5 + 0.32 * max(4, len(drops)))
    systems = list(dict.fromkeys(drops["system"]))
    look = looks(systems)
    ordered = drops.sort_values("style", kind="stable", key=lambda s: s.map(STYLES.index))
    labels = [f"{row['style']} · {row['system']}" for _, row in ordered.iterrows()]
    for y, (_, row) in enumerate(ordered.iterrows()):
        colour, marker = look[row["system"]]
        axes.plot(100 * row["difference"], y, marker, color=colour, markersize=7)
        if pd.notna(row["low"]):
            axes.hlines(y, 100 * row["low"], 100 * row["high"], color=colour)
    axes.axvline(0, color=AXIS, linewidth=1)
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.grid(axis="x")
    axes.set_xlabel(f"Change in recall@{k} from the plain question (points)")
    return figure


def recall_against_k(summary: pd.DataFrame, *, x: str = "K (memories)") -> Figure:
    """Draw recall against the cut-off, one panel per style, one line per system."""
    styles = list(dict.fromkeys(summary["style"]))
    columns = min(3, len(styles))
    rows_of_panels = -(-len(styles) // columns)
    figure = Figure(figsize=(7.2, 2.6 * rows_of_panels + 0.4), layout="constrained")
    grid = figure.subplots(rows_of_panels, columns, sharey=True, squeeze=False).ravel()
    panels = grid[: len(styles)]
    for unused in grid[len(styles) :]:
        unused.set_visible(False)
    look = looks(list(dict.fromkeys(summary["system"])))
    for axes, style in zip(panels, styles, strict=True):
        for system, (colour, marker) in look.items():
            rows = summary[(summary["style"] == style) & (summary["system"] == system)]
            axes.plot(rows["k"], 100 * rows["mean"], color=colour, marker=marker, label=system)
            low, high = 100 * rows["low"].astype(float), 100 * rows["high"].astype(float)
            axes.fill_between(rows["k"], low, high, color=colour, alpha=0.15, linewidth=0)
        axes.set_xscale("log")
        ticks = sorted(set(summary["k"]))
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
        axes.set_title(style, fontsize=11)
    panels[0].set_ylim(0, 100)
    figure.supylabel("Recall (% of gold turns)", fontsize=11)
    figure.supxlabel(x, fontsize=11)
    legend_above(figure, panels[0])
    return figure


def budget_curves(summary: pd.DataFrame) -> Figure:
    """Draw recall against memories, turns and tokens: a row for each unit, a column for each style.

    Parameters
    ----------
    summary : DataFrame
        Means with intervals by ``unit, style, system, k``.
    """
    units, styles = list(dict.fromkeys(summary["unit"])), list(dict.fromkeys(summary["style"]))
    figure = Figure(figsize=(7.2, 2.3 * len(units) + 0.4), layout="constrained")
    grid = figure.subplots(len(units), len(styles), sharey=True, squeeze=False)
    look = looks(list(dict.fromkeys(summary["system"])))
    for unit, panels in zip(units, grid, strict=True):
        for style, axes in zip(styles, panels, strict=True):
            own = summary[(summary["unit"] == unit) & (summary["style"] == style)]
            for system, (colour, marker) in look.items():
                rows = own[own["system"] == system].sort_values("k")
                axes.plot(
                    rows["k"],
                    100 * rows["mean"].astype(float),
                    color=colour,
                    marker=marker,
                    label=system,
                )
                low, high = (100 * rows[name].astype(float) for name in ("low", "high"))
                axes.fill_between(rows["k"], low, high, color=colour, alpha=0.15, linewidth=0)
            axes.set_xscale("log")
            ticks = sorted(set(own["k"]))
            axes.set_xticks(ticks, [str(tick) for tick in ticks], fontsize=8)
            axes.minorticks_off()
            axes.set_xlabel(unit, fontsize=10)
    for style, axes in zip(styles, grid[0], strict=True):
        axes.set_title(style, fontsize=11)
    grid[0][0].set_ylim(0, 100)
    figure.supylabel("Recall (% of gold turns)", fontsize=11)
    legend_above(figure, grid[0][0])
    return figure


def overlap_by_style(summary: pd.DataFrame) -> Figure:
    """Draw how many of a query's words occur in its gold turns, by style."""
    figure, axes = new_axes(height=3.2)
    styles = list(summary["style"])
    axes.bar(
        range(len(styles)),
        100 * summary["mean"].astype(float),
        yerr=percent_errors(summary),
        color=PALETTE[0],
        capsize=4,
        width=0.6,
    )
    axes.set_xticks(range(len(styles)), styles)
    axes.set_xlabel("How the need is put")
    axes.set_ylabel("Words shared with the gold turns\n(% of the query's content words)")
    return figure
