"""All judges over the labelled set: floors without a model, and a model asked in several ways."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.errors import NotRecorded
from unbidden.judge.floors import WORD_FLOORS, judge_by_words
from unbidden.judge.labelled import cases
from unbidden.judge.registry import names_with
from unbidden.judge.similarity import RUBRICS as SIMILARITY_RUBRICS
from unbidden.judge.similarity import judge_by_similarity
from unbidden.judge.steadiness import (
    WORDING_SUMMARY,
    order_summary,
    order_swaps,
    wording_grid,
    wording_summary,
)
from unbidden.judge.trust import comparison, run_judge
from unbidden.llm.client import Client
from unbidden.llm.session import PlanningLLM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from unbidden.corpus.models import Corpus
    from unbidden.judge.labelled import Item
    from unbidden.judge.rubric import Form, ProtocolName
    from unbidden.judge.similarity import Encodes
    from unbidden.llm.base import LLM

STEADINESS = [
    *("changed", "rubric", "items", "unscored", "same", "low", "high"),
    *("kept_first", "kept_second", "calls"),
]


def first_of_each(items: Iterable[Item], per_label: int | None) -> list[Item]:
    """Return the first so many items of each rubric and label; all if it is None."""
    seen: Counter[tuple[str, str]] = Counter()
    kept = []
    for item in items:
        seen[item.rubric, item.label] += 1
        if per_label is None or seen[item.rubric, item.label] <= per_label:
            kept.append(item)
    return kept


def run_words(items: Sequence[Item], corpus: Corpus | None = None) -> pd.DataFrame:
    """Return the word rule's verdicts beside the labels, of rubrics that have such a rule."""
    frames = []
    for name in _present(items, WORD_FLOORS):
        own = [item for item in items if item.rubric == name]
        frames.append(comparison(own, judge_by_words(name, cases(own, corpus))))
    return _joined(frames)


def run_similarity(
    items: Sequence[Item], embedder: Encodes, corpus: Corpus | None = None
) -> pd.DataFrame:
    """Return the verdicts by similarity beside the labels, of rubrics that have such a rule."""
    frames = []
    for name in _present(items, SIMILARITY_RUBRICS):
        own = [item for item in items if item.rubric == name]
        frames.append(comparison(own, judge_by_similarity(name, cases(own, corpus), embedder)))
    return _joined(frames)


@dataclass(frozen=True)
class Run:
    """A model asked about the labelled set in one way.

    Attributes
    ----------
    model : str
        Its name in what is shown.
    frame : DataFrame
        As `unbidden.judge.trust.comparison`, of the rubrics that were asked about.
    rubrics, asked : tuple of str
        Rubrics that can be asked in this way, and those of them that were.
    calls, input_tokens : int
        Still to be made for the others; tokens are estimated.
    """

    model: str
    protocol: ProtocolName
    form: Form
    frame: pd.DataFrame
    rubrics: tuple[str, ...]
    asked: tuple[str, ...]
    calls: int
    input_tokens: int

    @property
    def name(self) -> str:
        """Model, form and protocol."""
        return f"{self.model}: {self.form}, {self.protocol}"


def run_forms(
    llm: LLM,
    items: Sequence[Item],
    *,
    forms: Sequence[Form],
    protocols: Sequence[ProtocolName],
    corpus: Corpus | None = None,
    model: str = "model",
) -> list[Run]:
    """Return the verdicts of a model in each form under each protocol.

    `model` is its name in what is shown. A rubric of which a call is not on record is not judged;
    its calls are counted instead.

    Raises
    ------
    LLMError, BudgetExceeded
        As `LLM.ask_many`.
    """
    return [
        _run(llm, items, form, protocol, corpus, model) for form in forms for protocol in protocols
    ]


def run_on_record(
    llm: LLM,
    models: Sequence[str],
    items: Sequence[Item],
    *,
    forms: Sequence[Form],
    protocols: Sequence[ProtocolName],
    corpus: Corpus | None = None,
) -> list[Run]:
    """Return what is on record of further models, as `run_forms`; none of them is asked.

    A way of asking of which nothing is on record is left out, and so are all of them while only a
    plan is made.
    """
    if not isinstance(llm, Client):
        return []
    runs = [
        run
        for model in models
        for run in run_forms(
            llm.replaying_judge(model),
            items,
            forms=forms,
            protocols=protocols,
            corpus=corpus,
            model=model,
        )
    ]
    return [run for run in runs if run.asked]


