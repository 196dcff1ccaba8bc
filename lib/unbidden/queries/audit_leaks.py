"""Leaks and false premises of a corpus's queries, in tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.corpus.models import CATEGORIES
from unbidden.queries.leaks import THRESHOLD, leak
from unbidden.queries.terms import terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Corpus, Question
    from unbidden.queries.leaks import Leak

NO_ANSWER = "no gold answer, or no word in it to look for"
MEASURES = ("paper", "repaired", "beyond the question")
"""Leak measures of the audit; the last is "repaired" without the words of the plain questions."""


def leak_items(items: pd.DataFrame) -> pd.DataFrame:
    """Return the leak of each query by each measure.

    Returns
    -------
    DataFrame
        The columns ``conversation, query_id, style, category, subset, nested`` of `query_items`
        and ``measure, answer_share, query_share, words, unscored``. A query without a gold answer
        (category 5) is unscored, also under "paper", whose rule would give 0.
    """
    keys = ["conversation", "query_id", "style", "category", "subset", "nested"]
    frames = []
    asked = list(zip(items["text"], items["answers"], items["questions"], strict=True))
    for measure in MEASURES:
        found = [_leak(text, answers, questions, measure) for text, answers, questions in asked]
        values = pd.DataFrame(
            {
                "measure": measure,
                "answer_share": [item and item.answer_share for item in found],
                "query_share": [item and item.query_share for item in found],
                "words": [item.words if item else () for item in found],
            },
            index=items.index,
        ).astype({"answer_share": float, "query_share": float})
        none = [None if known else NO_ANSWER for known in values["answer_share"].notna()]
        frames.append(items[keys].join(values.assign(unscored=pd.Series(none, items.index, str))))
    return pd.concat(frames, ignore_index=True)


def _leak(text: str, answers: Sequence[str], questions: Sequence[str], measure: str) -> Leak | None:
    if not answers:
        return None
    if measure == "paper":
        return leak(text, answers, "paper")
    topic = "\n".join(questions) if measure == MEASURES[2] else ""
    return leak(text, answers, "repaired", topic)


def leak_rates(
    leaks: pd.DataFrame, by: Sequence[str] = ("style", "subset"), threshold: float = THRESHOLD
) -> pd.DataFrame:
    """Return leak rates by measure and any of ``style, subset, nested, category, conversation``.

    Returns
    -------
    DataFrame
        Columns `by`, ``measure, n, unscored, mean, above, any, mean_query``: scored and unscored
        queries, mean share of answer words given away, share of queries above the threshold and
        above 0, and mean share of the query's words that are answer words.
    """
    keys = [*by, "measure"]
    share = leaks["answer_share"]
    scored = share.notna()
    frame = leaks[[*keys]].assign(
        n=scored,
        unscored=~scored,
        mean=share,
        above=(share > threshold).where(scored).astype(float),
        any=(share > 0).where(scored).astype(float),
        mean_query=leaks["query_share"],
    )
    counts = {"n": "sum", "unscored": "sum"}
    means = dict.fromkeys(["mean", "above", "any", "mean_query"], "mean")
    grouped = frame.groupby(keys, observed=True, dropna=False, sort=False)
    return grouped.agg(counts | means).reset_index()


def false_premises(corpus: Corpus) -> pd.DataFrame:
    """Return whether counterfactual queries carry the wrong value they were made to assert.

    A query states it if it has a word of the recorded wrong value that neither the plain question
    nor the gold answer has; where there is no such word, nothing can be told by words.

    Returns
    -------
    DataFrame
        Columns ``category, answerable, queries, recorded, stated, not_stated, untold,
        gives_gold``; `gives_gold` counts queries that hold a word of the gold answer which the
        question does not have. Category is missing in the row over all.
    """
    rows = [
        {"category": number, **_premise(question)}
        for item in corpus.conversations
        for question in item.questions
        if question.answerable
        for number in (0, question.category)
    ]
    numbers = [0, *(number for number in CATEGORIES if number != 5)]
    frame = pd.DataFrame(rows, columns=["category", *_PREMISE]).groupby("category").sum()
    table = frame.reindex(numbers, fill_value=0).reset_index().astype("Int64")
    return table.assign(category=table["category"].replace(0, None))


_PREMISE = ["answerable", "queries", "recorded", "stated", "not_stated", "untold", "gives_gold"]


def _premise(question: Question) -> dict[str, bool]:
    rewrite = question.rewrites.get("counterfactual")
    said = set(terms(rewrite.text)) if rewrite else set()
    asked = set(terms(question.text))
    gold = set(terms(question.answer or "")) - asked
    wrong = set(terms((rewrite and rewrite.asserted_wrong) or "")) - asked - gold
    return {
        "answerable": True,
        "queries": rewrite is not None,
        "recorded": bool(rewrite and rewrite.asserted_wrong),
        "stated": bool(wrong & said),
        "not_stated": bool(wrong) and not wrong & said,
        "untold": rewrite is not None and not wrong,
        "gives_gold": bool(gold & said),
    }
