"""The tables and figures of the retrieval chapter, from its items."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from unbidden.memory.presets import needs_model
from unbidden.memory.units import PROTOCOLS
from unbidden.queries.build import build_queries
from unbidden.report import figures
from unbidden.report.paired import condition_effect, style_drop, system_pairs
from unbidden.report.summary import (
    bootstrap_means,
    complete_conversations,
    means,
    named_categories,
    select,
)
from unbidden.report.tables import NumberedTable, points, shown_differences, spread
from unbidden.retrieval import retrieve, score_rankings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from unbidden.config import RetrievalConfig
    from unbidden.corpus.models import Corpus
    from unbidden.report.folder import RunFolder

NOT_SCORED = "No system of this run has a score by turn ids."
_EMPTY = pd.DataFrame([{"": "nothing recorded in this installation"}])


class RetrievalReport:
    """Shows items; with a folder, also writes each table and figure there.

    Parameters
    ----------
    items : DataFrame or None
        The long table; None where a recorded run is not at hand, and then every table says so.
    k : int
        K of the headline tables.
    seed : int
        For resampling.
    """

    def __init__(
        self,
        items: pd.DataFrame | None,
        k: int,
        folder: RunFolder | None = None,
        *,
        seed: int = 0,
    ) -> None:
        self._items, self._k, self._folder, self._seed = items, k, folder, seed

    def same_conversations(self) -> RetrievalReport:
        """Return the report over conversations that have every style."""
        kept = None if self._items is None else complete_conversations(self._items)
        return RetrievalReport(kept, self._k, self._folder, seed=self._seed)

    def _rows(self) -> pd.DataFrame:
        assert self._items is not None  # callers have returned early
        return select(self._items, "recall", self._k)

    @cached_property
    def _drops(self) -> pd.DataFrame:
        return style_drop(self._rows(), seed=self._seed)

    def _show(
        self, name: str, full: pd.DataFrame, shown: pd.DataFrame, caption: str
    ) -> NumberedTable:
        for column, what in (("interval", "Intervals"), ("test", "Tests")):
            if column in full and (methods := list(dict.fromkeys(full[column]))):
                caption = f"{caption} {what}: {'; '.join(methods)}."
        if self._folder is None:
            return NumberedTable(shown, name, caption)
        return self._folder.show(name, full, shown, caption)

    def figure(self, name: str = "recall_by_style") -> Figure | None:
        """Return recall at K by style and system."""
        if self._items is None:
            return None
        summary = means(self._rows(), ["style", "system"])
        if summary["mean"].isna().all():
            return figures.nothing_to_draw(NOT_SCORED)
        return self._keep(name, figures.recall_by_style(summary, k=self._k))

    def _keep(self, name: str, figure: Figure) -> Figure:
        if self._folder is not None:
            self._folder.figure(name, figure)
        return figure

    def drop_figure(self) -> Figure:
        """Return the paired change from the plain question by style and system."""
        known = self._drops[self._drops["difference"].notna()]
        if known.empty:
            return figures.nothing_to_draw("Nothing to compare with the plain question.")
        return self._keep("drop_by_style", figures.drop_by_style(known, k=self._k))

    def k_figure(self) -> Figure:
        """Return recall against K."""
        assert self._items is not None
        summary = means(select(self._items, "recall"), ["style", "system", "k"])
        if self._folder is not None:
            everything = select(self._items, "recall", answerable=False)
            metrics = self._items[~self._items["metric"].str.startswith("recall_")]
            self._folder.table(
                "by_style_system_k", means(metrics, ["metric", "style", "system", "k"])
            )
            self._folder.table("by_style_system_k_all", means(everything, ["style", "system", "k"]))
        if summary["mean"].isna().all():
            return figures.nothing_to_draw(NOT_SCORED)
        return self._keep("recall_by_k", figures.recall_against_k(summary))

    def recall_table(self, name: str, caption: str) -> NumberedTable:
        """Return recall at K by style and system, with the number of items behind it."""
        if self._items is None:
            return NumberedTable(_EMPTY, name, caption)
        summary = means(self._rows(), ["style", "system"])
        extra = {"n": "n", "conversations": "conv.", "unscored": "unscored"}
        return self._show(name, summary, spread(summary, "style", "system", extra=extra), caption)

    def bootstrap_table(self, name: str, caption: str) -> NumberedTable:
        """Return the means of `recall_table` with intervals from resampling conversations."""
        summary = bootstrap_means(self._rows(), ["style", "system"], seed=self._seed)
        return self._show(name, summary, spread(summary, "style", "system"), caption)

    def drop_table(self, name: str, caption: str) -> NumberedTable:
        """Return the paired change from the plain question."""
        if self._items is None:
            return NumberedTable(_EMPTY, name, caption)
        shown = shown_differences(self._drops, ["system", "style"])
        return self._show(name, self._drops, shown, caption)

    def pairs_table(self, name: str, caption: str) -> NumberedTable:
        """Return the paired difference of every two systems that no model writes for."""
        rows = self._rows()
        rows = rows.loc[[not needs_model(name) for name in rows["system"]]]
        pairs = system_pairs(rows, seed=self._seed)
        shown = shown_differences(pairs, ["style", "first", "second"])
        return self._show(name, pairs, shown, caption)

    def budget_table(self, name: str, caption: str) -> NumberedTable:
        """Return recall at budgets of turns and tokens."""
        assert self._items is not None
        budgets = []
        for metric, unit in (("recall_turns", " turns"), ("recall_tokens", " tokens")):
            rows = select(self._items, metric)
            budgets.append(rows.assign(budget=rows["k"].astype(str) + unit))
        rows = pd.concat(budgets)
        summary = means(rows, ["style", "budget", "system"])
        shown = summary.assign(row=summary["style"] + ", " + summary["budget"])
        return self._show(name, summary, spread(shown, "row", "system", extra={"n": "n"}), caption)

    def category_table(self, name: str, caption: str) -> NumberedTable:
        """Return recall at K by category, category 5 included and set apart."""
        assert self._items is not None
        rows = named_categories(select(self._items, "recall", self._k, answerable=False))
        summary = means(rows, ["style", "category", "system"])
        shown = summary.assign(row=summary["style"] + ", " + summary["category"])
        return self._show(name, summary, spread(shown, "row", "system", extra={"n": "n"}), caption)

    def conversation_table(self, name: str, caption: str) -> NumberedTable:
        """Return recall at K of each conversation, without intervals."""
        summary = means(self._rows(), ["conversation", "style", "system"])
        cells = summary.assign(
            row=summary["conversation"] + ", " + summary["style"],
            low=None,
            high=None,
        )
        return self._show(name, summary, spread(cells, "row", "system", extra={"n": "n"}), caption)

    def protocol_table(self, both: pd.DataFrame, name: str, caption: str) -> NumberedTable:
        """Return recall at K under both protocols, paired."""
        rows = select(both, "recall", self._k)
        effect = condition_effect(rows, "paper", "repaired", seed=self._seed)
        shown = shown_differences(effect, ["style", "system"])
        for place, protocol in enumerate(("paper", "repaired"), start=2):
            shown.insert(place, protocol, [points(value) for value in effect[protocol]])
        return self._show(name, effect, shown, caption)


def both_protocols(corpus: Corpus, config: RetrievalConfig, items: pd.DataFrame) -> pd.DataFrame:
    """Return the recall items of the paper's protocol and of ours, told apart by condition.

    A protocol is the text form of a turn together with the reading of evidence; `items` serve for
    the one this run has, if it has one whole. Systems whose memories a model writes are left out:
    another text form would mean other calls.
    """
    systems = [name for name in config.systems if not needs_model(name)]
    items = items[items["system"].isin(systems)]
    frames = []
    for protocol in PROTOCOLS if systems else ():
        if config.protocol == config.evidence == protocol:
            frames.append(items)
            continue
        queries = build_queries(corpus, styles=config.styles, evidence=protocol, limit=config.limit)
        rankings = retrieve(
            corpus,
            queries,
            systems,
            depth=config.top_k,
            protocol=protocol,
            embedder=config.embedder,
        )
        frames.append(score_rankings(corpus.name, rankings, ks=[config.top_k], condition=protocol))
    both = pd.concat(frames, ignore_index=True) if frames else items.iloc[:0]
    return both[(both["metric"] == "recall") & (both["k"] == config.top_k)]