def _run(
    llm: LLM,
    items: Sequence[Item],
    form: Form,
    protocol: ProtocolName,
    corpus: Corpus | None,
    model: str,
) -> Run:
    frames, asked = [], []
    calls = tokens = 0
    rubrics = tuple(_present(items, names_with(form, protocol)))
    for name in rubrics:
        own = [item for item in items if item.rubric == name]
        ask = partial(run_judge, items=own, protocol=protocol, form=form, corpus=corpus)
        frame, waiting, inputs = _ask_or_plan(llm, ask)
        if frame is not None:
            frames.append(frame)
            asked.append(name)
        calls, tokens = calls + waiting, tokens + inputs
    return Run(model, protocol, form, _joined(frames), rubrics, tuple(asked), calls, tokens)


@dataclass(frozen=True)
class Steadiness:
    """How often a model keeps to its verdict when only the order or the wording changes.

    Attributes
    ----------
    shares : DataFrame
        Columns ``changed, rubric, items, unscored, same, low, high, kept_first, kept_second,
        calls``: `same` is the share of scored items with one verdict throughout, with its interval;
        `kept_first` and `kept_second` the share of pairs in which one place was chosen in both
        orders. Missing where nothing is scored; `calls` are those not on record.
    wordings : DataFrame
        From `unbidden.judge.steadiness.wording_summary`; no row where calls are not on record.
    """

    shares: pd.DataFrame
    wordings: pd.DataFrame


def steadiness(
    llm: LLM, items: Sequence[Item], *, corpus: Corpus | None = None, form: Form = "json"
) -> Steadiness:
    """Return how a model judges the same pairs in both orders and replies in several wordings.

    Raises
    ------
    LLMError, BudgetExceeded
        As `LLM.ask_many`.
    """
    rows: list[dict[str, Any]] = []
    for name in _present(items, ("pairwise", "helpfulness")):
        own = cases([item for item in items if item.rubric == name], corpus)
        swaps, calls, _ = _ask_or_plan(llm, partial(order_swaps, name=name, cases=own, form=form))
        found = {} if swaps is None else order_summary(swaps)
        same = {"same": found.pop("consistent")} if found else {}
        keys = {"changed": "order", "rubric": name, "items": len(own), "calls": calls}
        rows.append(found | same | keys)
    summary = pd.DataFrame(columns=WORDING_SUMMARY)
    for name in _present(items, ("fact_use",)):
        own = cases([item for item in items if item.rubric == name], corpus)
        grid, calls, _ = _ask_or_plan(llm, partial(wording_grid, cases=own, form=form, name=name))
        keys = {"changed": "wording", "rubric": name, "items": len(own), "calls": calls}
        if grid is not None:
            summary = wording_summary(grid)
            ends = {"same": "unanimous", "low": "unanimous_low", "high": "unanimous_high"}
            keys |= {end: summary[column].iloc[0] for end, column in ends.items()}
            keys["unscored"] = grid[grid["unscored"].notna()]["case"].nunique()
        rows.append(keys)
    return Steadiness(pd.DataFrame(rows, columns=STEADINESS), summary)


def _ask_or_plan(
    llm: LLM, ask: Callable[[LLM], pd.DataFrame]
) -> tuple[pd.DataFrame | None, int, int]:
    """Return what was asked, or None with the calls and input tokens that are not on record."""
    try:
        return ask(llm), 0, 0
    except NotRecorded:
        if not isinstance(llm, Client):
            raise
        planning = PlanningLLM(llm)
        ask(planning)
        plan = planning.plan()
        return None, plan.to_ask, sum(row.input_tokens for row in plan.rows)


def _present(items: Iterable[Item], wanted: Iterable[str]) -> list[str]:
    known = set(wanted)
    return [name for name in dict.fromkeys(item.rubric for item in items) if name in known]


def _joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(frames, ignore_index=True) if frames else comparison([], [])
