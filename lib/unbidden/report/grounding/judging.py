"""The verdicts of the chapter on implicit grounding, and the calls that are still to be made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from unbidden.grounding import reasoned, silent
from unbidden.judge.scoring import model_verdicts, with_stand_ins
from unbidden.llm.session import PlanningLLM
from unbidden.reply.study import way_name
from unbidden.report.replies.run import (
    JUDGE_NAMES,
    PLAN,
    judge_name,
    planned_calls,
    score_replies,
)
from unbidden.retrieval.score import ITEM_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.config import GroundingConfig
    from unbidden.corpus.models import Corpus
    from unbidden.llm import LLM

from unbidden.report.grounding.replying import EQUAL, LONGER, Replies, reasoned_way

CONTEXT = "oracle context"
NO_RECALL = "no gold turn, or memories that name no turn"
FACTS = "fact_use"
SITUATION = "implicit"


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
    return Judged(
        scored, facts, situations, pool, *_compared(config, corpus, implicit, longer, pool, llm)
    )


def _compared(
    config: GroundingConfig,
    corpus: Corpus,
    implicit: pd.DataFrame,
    longer: pd.DataFrame,
    pool: Sequence[str],
    llm: LLM,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return grades, contests and pairs of the three arms, under each limit of a reply."""
    evidence = config.evidence
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
    return (
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
    return planned_calls(llm)


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
