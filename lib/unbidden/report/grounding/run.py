"""The chapter on implicit grounding, from its parameters: replies, verdicts, calls to be made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from unbidden.grounding import reasoned, silent
from unbidden.judge.scoring import model_verdicts, with_stand_ins
from unbidden.llm.session import PlanningLLM
from unbidden.queries.build import build_queries
from unbidden.queries.sampling import balanced_sample
from unbidden.reply.answer import NO_SYSTEM
from unbidden.reply.conditions import Oracle, RandomMemory, TopK, condition
from unbidden.reply.study import Way, reply_all, way_name, ways
from unbidden.reply.table import answer_table
from unbidden.report.replies.run import (
    JUDGE_NAMES,
    PLAN,
    judge_name,
    memories_found,
    rules_of,
    score_replies,
)
from unbidden.report.replies.sample import check_rubrics
from unbidden.retrieval.score import ITEM_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.config import GroundingConfig
    from unbidden.corpus.models import Corpus
    from unbidden.llm import LLM
    from unbidden.queries.build import Query
    from unbidden.reply.answer import Answer
    from unbidden.retrieval.run import Rankings

EQUAL, LONGER = "equal", "paper"
CONTEXT = "oracle context"
NO_RECALL = "no gold turn, or memories that name no turn"
FACTS = "fact_use"
SITUATION = "implicit"


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


@dataclass(frozen=True)
class Judged:
    """What the judges say.

    Attributes
    ----------
    base, facts : DataFrame
        Items with the columns ``judge`` and ``way``: of the chapter on replies, and the fact score
        of the implicit replies.
    situations : DataFrame
        Items of the two-dimensional rubric, by a model, with the column ``way``.
    pool : list of str
        Ids of the queries the arms are compared on.
    grades, contests, pairs : DataFrame
        As `unbidden.grounding.silent`, with the column ``limits``.
    """

    base: pd.DataFrame
    facts: pd.DataFrame
    situations: pd.DataFrame
    pool: list[str]
    grades: pd.DataFrame
    contests: pd.DataFrame
    pairs: pd.DataFrame


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


def first_judge(config: GroundingConfig) -> str:
    """Return the judge whose fact scores choose the pool: the model, or without one the words."""
    return judge_name(config) if "model" in config.judges else JUDGE_NAMES["words"]


def judge_replies(
    config: GroundingConfig, corpus: Corpus, replies: Replies, llm: LLM, *, planned: bool = False
) -> Judged:
    """Return all verdicts of the chapter.

    Parameters
    ----------
    llm : LLM
        From `unbidden.report.replies.run.asking`.
    planned : bool
        Whether replies that are not on record get a stand-in and may all be of the pool, so that
        the verdicts on them are counted.

    Raises
    ------
    ConfigError, DataError, LLMError, BudgetExceeded
        As the judges.
    """
    base, implicit, longer = (
        with_stand_ins(table) if planned and len(table) else table
        for table in (replies.base, replies.implicit, replies.longer)
    )
    evidence = config.evidence
    scored = score_replies(config, corpus, base, llm)
    for_facts = implicit[~implicit["way"].isin([silent.NONE, silent.RANDOM])]
    own = config.model_copy(update={"rubrics": (FACTS,)})
    facts = score_replies(own, corpus, for_facts, llm)
    for_situation = implicit[implicit["way"].isin([silent.ORACLE, silent.NONE, silent.RANDOM])]
    situations = _with_model(config, corpus, for_situation, llm, [SITUATION])
    first = facts[facts["judge"] == first_judge(config)]
    pool = silent.silent_queries(first, planned=planned)
    if config.pool == "all":
        pool = [query.id for query in replies.asked]
    tables = {EQUAL: implicit}
    if len(longer):
        kept = implicit[implicit["way"] != silent.RANDOM]
        tables[LONGER] = pd.concat([kept, longer], ignore_index=True)
    grades, contests, pairs = [], [], []
    for limits, table in tables.items():
        inside = table[table["query_id"].isin(pool)]
        three = inside[inside["way"].isin([silent.ORACLE, silent.NONE, silent.RANDOM])]
        if three.empty or "model" not in config.judges:
            continue
        for protocol in config.quality_protocols:
            found = silent.grades(llm, corpus, three, protocol=protocol, evidence=evidence)
            grades.append(found.assign(limits=limits))
            contests.append(silent.contests(found).assign(limits=limits, protocol=protocol))
        wanted = silent.PAIRS[:2] if limits == EQUAL else silent.PAIRS[1:2]
        seen = silent.side_by_side(
            llm, corpus, three, wanted, form=config.judge_form, evidence=evidence
        )
        pairs.append(seen.assign(limits=limits))
    return Judged(
        scored,
        facts,
        situations,
        pool,
        _joined(grades, (*silent.GRADES, "limits")),
        _joined(contests, (*silent.RESULTS, "limits", "protocol")),
        _joined(pairs, (*silent.RESULTS, "limits")),
    )


def judge_reasoned(
    config: GroundingConfig, corpus: Corpus, replies: Replies, llm: LLM, *, planned: bool = False
) -> pd.DataFrame:
    """Return the replies that chose their memories against the oracle's, by three grades.

    Under the protocol "paper" they are graded against what they cite, and the oracle's against the
    gold turns; under "repaired" both against the gold turns.

    Returns
    -------
    DataFrame
        As `silent.contests`, with the column ``protocol``; the reasoned reply is the first.
    """
    name = reasoned_way(config)
    table = replies.implicit[replies.implicit["way"].isin([name, silent.ORACLE])]
    if planned:
        table = with_stand_ins(table)
    frames = []
    for protocol in config.quality_protocols if "model" in config.judges else ():
        given = table
        if protocol == "paper":
            cited = reasoned.cited_only(table[table["way"] == name])
            given = pd.concat([table[table["way"] != name], cited], ignore_index=True)
        found = silent.grades(llm, corpus, given, protocol=protocol, evidence=config.evidence)
        results = silent.contests(found, [(name, silent.ORACLE)])
        frames.append(results.assign(protocol=protocol))
    return _joined(frames, (*silent.RESULTS, "protocol"))


def all_items(judged: Judged, scored: pd.DataFrame) -> pd.DataFrame:
    """Return the verdicts of the chapter, and the recall of what replies were shown, as items.

    Parameters
    ----------
    scored : DataFrame
        From `unbidden.grounding.scored.scored_replies`.

    Returns
    -------
    DataFrame
        Columns `ITEM_COLUMNS` and ``judge, way, label``; the metric ``recall_shown`` has no judge.
    """
    columns = [*ITEM_COLUMNS, "judge", "way", "label"]
    frames = [judged.base, judged.facts, judged.situations]
    verdicts = pd.concat([frame for frame in frames if len(frame)], ignore_index=True)
    verdicts = verdicts.drop_duplicates(["judge", "way", "style", "query_id", "metric"])
    keys = ["style", "query_id", "way"]
    first = judged.base.drop_duplicates(keys)
    shown = first.merge(scored.drop_duplicates(keys)[[*keys, "recall"]], on=keys)
    shown = shown.assign(
        metric="recall_shown", value=shown["recall"], judge="", label=None, unscored=None
    )
    shown.loc[shown["value"].isna(), "unscored"] = NO_RECALL
    items = pd.concat([verdicts[columns], shown[columns]], ignore_index=True)
    return items.astype({"category": "Int8", "k": "Int64", "value": "float64"})


def still_to_ask(
    config: GroundingConfig, corpus: Corpus, replies: Replies, llm: LLM
) -> pd.DataFrame:
    """Return the calls that are not on record, by prompt; nothing is asked.

    Which implicit replies are compared depends on verdicts. Where these are not on record all are
    counted, so that the plan is an upper bound.

    Returns
    -------
    DataFrame
        Columns `unbidden.report.replies.run.PLAN`; no row where calls may be made.
    """
    if not isinstance(llm, PlanningLLM):
        return pd.DataFrame(columns=PLAN)
    judge_replies(config, corpus, replies, llm, planned=True)
    judge_reasoned(config, corpus, replies, llm, planned=True)
    rows = [
        (row.prompt, row.model, row.calls - row.same, row.hits, row.to_ask, row.input_tokens,
         row.output_high)
        for row in llm.plan().rows
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=PLAN)


def _with_model(
    config: GroundingConfig, corpus: Corpus, table: pd.DataFrame, llm: LLM, rubrics: Sequence[str]
) -> pd.DataFrame:
    if "model" not in config.judges:
        return pd.DataFrame(
            columns=["way", "conversation", "query_id", "label", "value", "unscored"]
        )
    items = model_verdicts(
        llm, corpus, table, rubrics, protocol=config.judge_protocol, evidence=config.evidence
    )
    names = zip(items["system"], items["condition"], strict=True)
    found = [way_name(system, name) for system, name in names]
    return items.assign(way=found, judge=judge_name(config))


def _joined(frames: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    kept = [frame for frame in frames if len(frame)]
    return pd.concat(kept, ignore_index=True) if kept else pd.DataFrame(columns=list(columns))
