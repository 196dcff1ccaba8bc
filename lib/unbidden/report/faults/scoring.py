"""Switches of scoring: which questions count, and against which evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unbidden.report.faults.base import Context, Effect, Fault, answerable, by_style, effect

if TYPE_CHECKING:
    from unbidden.corpus.evidence import EvidencePolicy

_POLICIES: tuple[EvidencePolicy, EvidencePolicy] = ("paper", "repaired")


def _evidence(context: Context) -> list[Effect]:
    values = [answerable(context.values(context.ranking(evidence=e))) for e in _POLICIES]
    return by_style(context, "evidence-repair", context.recall, _POLICIES, *values)


def _adversarial(context: Context) -> list[Effect]:
    every = context.values(context.ranking())
    settings = ("categories 1-4", "category 5 too")
    return by_style(context, "category-5", context.recall, settings, answerable(every), every)


def _empty_gold(context: Context) -> list[Effect]:
    values = answerable(context.values(context.ranking()))
    missing = values["value"].isna() & values["category"].ne(5).fillna(True)
    settings = ("left out", "counted as 0")
    counted = values.assign(value=values["value"].mask(missing, 0.0))
    return by_style(context, "unscored-as-zero", context.recall, settings, values, counted)


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
            f"{context.recall} of “multi-hop”, {style}",
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
    return [effect(context, "nested-pairs", f"{context.recall}, composed", settings, first, second)]


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
]
