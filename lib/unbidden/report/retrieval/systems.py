"""Tables that set systems of different kinds side by side: budgets, words, costs, failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.memory.presets import needs_model, system_options
from unbidden.memory.protocol import CallCount
from unbidden.memory.registry import SYSTEMS
from unbidden.report import figures
from unbidden.report.paired import against
from unbidden.report.retrieval.comparable import comparable, lossy_systems
from unbidden.report.summary import means, scored_systems, select
from unbidden.report.tables import NumberedTable, points, shown_differences, spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.figure import Figure

    from unbidden.config import RetrievalConfig
    from unbidden.report.folder import RunFolder
    from unbidden.retrieval import Rankings


NO_MODEL = "no model"
"""In place of a model's name, of systems that store what was said."""


class SystemsReport:
    """Shows how systems compare when one memory is a turn in one and a session in another.

    Parameters
    ----------
    items : DataFrame
        The long table, with ``text_recall`` beside the recall by turn ids.
    costs : DataFrame
        From `unbidden.retrieval.cost_items`.
    """

    def __init__(
        self,
        items: pd.DataFrame,
        costs: pd.DataFrame,
        rankings: Sequence[Rankings],
        config: RetrievalConfig,
        folder: RunFolder,
    ) -> None:
        self._items, self._costs, self._rankings = items, costs, rankings
        self._config, self._folder = config, folder

    def settings_table(self, name: str, caption: str) -> NumberedTable:
        """Return what each system is and how it is set."""
        config = self._config
        rows = []
        for system in config.systems:
            info = getattr(SYSTEMS.factory(system), "info", None)
            options = system_options(system, config.settings, config.system_options)
            rows.append(
                {
                    "system": system,
                    "source": getattr(info, "paper", ""),
                    "model": self._model(system),
                    "turn ids": getattr(info, "provenance", ""),
                    "settings": ", ".join(f"{key}={value}" for key, value in options.items())
                    or "as published",
                }
            )
        frame = pd.DataFrame(rows)
        return self._folder.show(name, frame, frame, caption)

    def _model(self, system: str) -> str:
        return model_of(self._config, system) if needs_model(system) else NO_MODEL

    def figure(self) -> Figure:
        """Return recall within the first token budget, over shared conversations."""
        budget = self._config.token_budgets[0]
        summary = means(self._comparable(), ["style", "system"])
        if summary.empty:
            return figures.nothing_to_draw(
                "Nothing to compare: the systems share no conversation with a score by turn ids."
            )
        figure = figures.recall_by_system(
            summary,
            measure=f"Recall within {budget} tokens",
            wrote={system: self._model(system) for system in summary["system"].unique()},
        )
        self._folder.figure("recall_within_tokens", figure)
        return figure

    def _comparable(self) -> pd.DataFrame:
        rows = select(self._items, "recall_tokens", self._config.token_budgets[0])
        return comparable(rows, lossy_systems(self._rankings))

    def shared(self) -> list[str]:
        """Return the conversations that `figure` is over."""
        return list(self._comparable()["conversation"].unique())

    def left_out(self) -> list[str]:
        """Return the systems with a score that `figure` and the shared table do not have."""
        shown = set(self._comparable()["system"])
        scored = scored_systems(self._items)["system"].unique()
        return [name for name in scored if name not in shown]

    def measures_table(self, name: str, caption: str, *, shared: bool = False) -> NumberedTable:
        """Return recall at K, at a budget of turns and at one of tokens, by style.

        Parameters
        ----------
        shared : bool
            Only the conversations and systems that `comparable` keeps.
        """
        config = self._config
        wanted = [("recall", config.top_k, f"at {config.top_k}")]
        wanted += [("recall_turns", n, f"{n} turns") for n in config.turn_budgets if n == 10]
        wanted += [("recall_tokens", n, f"{n} tokens") for n in config.token_budgets]
        rows = self._items
        if shared:
            kept = self._comparable()
            rows = rows[rows["conversation"].isin(kept["conversation"].unique())]
            rows = rows[rows["system"].isin(kept["system"].unique())]
        parts = [select(rows, metric, k).assign(measure=label) for metric, k, label in wanted]
        summary = means(pd.concat(parts), ["system", "measure", "style"])
        summary["model"] = [self._model(system) for system in summary["system"]]
        return self._folder.show(name, summary, shown_measures(summary), caption)

    def against_table(self, reference: str, name: str, caption: str) -> NumberedTable:
        """Return each system's paired difference from one of them, by style and measure."""
        config = self._config
        parts = []
        wanted = [("recall", config.top_k, f"at {config.top_k}")]
        wanted += [("recall_tokens", n, f"{n} tokens") for n in config.token_budgets[:1]]
        for metric, k, label in wanted:
            rows = select(scored_systems(self._items), metric, k)
            if reference in set(rows["system"]):
                parts.append(rows.assign(metric=label))
        if not parts:
            return self._folder.show(name, pd.DataFrame(), pd.DataFrame(), caption)
        table = against(pd.concat(parts), reference, seed=config.seed)
        return self._folder.show(
            name, table, shown_differences(table, ["metric", "style", "system"]), caption
        )

    def words_table(self, name: str, caption: str) -> NumberedTable:
        """Return recall by turn ids beside recall by the words that are shown."""
        rows = scored_systems(self._items)
        rows = rows[
            rows["metric"].isin(["recall", "text_recall"]) & (rows["k"] == self._config.top_k)
        ]
        labels = {"recall": "by turn ids", "text_recall": "by words"}
        rows = rows[rows["category"].ne(5).fillna(True)]
        summary = means(rows.assign(by=rows["metric"].map(labels)), ["system", "by", "style"])
        shown = summary.assign(row=summary["system"] + ", " + summary["by"])
        return self._folder.show(name, summary, spread(shown, "row", "style"), caption)

    def reading_table(self, name: str, caption: str) -> NumberedTable:
        """Return what K memories cost their reader: turns covered and tokens shown, on average."""
        rows = self._costs[self._costs["k"] == self._config.top_k]
        summary = (
            rows.groupby(["system", "metric"], sort=False)["count"]
            .agg(["mean", "median", "count"])
            .reset_index()
        )
        wide = summary.pivot(index="system", columns="metric", values="mean")
        wide = wide.dropna(how="all")
        order = [name for name in self._config.systems if name in wide.index]
        shown = wide.loc[order].reset_index()
        for column in shown.columns[1:]:
            shown[column] = ["–" if pd.isna(value) else f"{value:,.1f}" for value in shown[column]]
        names = {
            "memories_shown": "memories",
            "turns_covered": "turns",
            "tokens_shown": "tokens",
        }
        return self._folder.show(name, summary, shown.rename(columns=names), caption)

    def writing_table(self, name: str, caption: str) -> NumberedTable:
        """Return calls, tokens, seconds and failures of each phase and system."""
        frame = phase_costs(self._rankings)
        shown = frame.assign(seconds=[f"{value:,.0f}" for value in frame["seconds"]])
        names = {
            "full": "full lists",
            "input_tokens": "tokens in",
            "output_tokens": "tokens out",
        }
        return self._folder.show(name, frame, shown.rename(columns=names), caption)

    def stores_table(self, name: str, caption: str) -> NumberedTable:
        """Return what each system stored, lost and did; conversations refused, and not run."""
        rows = []
        for ranking in self._rankings:
            reports = ranking.ingests.values()
            events: dict[str, int] = {}
            for report in reports:
                for event, count in report.events.items():
                    events[event] = events.get(event, 0) + count
            rows.append(
                {
                    "system": ranking.system,
                    "conv.": len(ranking.ingests),
                    "units": sum(report.units for report in reports),
                    "failed": sum(report.failed for report in reports),
                    "memories": sum(report.memories for report in reports),
                    "refused": len(ranking.lost),
                    "not_run": len(ranking.not_run),
                    "events": ", ".join(f"{key} {n:,}" for key, n in events.items() if n),
                }
            )
        frame = pd.DataFrame(rows)
        return self._folder.show(name, frame, frame.rename(columns={"not_run": "not run"}), caption)

    def waiting_table(self, plan: pd.DataFrame, name: str, caption: str) -> NumberedTable:
        """Return what the systems that were not run would take."""
        return self._folder.show(name, plan, shown_waiting(plan), caption)

    def sensitivity_table(self, table: pd.DataFrame, name: str, caption: str) -> NumberedTable:
        """Return recall under other thresholds, beside the one of the run."""
        shown = table.assign(recall=[points(value) for value in table["recall"]])
        return self._folder.show(name, table, shown, caption)


