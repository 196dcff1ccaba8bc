"""The replies of the chapter on implicit grounding, from its parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from unbidden.grounding import silent
from unbidden.queries.build import build_queries
from unbidden.queries.sampling import balanced_sample
from unbidden.reply.answer import NO_SYSTEM
from unbidden.reply.conditions import Oracle, RandomMemory, TopK, condition
from unbidden.reply.study import Way, reply_all, way_name, ways
from unbidden.reply.table import answer_table
from unbidden.report.replies.run import (
    memories_found,
    rules_of,
)
from unbidden.report.replies.sample import check_rubrics

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from unbidden.config import GroundingConfig
    from unbidden.corpus.models import Corpus
    from unbidden.llm import LLM
    from unbidden.queries.build import Query
    from unbidden.reply.answer import Answer
    from unbidden.retrieval.run import Rankings

EQUAL, LONGER = "equal", "paper"
"""Limits of a reply: the same for every arm, or the paper's, which are longer for one."""


@dataclass(frozen=True)
class Replies:
    """What was replied.

    Attributes
    ----------
    base, implicit, longer : DataFrame
        Tables of replies with a column ``way``: those of the chapter on replies; those to the
        implicit queries of this chapter; and the random arm's with the longer limit. Only replies
        that the equal limit cut are asked for again: at temperature 0 the others stay the same.
    answers : list of Answer
        Behind `implicit`.
    found : dict
        Rankings by system and name.
    """

    queries: list[Query]
    asked: list[Query]
    base: pd.DataFrame
    implicit: pd.DataFrame
    longer: pd.DataFrame
    answers: list[Answer]
    found: dict[str, dict[str, Rankings]]


def was_cut(reason: str | None) -> bool:
    """Return whether a reply is missing because the output limit cut it.

    >>> was_cut("truncated: finish reason length"), was_cut(None)
    (True, False)
    """
    return reason is not None and reason.startswith("truncated")


def reasoned_way(config: GroundingConfig) -> str:
    """Return what tables call the replies that choose their memories."""
    return way_name(config.condition_system, "cot_select")


def arms(config: GroundingConfig) -> list[Way]:
    """Return the ways to reply to the implicit queries."""
    system, k = config.condition_system, config.top_k
    return [
        Way(None, Oracle()),
        Way(None, condition("no_memory")),
        Way(None, RandomMemory(config.random_turns, config.seed)),
        Way(None, Oracle(config.neighbours)),
        Way(system, TopK(k)),
        Way(system, condition("cot_select", k=k)),
    ]


def make_replies(config: GroundingConfig, corpus: Corpus, llm: LLM, asked: LLM) -> Replies:
    """Search and reply.

    Parameters
    ----------
    llm, asked : LLM
        The model as opened, which builds memories; and what `asking` makes of it, for replies.

    Raises
    ------
    ConfigError, DataError, LLMError, BudgetExceeded
        As `check_rubrics`, `unbidden.reply.study.search` and `reply_all`.
    """
    built = build_queries(
        corpus, styles=config.styles, evidence=config.evidence, limit=config.limit
    )
    queries = balanced_sample(built, per_style=config.queries_per_style, seed=config.seed)
    check_rubrics(config.rubrics, queries)
    more = balanced_sample(built, per_style=config.implicit_queries, seed=config.seed)
    implicit = [query for query in more if query.style == "implicit"]
    usual = ways(
        config.systems, config.conditions, k=config.top_k, of=config.condition_system,
        seed=config.seed,
    )  # fmt: skip
    own = arms(config)
    every = {(query.style, query.id): query for query in (*queries, *implicit)}
    found = memories_found(config, corpus, list(every.values()), [*usual, *own], llm)
    rules = rules_of(config)
    answers = reply_all(corpus, implicit, own, found, asked, rules)
    base = reply_all(corpus, queries, usual, found, asked, rules)
    longer: list[Answer] = []
    if LONGER in config.limits:
        loose = replace(rules, own_budgets={silent.RANDOM: config.longer_tokens})
        drawn = [one for one in answers if one.condition == silent.RANDOM]
        cut = [one.query for one in drawn if was_cut(one.unscored)]
        again = {one.query.id: one for one in reply_all(corpus, cut, own[2:3], found, asked, loose)}
        longer = [again.get(one.query.id, one) for one in drawn]
    tables = [_table(config, corpus, made) for made in (base, answers, longer)]
    return Replies(queries, implicit, tables[0], tables[1], tables[2], answers, found)


def _table(config: GroundingConfig, corpus: Corpus, answers: Sequence[Answer]) -> pd.DataFrame:
    table = answer_table(corpus.name, config.answer_model, answers)
    names = zip(table["system"], table["condition"], strict=True)
    return table.assign(way=[way_name(system or NO_SYSTEM, name) for system, name in names])
