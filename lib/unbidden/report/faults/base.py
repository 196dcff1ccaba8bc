"""What a row of the fault ledger is: a switch, why it is one, and a function that measures it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from unbidden.queries.build import build_queries
from unbidden.retrieval import retrieve, score_rankings
from unbidden.retrieval.recall import recall_items
from unbidden.stats import difference_of_means

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from unbidden.config import AblationsConfig
    from unbidden.corpus.evidence import EvidencePolicy
    from unbidden.corpus.models import Corpus
    from unbidden.llm.base import LLM
    from unbidden.queries.build import Query
    from unbidden.retrieval import Rankings
    from unbidden.stats import Interval

Unit = Literal["share", "points", "ratio", "count"]
Data = Literal["corpus", "graph", "release", "audit"]
"""What a switch is measured on: this run's conversations; the memory graphs a model made of them;
the replies released for THEANINE; the audit of LoCoMo."""

STYLES_SHOWN = ("question", "implicit")
"""Styles the switches of retrieval are measured on: asked plainly, and only implied."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What one switch did to one measure on one data set.

    Attributes
    ----------
    measure : str
        What is measured ("recall@10, question").
    first, second : str
        The two settings; `difference` is the second's value minus the first's.
    before, after : float or None
        The two values; None where only their difference means something.
    unit : {"share", "points", "ratio", "count"}
        "share" is in 0..1 and shown in percentage points, "points" as the papers print scores.
    n, clusters : int
        Items behind it, and the conversations or episodes they come from.
    unscored : str
        Why there is no value; empty if there is one.
    """

    fault: str
    dataset: str
    measure: str
    first: str
    second: str
    before: float | None
    after: float | None
    difference: float | None
    low: float | None
    high: float | None
    unit: Unit
    n: int
    clusters: int
    interval: str
    unscored: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """One switch.

    Attributes
    ----------
    name : str
        Also its value of the parameter `faults`, which reproduces the row.
    title : str
        What is switched.
    why : str
        What is wrong or open, in one sentence.
    source : str
        Where: "LoCoMo-Conv" or "THEANINE", paper or code.
    switch : str
        The parameter or option by which the rest of the study has it, if it has one.
    measure : callable
        From `Context` to effects; the first is the headline.
    """

    name: str
    title: str
    why: str
    source: str
    data: Data
    switch: str
    measure: Callable[[Context], list[Effect]]


@dataclass(frozen=True)
class Context:
    """What switches are measured with; rankings are made once for all of them."""

    corpus: Corpus
    config: AblationsConfig
    llm: LLM
    _ranked: dict[Any, Rankings] = field(default_factory=dict)

    @property
    def k(self) -> int:
        """The K of recall at K."""
        return self.config.top_k

    @property
    def recall(self) -> str:
        """The name of the measure: "recall@10"."""
        return f"recall@{self.k}"

    @cached_property
    def _queries(self) -> dict[str, list[Query]]:
        return {}

    def queries(self, evidence: EvidencePolicy = "paper") -> list[Query]:
        """Return all queries of the corpus under a reading of evidence."""
        if evidence not in self._queries:
            self._queries[evidence] = build_queries(
                self.corpus,
                styles=self.config.styles,
                evidence=evidence,
                limit=self.config.limit,
            )
        return self._queries[evidence]

    def ranking(
        self,
        *,
        evidence: EvidencePolicy = "paper",
        protocol: str = "paper",
        corpus: Corpus | None = None,
        system: str = "",
    ) -> Rankings:
        """Return what the chosen system finds, 60 deep; another corpus must have the same queries.

        Parameters
        ----------
        corpus : Corpus, optional
            What is remembered instead of this run's conversations.
        """
        name = system or self.config.fault_system
        key = (evidence, protocol, id(corpus) if corpus else 0, name)
        if key not in self._ranked:
            [found] = retrieve(
                corpus or self.corpus,
                self.queries(evidence),
                [name],
                depth=self.config.depth,
                protocol=protocol,
                embedder=self.config.embedder,
            )
            self._ranked[key] = found
        return self._ranked[key]

    def values(self, ranking: Rankings, *, k: int = 0, metric: str = "recall") -> pd.DataFrame:
        """Return the values of a measure at K, one row for each query."""
        return metric_values(self.corpus.name, ranking, k or self.k, metric)

    def shown_styles(self) -> list[str]:
        """Return those of `STYLES_SHOWN` that this run has, or all it has."""
        present = dict.fromkeys(str(query.style) for query in self.queries())
        return [style for style in STYLES_SHOWN if style in present] or list(present)


def metric_values(dataset: str, ranking: Rankings, k: int, metric: str = "recall") -> pd.DataFrame:
    """Return ``style, query_id, conversation, category, value`` for each query, in order."""
    if metric == "recall":
        rows = recall_items(dataset, [ranking], k=k)
    else:
        items = score_rankings(
            dataset,
            [ranking],
            ks=[min(k, ranking.depth)],
            turn_budgets=[k] if metric == "recall_turns" else [],
            token_budgets=[k] if metric == "recall_tokens" else [],
        )
        rows = items[(items["metric"] == metric) & (items["k"] == k)]
    columns = ["style", "query_id", "conversation", "category", "value"]
    return rows[columns].reset_index(drop=True)


def answerable(values: pd.DataFrame) -> pd.DataFrame:
    """Return values with category 5 unscored; composed queries have no category and stay."""
    return values.assign(value=values["value"].where(values["category"].ne(5).fillna(True)))


def effect(
    context: Context,
    fault: str,
    measure: str,
    settings: tuple[str, str],
    first: pd.DataFrame,
    second: pd.DataFrame,
    *,
    unit: Unit = "share",
) -> Effect:
    """Return the effect of two value tables over the same items, in the same order."""
    found = difference_of_means(first["value"], second["value"], list(first["conversation"]))
    means = (first["value"].mean(), second["value"].mean())
    return from_interval(fault, context.corpus.name, measure, settings, means, found, unit=unit)


def by_style(
    context: Context,
    fault: str,
    measure: str,
    settings: tuple[str, str],
    first: pd.DataFrame,
    second: pd.DataFrame,
) -> list[Effect]:
    """Return an effect for each of the styles shown."""
    return [
        effect(
            context,
            fault,
            f"{measure}, {style}",
            settings,
            first[first["style"] == style],
            second[second["style"] == style],
        )
        for style in context.shown_styles()
    ]


def from_interval(
    fault: str,
    dataset: str,
    measure: str,
    settings: tuple[str, str],
    means: Sequence[float | None],
    found: Interval,
    *,
    unit: Unit = "share",
) -> Effect:
    """Return an effect from an interval of the difference."""
    before, after = (None if value is None or value != value else float(value) for value in means)
    return Effect(
        fault=fault,
        dataset=dataset,
        measure=measure,
        first=settings[0],
        second=settings[1],
        before=before,
        after=after,
        difference=found.mean,
        low=found.low,
        high=found.high,
        unit=unit,
        n=found.n,
        clusters=found.clusters,
        interval=found.method,
        unscored="" if found.mean is not None else "no item is scored under both settings",
    )


def not_measured(fault: Fault, dataset: str, reason: str) -> Effect:
    """Return a row that says why it has no value, and does not count as measured."""
    return Effect(
        fault=fault.name,
        dataset=dataset,
        measure="–",
        first="",
        second="",
        before=None,
        after=None,
        difference=None,
        low=None,
        high=None,
        unit="share",
        n=0,
        clusters=0,
        interval="–",
        unscored=reason,
    )