def shown_measures(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the means of `SystemsReport.measures_table` as a grid, one column a style."""
    rows = summary.assign(row=summary["system"] + ", " + summary["measure"])
    once = {"model": "built by", "conversations": "conv."}
    shown = {column: heading for column, heading in once.items() if column in rows}
    return spread(rows, "row", "style", extra=shown)


def shown_waiting(plan: pd.DataFrame) -> pd.DataFrame:
    """Return what is still to be run, as text."""
    return plan.assign(
        calls=[f"at least {n:,}" for n in plan["calls"]],
        input_tokens=[f"about {n:,}" for n in plan["input_tokens"]],
    ).rename(columns={"input_tokens": "input tokens"})


def model_of(config: RetrievalConfig, system: str = "") -> str:
    """Return the name of the model that builds memories, or those of one system."""
    return config.memory_models.get(system) or config.memory_model or config.answer_model


def models_by_system(config: RetrievalConfig, systems: Sequence[str]) -> str:
    """Return the model that builds memories; where there are several, whose each one is."""
    built: dict[str, list[str]] = {}
    for system in systems:
        built.setdefault(model_of(config, system), []).append(system)
    if len(built) < 2:
        return next(iter(built), model_of(config))
    return "; ".join(f"{model} for {', '.join(names)}" for model, names in built.items())


def phase_costs(rankings: Iterable[Rankings]) -> pd.DataFrame:
    """Return one row per system, phase and prompt: calls, failures, full lists, tokens and seconds.

    The counts come from the outcomes of the calls, which have those of the ledger.
    """
    rows: list[dict[str, Any]] = []
    for ranking in rankings:
        stored: dict[str, CallCount] = {}
        for report in ranking.ingests.values():
            for prompt, count in report.calls.items():
                stored[prompt] = stored.get(prompt, CallCount()) + count
        rows += _phase(ranking.system, "storing", stored)
        rows += _phase(ranking.system, "searching", ranking.search_calls)
    columns = [
        *("system", "phase", "prompt", "calls", "failed", "full"),
        *("input_tokens", "output_tokens", "seconds"),
    ]
    return pd.DataFrame(rows, columns=columns)


def _phase(system: str, phase: str, counts: Mapping[str, CallCount]) -> list[dict[str, Any]]:
    return [
        {
            "system": system,
            "phase": phase,
            "prompt": prompt,
            "calls": count.calls,
            "failed": count.failed,
            "full": count.full,
            "input_tokens": count.input_tokens,
            "output_tokens": count.output_tokens,
            "seconds": count.seconds,
        }
        for prompt, count in counts.items()
    ]
