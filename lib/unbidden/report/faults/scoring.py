"""Switches of scoring: which questions count, which turns count as found, what a mean is over."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from unbidden.report.faults.base import (
    Context,
    Effect,
    Fault,
    answerable,
    by_style,
    effect,
    from_interval,
)
from unbidden.retrieval.score import turn_order
from unbidden.stats import clustered_mean, jackknife

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unbidden.corpus.evidence import EvidencePolicy
    from unbidden.corpus.models import TurnId
    from unbidden.memory.protocol import Retrieved
    from unbidden.retrieval import Rankings


_POLICIES: tuple[EvidencePolicy, EvidencePolicy] = ("paper", "repaired")


def _evidence(context: Context) -> list[Effect]:
    values = [answerable(context.values(context.ranking(evidence=e))) for e in _POLICIES]
    return by_style(context, "evidence-repair", _recall(context), _POLICIES, *values)


def _adversarial(context: Context) -> list[Effect]:
    every = context.values(context.ranking())
    settings = ("categories 1-4", "category 5 too")
    return by_style(context, "category-5", _recall(context), settings, answerable(every), every)


def _empty_gold(context: Context) -> list[Effect]:
    values = answerable(context.values(context.ranking()))
    missing = values["value"].isna() & values["category"].ne(5).fillna(True)
    settings = ("left out", "counted as 0")
    counted = values.assign(value=values["value"].mask(missing, 0.0))
    return by_style(context, "unscored-as-zero", _recall(context), settings, values, counted)


def _categories(context: Context) -> list[Effect]:
    """Compare the row that is called multi-hop under two maps of the category numbers."""
    values = context.values(context.ranking())
    values = values[values["category"].notna()]
    one, four = (
        values.assign(value=values["value"].where(values["category"] == number))
        for number in (1, 4)
    )
    settings = ("category 1, as the evidence shows", "category 4, as the prompts say")
    return [
        effect(
            context,
            "category-map",
            f"{_recall(context)} of “multi-hop”, {style}",
            settings,
            one[one["style"] == style],
            four[four["style"] == style],
        )
        for style in context.shown_styles()
    ]


def _nested(context: Context) -> list[Effect]:
    gold = {(query.conversation, query.members): query.gold for query in context.queries()}
    values = context.values(context.ranking())
    composed = values["style"] == "composed"
    nested = []
    for query, is_composed in zip(context.queries(), composed, strict=True):
        members = [gold.get((query.conversation, (member,))) for member in query.members]
        nested.append(bool(is_composed) and any(one == query.gold for one in members))
    first = values[composed]
    second = first.assign(value=first["value"].mask(np.array(nested)[composed.to_numpy()]))
    settings = ("all pairs", "pairs that need both")
    return [
        effect(context, "nested-pairs", f"{_recall(context)}, composed", settings, first, second)
    ]


def _credit(context: Context) -> list[Effect]:
    """Credit the same hits with their own turn, with a batch of two, with the whole session."""
    ranking = context.ranking()
    exact = answerable(context.values(ranking))
    found = []
    for name, size in (("whole session", None), ("batch of two turns", 2)):
        wider = answerable(context.values(_credited(context, ranking, size)))
        settings = ("own turn", name)
        found += by_style(context, "provenance-credit", _recall(context), settings, exact, wider)
    return found


def _credited(context: Context, ranking: Rankings, size: int | None) -> Rankings:
    groups: dict[str, dict[TurnId, tuple[TurnId, ...]]] = {}
    for talk in context.corpus.conversations:
        own = groups.setdefault(talk.id, {})
        for session in talk.sessions:
            ids = [turn.id for turn in session.turns]
            for start in range(0, len(ids), size or max(1, len(ids))):
                batch = tuple(ids[start : start + (size or len(ids))])
                own.update(dict.fromkeys(batch, batch))
    hits = [
        [_widened(hit, groups[query.conversation]) for hit in found]
        for query, found in zip(ranking.queries, ranking.hits, strict=True)
    ]
    return replace(ranking, hits=hits)


def _widened(hit: Retrieved, groups: dict[TurnId, tuple[TurnId, ...]]) -> Retrieved:
    return replace(hit, sources=tuple(dict.fromkeys(t for s in hit.sources for t in groups[s])))


def _text_credit(context: Context) -> list[Effect]:
    """Compare precision by turn ids with the paper's matching of wordings."""
    ranking, k = context.ranking(), context.k
    said = {
        talk.id: {turn.id: turn.text.strip().lower() for turn in talk.turns}
        for talk in context.corpus.conversations
    }
    held: dict[tuple[str, str], frozenset[TurnId]] = {}
    by_text = []
    for query, hits in zip(ranking.queries, ranking.hits, strict=True):
        turns: set[TurnId] = set()
        for hit in hits[:k]:
            key = (query.conversation, hit.text)
            if key not in held:
                low = hit.text.lower()
                held[key] = frozenset(t for t, s in said[query.conversation].items() if s in low)
            turns |= held[key]
        by_text.append(turns)
    by_id = [set(turn_order(hits[:k])) for hits in ranking.hits]
    base = answerable(context.values(ranking))
    scored = base["value"].notna()
    found = []
    for name, over_gold in (("precision", False), ("recall", True)):
        tables = [
            base.assign(value=pd.Series(_share(ranking, turns, over_gold=over_gold)).where(scored))
            for turns in (by_id, by_text)
        ]
        settings = ("by turn id", "by wording")
        measure = f"{name}@{k}"
        found += by_style(context, "provenance-by-wording", measure, settings, *tables)
    return found


