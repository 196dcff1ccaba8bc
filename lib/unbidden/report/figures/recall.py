"""Figures of what retrieval finds: by style, against K, and at equal budgets."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from unbidden.corpus.models import STYLES
from unbidden.report.figures.looks import AXIS, PALETTE, looks
from unbidden.report.figures.style import legend_above, new_axes, percent_errors


def recall_by_style(
    summary: pd.DataFrame, *, k: int | None = None, measure: str | None = None
) -> Figure:
    """Draw recall of each system in each style, with 95 % intervals.

    Parameters
    ----------
    summary : DataFrame
        Means by style and system, from `unbidden.report.summary.means`.
    k : int, optional
        The K of recall at K.
    measure : str, optional
        What is drawn, where it is not recall at K.
    """
    styles = list(dict.fromkeys(summary["style"]))
    systems = list(dict.fromkeys(summary["system"]))
    crowded = len(systems) > 8
    figure, axes = new_axes(height=5.4 if crowded else 3.8)
    step = (0.9 if crowded else 0.8) / len(systems)
    for i, (system, (colour, marker)) in enumerate(looks(systems).items()):
        rows = summary[summary["system"] == system]
        x = [styles.index(style) + (i - (len(systems) - 1) / 2) * step for style in rows["style"]]
        axes.errorbar(
            x,
            100 * rows["mean"].astype(float),
            yerr=percent_errors(rows),
            fmt=marker,
            color=colour,
            capsize=1.5 if crowded else 3,
            markersize=4.5 if crowded else 7,
            label=system,
        )
    if crowded:
        for place in range(1, len(styles)):
            axes.axvline(place - 0.5, color="0.75", linewidth=0.6)
    axes.set_xticks(range(len(styles)), styles)
    axes.set_xlabel("How the need is put")
    axes.set_ylabel(f"{measure or f'Recall@{k}'} (% of gold turns)")
    axes.set_ylim(0, 100)
    legend_above(figure, axes)
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
