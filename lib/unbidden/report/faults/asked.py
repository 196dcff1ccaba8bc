"""Switches of query rewriting, measured on the recorded rewrites of a small sample."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from unbidden.queries.facets import rewrite_for_search
from unbidden.report.ablations.rewriting import sampled
from unbidden.report.faults.base import Context, Effect, Fault, effect
from unbidden.retrieval.rewritten import retrieve_rewritten

if TYPE_CHECKING:
    import pandas as pd

    from unbidden.queries.facets import ProtocolName


def _parser(context: Context) -> list[Effect]:
    tables = [_values(context, parser, original=False) for parser in ("paper", "repaired")]
    settings = ("strips leading digits", "strips list marks only")
    return [effect(context, "rewrite-parser", _measure(context), settings, *tables)]


def _message(context: Context) -> list[Effect]:
    tables = [_values(context, "paper", original=fused) for fused in (False, True)]
    settings = ("facets alone", "the message fused too")
    return [effect(context, "rewrite-message", _measure(context), settings, *tables)]


def _measure(context: Context) -> str:
    return f"{context.recall} with facets, all styles"


def _values(context: Context, parser: ProtocolName, *, original: bool) -> pd.DataFrame:
    """Return recall of each sampled message; items are clustered by need, few as they are."""
    sample = sampled(context.corpus, context.queries(), context.config)
    texts = rewrite_for_search(
        context.llm, context.corpus, sample, "facets", protocol="paper", parser=parser
    )
    [ranking] = retrieve_rewritten(
        context.corpus,
        texts,
        [context.config.fault_system],
        depth=context.config.facet_depth,
        original=original,
        embedder=context.config.embedder,
    )
    values = context.values(replace(ranking, queries=sample))
    return values.assign(conversation=values["query_id"])


FAULTS = [
    Fault(
        "rewrite-parser",
        "Parser of rewritten queries",
        "Leading digits are taken for list numbers: “2023 camping trip” becomes “camping trip”.",
        "LoCoMo-Conv, code",
        "graph",
        "queries.facets: parser",
        _parser,
    ),
    Fault(
        "rewrite-message",
        "The message beside its facets",
        "The message itself is not searched for, although a facet may miss what it says.",
        "LoCoMo-Conv, code",
        "graph",
        "retrieval.rewritten: original",
        _message,
    ),
]
