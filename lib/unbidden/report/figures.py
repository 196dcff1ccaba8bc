"""The study's figures: one message each, intervals drawn, the same colour for a system anywhere."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from unbidden.corpus.models import STYLES
from unbidden.report.looks import AXIS, FAINT, GRID, MARKERS, PALETTE, looks

if TYPE_CHECKING:
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


def _axes(width: float = 7.2, height: float = 3.8) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def _legend(figure: Figure, axes: Axes) -> None:
    """Put the legend above the panels, where it hides no data."""
    handles, labels = axes.get_legend_handles_labels()
    columns = len(labels) if len(labels) <= 6 else 5
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, frameon=False)


def _errors(rows: pd.DataFrame) -> list[list[float]]:
    mean, low, high = (100 * rows[column].astype(float) for column in ("mean", "low", "high"))
    return [list((mean - low).fillna(0)), list((high - mean).fillna(0))]


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
    figure, axes = _axes(height=5.4 if crowded else 3.8)
    step = (0.9 if crowded else 0.8) / len(systems)
    for i, (system, (colour, marker)) in enumerate(looks(systems).items()):
        rows = summary[summary["system"] == system]
        x = [styles.index(style) + (i - (len(systems) - 1) / 2) * step for style in rows["style"]]
        axes.errorbar(
            x,
            100 * rows["mean"].astype(float),
            yerr=_errors(rows),
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
    _legend(figure, axes)
    return figure


def drop_by_style(drops: pd.DataFrame, *, k: int) -> Figure:
    """Draw the paired change from plain question to each style, with 95 % intervals."""
    figure, axes = _axes(height=0.5 + 0.32 * max(4, len(drops)))
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
    _legend(figure, panels[0])
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
    _legend(figure, grid[0][0])
    return figure


def overlap_by_style(summary: pd.DataFrame) -> Figure:
    """Draw how many of a query's words occur in its gold turns, by style."""
    figure, axes = _axes(height=3.2)
    styles = list(summary["style"])
    axes.bar(
        range(len(styles)),
        100 * summary["mean"].astype(float),
        yerr=_errors(summary),
        color=PALETTE[0],
        capsize=4,
        width=0.6,
    )
    axes.set_xticks(range(len(styles)), styles)
    axes.set_xlabel("How the need is put")
    axes.set_ylabel("Words shared with the gold turns\n(% of the query's content words)")
    return figure


def released_gap(found: pd.DataFrame) -> Figure:
    """Draw THEANINE minus memory retrieval on its released replies, before and after equal length.

    Parameters
    ----------
    found : DataFrame
        Columns ``dataset, metric, replies, difference, low, high``, in points.
    """
    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    names = {"bleu4": "BLEU-4", "rouge_l": "ROUGE-L"}
    looks = dict(zip(dict.fromkeys(found["replies"]), ("o", "s"), strict=False))
    labels = {"cc": "Conversation\nChronicles", "msc": "Multi-Session\nChat"}
    sets = [name for name in labels if name in set(found["dataset"])]
    for axes, (metric, title) in zip(panels, names.items(), strict=True):
        for i, (replies, marker) in enumerate(looks.items()):
            rows = found[(found["metric"] == metric) & (found["replies"] == replies)]
            rows = rows.set_index("dataset").loc[sets]
            axes.errorbar(
                rows["difference"],
                [y + 0.12 - 0.24 * i for y in range(len(sets))],
                xerr=[rows["difference"] - rows["low"], rows["high"] - rows["difference"]],
                fmt=marker,
                color=PALETTE[i],
                capsize=3,
                markersize=7,
                label=f"replies {replies}",
            )
        axes.axvline(0, color=AXIS, linewidth=1)
        axes.set_title(title, fontsize=11)
        axes.grid(axis="x")
        axes.grid(visible=False, axis="y")
        axes.set_ylim(-0.6, len(sets) - 0.4)
    panels[0].set_yticks(range(len(sets)), [labels[name] for name in sets])
    figure.supxlabel("Theanine minus Memory Retrieval (points)", fontsize=11)
    _legend(figure, panels[0])
    return figure