def _share(ranking: Rankings, turns: list[set[TurnId]], *, over_gold: bool) -> NDArray[np.float64]:
    values = []
    for query, found in zip(ranking.queries, turns, strict=True):
        whole = len(query.gold) if over_gold else len(found)
        values.append(len(found & query.gold) / whole if whole else np.nan if over_gold else 0.0)
    return np.array(values, dtype=float)


def _pooling(context: Context) -> list[Effect]:
    values = answerable(context.values(context.ranking()))
    found = []
    for style in context.shown_styles():
        rows = values[(values["style"] == style) & values["value"].notna()]
        x, homes = rows["value"].to_numpy(float), rows["conversation"].to_numpy()

        def gap(
            kept: NDArray[np.bool_], x: NDArray[np.float64] = x, h: NDArray[np.object_] = homes
        ) -> float:
            means = [x[kept & (h == name)].mean() for name in np.unique(h[kept])]
            return float(np.mean(means) - x[kept].mean())

        interval = jackknife(gap, list(homes))
        settings = ("mean over items", "mean over conversations")
        means = (float(x.mean()), float(x.mean()) + (interval.mean or 0.0))
        measure = f"{_recall(context)}, {style}"
        found.append(
            from_interval("pooling", context.corpus.name, measure, settings, means, interval)
        )
    return found


def _clustering(context: Context) -> list[Effect]:
    values = answerable(context.values(context.ranking()))
    found = []
    for style in context.shown_styles():
        rows = values[(values["style"] == style) & values["value"].notna()]
        x, homes = rows["value"].to_numpy(float), rows["conversation"].to_numpy()

        def widths(
            kept: NDArray[np.bool_], x: NDArray[np.float64] = x, h: NDArray[np.object_] = homes
        ) -> tuple[float, float]:
            by_item = clustered_mean(x[kept], ["one"] * int(kept.sum())).half_width
            by_talk = clustered_mean(x[kept], list(h[kept])).half_width
            return by_item or float("nan"), by_talk or float("nan")

        whole = widths(np.ones(len(x), dtype=bool))
        # On the log, so that the interval of a ratio stays above 0; then back.
        logs = jackknife(lambda kept: _log_ratio(*widths(kept)), list(homes))
        interval = replace(
            logs,
            mean=_ratio_less_one(logs.mean),
            low=_ratio_less_one(logs.low),
            high=_ratio_less_one(logs.high),
        )
        settings = ("over items", "clustered by conversation")
        measure = f"half-width of the interval of {_recall(context)}, {style}"
        found.append(
            from_interval(
                "clustering", context.corpus.name, measure, settings, whole, interval, unit="ratio"
            )
        )
    return found


def _log_ratio(one: float, other: float) -> float:
    return float(np.log(other / one))


def _ratio_less_one(log: float | None) -> float | None:
    return None if log is None else float(np.exp(log)) - 1


def _recall(context: Context) -> str:
    return f"recall@{context.k}"


FAULTS = [
    Fault(
        "evidence-repair",
        "Evidence strings",
        "Some strings name no turn, or several at once; such a question can never score.",
        "LoCoMo-Conv, data",
        "corpus",
        "02_retrieval: evidence",
        _evidence,
    ),
    Fault(
        "category-5",
        "Category 5",
        "An adversarial question cites the turn that tempts to a wrong answer; finding it counts.",
        "LoCoMo-Conv, code",
        "corpus",
        "report.summary.select(answerable=)",
        _adversarial,
    ),
    Fault(
        "unscored-as-zero",
        "Questions without evidence",
        "One script counts them as 0, the others leave them out.",
        "LoCoMo-Conv, code",
        "corpus",
        "",
        _empty_gold,
    ),
    Fault(
        "category-map",
        "Names of categories",
        "Prompts and scripts name the same numbers differently.",
        "LoCoMo-Conv, code",
        "corpus",
        "",
        _categories,
    ),
    Fault(
        "nested-pairs",
        "Composed queries that one answer meets",
        "In most pairs one evidence set holds the other.",
        "LoCoMo-Conv, data",
        "corpus",
        "",
        _nested,
    ),
    Fault(
        "provenance-credit",
        "Turns credited to a memory",
        "mem0's memories are credited with two turns, Memora's with a session.",
        "LoCoMo-Conv, code",
        "corpus",
        "memory option: sources",
        _credit,
    ),
    Fault(
        "provenance-by-wording",
        "How a turn is recognised",
        "A turn counts as found if its wording occurs in a memory, and “Thanks!” occurs in many.",
        "LoCoMo-Conv, paper",
        "corpus",
        "",
        _text_credit,
    ),
    Fault(
        "pooling",
        "What a mean is over",
        "Conversations have different numbers of questions.",
        "LoCoMo-Conv, code",
        "corpus",
        "",
        _pooling,
    ),
    Fault(
        "clustering",
        "What an interval is over",
        "Questions about one conversation are not independent.",
        "both papers",
        "corpus",
        "",
        _clustering,
    ),
]
