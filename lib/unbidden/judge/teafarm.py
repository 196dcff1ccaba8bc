"""TeaFarm's verdicts on agents' replies, as items whose mean is the success rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.judge.asking import judge
from unbidden.judge.case import Case, GoldFact
from unbidden.judge.floors import judge_by_words
from unbidden.judge.registry import rubric
from unbidden.judge.verdict import Verdict
from unbidden.retrieval.score import ITEM_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.judge.rubric import Form, ProtocolName
    from unbidden.llm.base import LLM
    from unbidden.reply.teafarm import TeaReply

METRIC = "teafarm"
COLUMNS = [*ITEM_COLUMNS, "label", "notes"]


def tea_case(reply: TeaReply) -> Case:
    """Return the case of a reply that is there."""
    item = reply.item
    return Case(
        id=f"{item.id}|{reply.agent}",
        conversation=item.conversation,
        speaker=item.speaker,
        message=item.question,
        reply=reply.text or "",
        facts=(GoldFact(item.about, item.answer),),
        memories=reply.memories,
    )


def judge_tea(
    dataset: str,
    replies: Sequence[TeaReply],
    llm: LLM | None,
    *,
    protocol: ProtocolName = "repaired",
    form: Form = "json",
    repeat: int = 0,
) -> pd.DataFrame:
    """Return one item a reply: 1 if it agrees with the reference answer, else 0.

    An evasive reply is no success; `label` tells it from a wrong one under "repaired".

    Parameters
    ----------
    llm : LLM or None
        The judge; None for the floor by words, which needs no model (metric ``teafarm_words``).

    Returns
    -------
    DataFrame
        Columns `COLUMNS`; `query_id` is the item's id, `system` the agent, `notes` what the judge's
        guards found in the reply.

    Raises
    ------
    ConfigError, LLMError, BudgetExceeded
        As `judge`.
    """
    ready = [tea_case(reply) for reply in replies if reply.text is not None]
    if llm is None:
        found = judge_by_words("teafarm", ready)
    else:
        found = judge(llm, rubric("teafarm"), ready, protocol=protocol, form=form, repeat=repeat)
    verdicts = iter(found)
    rows = []
    for reply in replies:
        missing = Verdict.none(f"no reply: {reply.unscored}")
        verdict = missing if reply.text is None else next(verdicts)
        rows.append(
            {
                "dataset": dataset,
                "conversation": reply.item.conversation,
                "query_id": reply.item.id,
                "style": "counterfactual",
                "category": reply.item.category,
                "system": reply.agent,
                "condition": "teafarm",
                "metric": METRIC if llm is not None else f"{METRIC}_words",
                "k": reply.k,
                "value": verdict.score,
                "unscored": verdict.unscored,
                "label": verdict.label,
                "notes": verdict.noted_text,
            }
        )
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return frame.astype({"category": "Int8", "k": "Int64", "value": "float64"})