def accepted_answers(found: pd.DataFrame) -> Figure:
    """Draw which share of each kind of answer each judge accepts, with 95 % intervals.

    Parameters
    ----------
    found : DataFrame
        Columns ``judge, kind, accepted, low, high``; shares. Kinds are drawn from the top.
    """
    kinds, judges = (list(dict.fromkeys(found[name])) for name in ("kind", "judge"))
    figure, axes = _axes(height=1.2 + 0.6 * len(kinds))
    for i, judge in enumerate(judges):
        rows = found[found["judge"] == judge].rename(columns={"accepted": "mean"})
        axes.errorbar(
            100 * rows["mean"].astype(float),
            [kinds.index(kind) + 0.26 * (i - (len(judges) - 1) / 2) for kind in rows["kind"]],
            xerr=_errors(rows),
            fmt=MARKERS[i],
            color=PALETTE[i],
            capsize=3,
            markersize=7,
            label=judge,
        )
    axes.set_yticks(range(len(kinds)), kinds)
    axes.set_ylim(len(kinds) - 0.5, -0.5)
    axes.set_xlim(-2, 102)
    axes.grid(axis="x")
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("Answers accepted as correct (%)")
    axes.set_ylabel("Kind of answer")
    _legend(figure, axes)
    return figure


def cost_against_size(growth: pd.DataFrame) -> Figure:
    """Draw the milliseconds of one query against the number of memories, both logarithmic.

    Parameters
    ----------
    growth : DataFrame
        Columns ``part, what, n, cpu_ms``; rows whose ``what`` is "query" are drawn.
    """
    figure, axes = _axes()
    queries = growth[growth["what"] == "query"]
    for i, (part, rows) in enumerate(queries.groupby("part", sort=False)):
        axes.plot(rows["n"], rows["cpu_ms"], marker=MARKERS[i], color=PALETTE[i], label=str(part))
    axes.axhline(100, color=FAINT, linewidth=1, linestyle="--")
    axes.set(xscale="log", yscale="log", xlabel="memories", ylabel="ms a query, one core")
    _legend(figure, axes)
    return figure


def misled_shares(found: pd.DataFrame) -> Figure:
    """Draw which share of replies is not misled, misled and evasive, by agent, with 95 % intervals.

    Parameters
    ----------
    found : DataFrame
        From `unbidden.report.teafarm.outcomes`; agents without a scored reply are left out.
    """
    rows = found[found["n"] > 0]
    agents = list(dict.fromkeys(rows["system"]))
    names = {"correct": "not misled", "wrong": "misled", "evasive": "evasive"}
    figure, axes = _axes(height=1.4 + 0.5 * max(1, len(agents)))
    for i, (label, name) in enumerate(names.items()):
        own = rows[(rows["label"] == label) & rows["mean"].notna()]
        if own.empty and len(rows):
            continue  # the paper's judge knows no evasive reply
        axes.errorbar(
            100 * own["mean"].astype(float),
            [agents.index(agent) + 0.24 * (i - 1) for agent in own["system"]],
            xerr=_errors(own),
            fmt=MARKERS[i],
            color=PALETTE[(2, 4, 6)[i]],
            capsize=3,
            markersize=7,
            label=name,
        )
    axes.set_yticks(range(len(agents)), agents)
    axes.set_ylim(max(1, len(agents)) - 0.5, -0.5)
    axes.set_xlim(-2, 102)
    axes.grid(axis="x")
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("Replies (%)")
    axes.set_ylabel("Agent")
    _legend(figure, axes)
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
    figure, axes = _axes(height=1.0 + 0.34 * max(4, len(titles)))
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
    _legend(figure, axes)
    return figure
