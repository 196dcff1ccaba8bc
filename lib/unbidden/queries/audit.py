"""What the queries of a corpus are like: length, leaks, false premises, cues, in tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.corpus.evidence import read_evidence
from unbidden.corpus.models import STYLES
from unbidden.memory.tokens import has_unspaced, unicode_tokens
from unbidden.queries.audit_leaks import false_premises, leak_items, leak_rates
from unbidden.queries.build import build_queries
from unbidden.queries.cues import CUES, asks_to_confirm, memory_cues

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Conversation, Corpus

__all__ = [
    "cue_rates",
    "false_premises",
    "leak_items",
    "leak_rates",
    "lengths",
    "naturalness_counts",
    "query_items",
    "word_count",
]

FIRST_PER_CONVERSATION = 30
"""The paper's first build stopped at 30 clusters a conversation; the rest is its extension."""


def query_items(corpus: Corpus, first: int = FIRST_PER_CONVERSATION) -> pd.DataFrame:
    """Return one row per query of any style, with what the audits need.

    Parameters
    ----------
    first : int
        Clusters of each conversation, in file order, that make the subset "first".

    Returns
    -------
    DataFrame
        Columns ``conversation, query_id, style, category, text, words, questions, answers,
        subset, nested``; `questions` and `answers` are tuples of texts, `subset` is "first" or
        "extension" for composed queries and "all" for others, `nested` is missing for others.
    """
    records = []
    composed: dict[str, int] = {}
    for query in build_queries(corpus):
        home = corpus.conversation(query.conversation)
        members = [home.questions[index] for index in query.members]
        joined = query.style == "composed"
        rank = composed.setdefault(home.id, 0)
        composed[home.id] += joined
        records.append(
            {
                "conversation": query.conversation,
                "query_id": query.id,
                "style": query.style,
                "category": query.category,
                "text": query.text,
                "words": word_count(query.text),
                "questions": tuple(member.text for member in members),
                "answers": tuple(m.answer for m in members if m.answer is not None),
                "subset": ("first" if rank < first else "extension") if joined else "all",
                "nested": _nested(home, query.members) if joined else pd.NA,
            }
        )
    columns = ["conversation", "query_id", "style", "category", "text", "words"]
    columns += ["questions", "answers", "subset", "nested"]
    frame = pd.DataFrame(records, columns=columns)
    frame["style"] = pd.Categorical(frame["style"], STYLES, ordered=True)
    return frame.astype({"category": "Int8", "nested": "boolean"})


def _nested(home: Conversation, members: Sequence[int]) -> bool:
    sets = [frozenset(read_evidence(home.questions[i], home, "paper").ids) for i in members]
    return frozenset().union(*sets) in sets


def word_count(text: str) -> int:
    """Return the number of words; a character of an unspaced script is one.

    >>> word_count("It's 林悦家, right?")
    6
    """
    return sum(not (len(word) == 2 and has_unspaced(word)) for word in unicode_tokens(text))


def naturalness_counts(corpus: Corpus) -> pd.DataFrame:
    """Return how natural the rewriter found its dialog queries, by category.

    Returns
    -------
    DataFrame
        Columns ``naturalness, category, n, share`` (of the category); "not given" where the file
        has none, and category missing in the rows over all.
    """
    given = [
        (question.rewrites["dialog"].naturalness or "not given", question.category)
        for item in corpus.conversations
        for question in item.questions
        if "dialog" in question.rewrites
    ]
    rows = [(label, number) for label, category in given for number in (None, category)]
    found = pd.DataFrame(rows, columns=["naturalness", "category"]).astype({"category": "Int8"})
    counts = found.groupby(["naturalness", "category"], dropna=False).size().reset_index(name="n")
    total = counts.groupby("category", dropna=False)["n"].transform("sum")
    return counts.assign(share=counts["n"] / total)


def lengths(items: pd.DataFrame) -> pd.DataFrame:
    """Return words per query by style.

    Returns
    -------
    DataFrame
        Columns ``style, n, shortest, q1, median, q3, longest``.
    """
    words = items.groupby("style", observed=True)["words"]
    table = words.describe()[["count", "min", "25%", "50%", "75%", "max"]]
    table.columns = pd.Index(["n", "shortest", "q1", "median", "q3", "longest"])
    return table.reset_index().astype({"n": int})


def cue_rates(items: pd.DataFrame) -> pd.DataFrame:
    """Return how often queries ask for a memory outright, by style and cue.

    Returns
    -------
    DataFrame
        Columns ``style, cue, n, hits, share``; "any" is any cue of `unbidden.queries.cues`,
        "asks to confirm" is not among them.
    """
    found = [memory_cues(text) for text in items["text"]]
    flags = pd.DataFrame({cue: [cue in cues for cues in found] for cue in CUES}, index=items.index)
    flags["any"] = [bool(cues) for cues in found]
    flags["asks to confirm"] = [asks_to_confirm(text) for text in items["text"]]
    styles = items["style"]
    records = [
        (style, cue, int((styles == style).sum()), int(flags.loc[styles == style, cue].sum()))
        for style in STYLES
        if (styles == style).any()
        for cue in flags.columns
    ]
    table = pd.DataFrame(records, columns=["style", "cue", "n", "hits"])
    return table.assign(share=table["hits"] / table["n"])
