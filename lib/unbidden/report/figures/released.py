"""Figures of the papers' released material: replies scored again, and real answers judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from unbidden.report.figures.looks import AXIS, MARKERS, PALETTE
from unbidden.report.figures.style import legend_above, name_rows, new_axes, percent_errors

if TYPE_CHECKING:
    import pandas as pd


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
    legend_above(figure, panels[0])
    return figure


def accepted_answers(found: pd.DataFrame) -> Figure:
    """Draw which share of each kind of answer each judge accepts, with 95 % intervals.

    Parameters
    ----------
    found : DataFrame
        Columns ``judge, kind, accepted, low, high``; shares. Kinds are drawn from the top.
    """
    kinds, judges = (list(dict.fromkeys(found[name])) for name in ("kind", "judge"))
    figure, axes = new_axes(height=1.2 + 0.6 * len(kinds))
    for i, judge in enumerate(judges):
        rows = found[found["judge"] == judge].rename(columns={"accepted": "mean"})
        axes.errorbar(
            100 * rows["mean"].astype(float),
            [kinds.index(kind) + 0.26 * (i - (len(judges) - 1) / 2) for kind in rows["kind"]],
            xerr=percent_errors(rows),
            fmt=MARKERS[i],
            color=PALETTE[i],
            capsize=3,
            markersize=7,
            label=judge,
        )
    name_rows(axes, kinds)
    axes.set_xlim(-2, 102)
    axes.set_xlabel("Answers accepted as correct (%)")
    axes.set_ylabel("Kind of answer")
    legend_above(figure, axes)
    return figure
