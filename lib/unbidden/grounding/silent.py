"""Silent grounding: whether memory serves a reply that never states the fact (5.8, 5.9).

Three arms reply to the same implicit query: one with the gold turns, one with nothing, one with
random turns. They are compared where the reply with the gold turns has a fact score of 0. Each is
graded alone on three questions and the sums are compared, as in the paper; and two are put side by
side in both orders, where only a win in both counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.judge.asking import judge_views
from unbidden.judge.registry import rubric
from unbidden.judge.replies import pair_cases
from unbidden.judge.rubrics.quality import DIMENSIONS
from unbidden.judge.scoring import missing_record, model_verdicts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.evidence import EvidencePolicy
    from unbidden.corpus.models import Corpus
    from unbidden.judge.rubric import Form, ProtocolName
    from unbidden.judge.verdict import Verdict
    from unbidden.llm.base import LLM

ORACLE, NONE, RANDOM = "oracle", "no memory", "random"
PAIRS = ((ORACLE, NONE), (ORACLE, RANDOM), (RANDOM, NONE))
"""The paper's three comparisons."""
TOTAL = "total"
PARTS = (TOTAL, *DIMENSIONS)
BOTH_ORDERS, ONE_ORDER = "both orders", "one order"
GRADES = ("protocol", "conversation", "query_id", "way", "part", "value", "unscored")
RESULTS = ("first", "second", "part", "conversation", "query_id", "result", "unscored")
_RESULT = {"first": 1.0, "tie": 0.0, "second": -1.0}


def silent_queries(items: pd.DataFrame, *, way: str = ORACLE, planned: bool = False) -> list[str]:
    """Return the ids of implicit queries whose reply with the gold turns has a fact score of 0.

    Parameters
    ----------
    items : DataFrame
        Verdicts of one judge, with the column ``way``.
    planned : bool
        Whether to add those whose verdict is not on record, which may be of them: for a plan.
    """
    rows = items[
        (items["metric"] == "fact_use") & (items["style"] == "implicit") & (items["way"] == way)
    ]
    chosen = [
        value == 0 or (planned and missing_record(reason))
        for value, reason in zip(rows["value"], rows["unscored"], strict=True)
    ]
    return list(dict.fromkeys(rows.loc[chosen, "query_id"]))


def grades(
    llm: LLM,
    corpus: Corpus,
    table: pd.DataFrame,
    *,
    protocol: ProtocolName,
    evidence: EvidencePolicy = "paper",
) -> pd.DataFrame:
    """Return the three grades of each reply and their mean, each reply graded alone.

    Parameters
    ----------
    protocol : {"repaired", "paper"}
        Faithfulness to the gold turns, the same for every arm; or to the arm's own memories, by
        which an arm that has none can have half a point at most.

    Returns
    -------
    DataFrame
        Columns `GRADES`; values in 0..1, `part` one of `PARTS`.

    Raises
    ------
    ConfigError, DataError, LLMError, BudgetExceeded
        As `model_verdicts`.
    """
    items = model_verdicts(llm, corpus, table, ["quality"], protocol=protocol, evidence=evidence)
    rows = []
    for way, item in zip(table["way"], items.to_dict("records"), strict=True):
        label = item["label"]
        graded = isinstance(label, str)  # pandas has NaN where there is none
        single = [float(value) for value in label.split("/")] if graded else []
        values = [item["value"], *single] if single else [float("nan")] * len(PARTS)
        rows += [
            (protocol, item["conversation"], item["query_id"], way, part, value, item["unscored"])
            for part, value in zip(PARTS, values, strict=True)
        ]
    return pd.DataFrame(rows, columns=list(GRADES))


def contests(found: pd.DataFrame, pairs: Sequence[tuple[str, str]] = PAIRS) -> pd.DataFrame:
    """Return which of two arms has the higher grade, by query and part.

    Parameters
    ----------
    found : DataFrame
        Grades under one protocol.

    Returns
    -------
    DataFrame
        Columns `RESULTS`: 1, 0 or -1 for the first of a pair; NaN, with the reason, where either
        reply has no grade.
    """
    rows = []
    for part, group in found.groupby("part", sort=False):
        values = group.pivot(index="query_id", columns="way", values="value")
        reasons = group.pivot(index="query_id", columns="way", values="unscored")
        homes = group.drop_duplicates("query_id").set_index("query_id")["conversation"]
        for first, second in pairs:
            if first not in values or second not in values:
                continue
            for query in values.index:
                gap = values.loc[query, first] - values.loc[query, second]
                result = float("nan") if pd.isna(gap) else (gap > 1e-9) * 1.0 - (gap < -1e-9)
                known = [reasons.loc[query, way] for way in (first, second)]
                reason = next((text for text in known if isinstance(text, str)), None)
                rows.append((first, second, part, homes[query], query, result, reason))
    return pd.DataFrame(rows, columns=list(RESULTS))


def side_by_side(
    llm: LLM,
    corpus: Corpus,
    table: pd.DataFrame,
    pairs: Sequence[tuple[str, str]] = PAIRS[:2],
    *,
    form: Form = "json",
    evidence: EvidencePolicy = "paper",
) -> pd.DataFrame:
    """Return which of two replies a judge prefers who sees both, and the gold turns.

    Returns
    -------
    DataFrame
        Columns `RESULTS`; `part` is `BOTH_ORDERS`, where only a win in both orders counts and all
        else is a tie, or `ONE_ORDER`, the first order alone, as the paper's script asks.

    Raises
    ------
    ConfigError, DataError, LLMError, BudgetExceeded
        As `pair_cases` and `judge_views`.
    """
    pairwise = rubric("pairwise")
    rows = []
    for first, second in pairs:
        one, other = (table[table["way"] == way] for way in (first, second))
        built = pair_cases(corpus, one, other, evidence=evidence)
        views = judge_views(llm, pairwise, [case for case, _ in built if case], form=form)
        found = iter(views)
        for row, (case, missing) in zip(one.to_dict("records"), built, strict=True):
            seen = next(found) if case else ()
            for part, verdict in (
                (BOTH_ORDERS, pairwise.combine(seen) if seen else None),
                (ONE_ORDER, seen[0] if seen else None),
            ):
                result, reason = _result(verdict, missing)
                key = (row["conversation"], row["query_id"])
                rows.append((first, second, part, *key, result, reason))
    return pd.DataFrame(rows, columns=list(RESULTS))


def _result(verdict: Verdict | None, missing: str | None) -> tuple[float, str | None]:
    if verdict is None:
        return float("nan"), missing
    if verdict.label is None:
        return float("nan"), verdict.unscored
    return _RESULT[verdict.label], None
