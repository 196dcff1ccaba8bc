"""Replies scored by a model and by the floors, side by side, and what a model is still to be asked.

Each judge sees what the user would see. A verdict that is missing because its call is not on record
is told apart from one that failed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

import pandas as pd

from unbidden.errors import ConfigError
from unbidden.judge.asking import judge
from unbidden.judge.floors import WORD_FLOORS, judge_by_words
from unbidden.judge.registry import rubric
from unbidden.judge.replies import verdict_items
from unbidden.judge.similarity import RUBRICS as SIMILARITY_RUBRICS
from unbidden.judge.similarity import judge_by_similarity
from unbidden.llm.session import PLANNED
from unbidden.retrieval.run import NOT_RECORDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.evidence import EvidencePolicy
    from unbidden.corpus.models import Corpus
    from unbidden.judge.case import Case
    from unbidden.judge.rubric import Form, ProtocolName
    from unbidden.judge.similarity import Encodes
    from unbidden.judge.verdict import Verdict
    from unbidden.llm.base import LLM

JudgeName = Literal["model", "words", "similarity"]
STAND_IN_WORDS = 30
"""Words of the text that stands for a reply while verdicts are only counted."""


def missing_record(reason: object) -> bool:
    """Return whether something is missing only because a call is not on record.

    Anything but a text is no reason: a table has None or NaN where nothing is missing.

    >>> missing_record("no reply: planned: this run only plans"), missing_record("timeout: slow")
    (True, False)
    """
    if not isinstance(reason, str):
        return False
    return f"planned: {PLANNED}" in reason or NOT_RECORDED in reason


def form_of(name: str, form: Form) -> Form:
    """Return how a rubric is asked: as wanted, or "json" where its verdict has parts.

    >>> form_of("composed", "likelihood"), form_of("fact_use", "likelihood")
    ('json', 'likelihood')
    """
    try:
        rubric(name).prompt("repaired", form, None)
    except ConfigError:
        return "json"
    return form


def model_verdicts(
    llm: LLM,
    corpus: Corpus,
    table: pd.DataFrame,
    rubrics: Sequence[str],
    *,
    form: Form = "json",
    protocol: ProtocolName = "repaired",
    evidence: EvidencePolicy = "paper",
) -> pd.DataFrame:
    """Return a model's verdicts on a table of replies; only calls of the role "judge" are made.

    Returns
    -------
    DataFrame
        As `unbidden.judge.replies.judge_replies`.

    Raises
    ------
    ConfigError, DataError, LLMError, BudgetExceeded
        As `judge_replies`.
    """

    def decide(name: str, cases: list[Case]) -> list[Verdict]:
        asked = form_of(name, form)
        return judge(llm, rubric(name), cases, protocol=protocol, form=asked)

    return verdict_items(
        corpus, table, decide, rubrics=rubrics, protocol=protocol, evidence=evidence
    )


def word_verdicts(
    corpus: Corpus,
    table: pd.DataFrame,
    rubrics: Sequence[str],
    *,
    evidence: EvidencePolicy = "paper",
) -> pd.DataFrame:
    """Return the word rule's verdicts, on the rubrics that have one."""
    known = [name for name in rubrics if name in WORD_FLOORS]
    return verdict_items(corpus, table, judge_by_words, rubrics=known, evidence=evidence)


def similarity_verdicts(
    corpus: Corpus,
    table: pd.DataFrame,
    rubrics: Sequence[str],
    embedder: Encodes,
    *,
    evidence: EvidencePolicy = "paper",
) -> pd.DataFrame:
    """Return the verdicts by similarity, on the rubrics that have them."""
    known = [name for name in rubrics if name in SIMILARITY_RUBRICS]
    decide = partial(_by_similarity, embedder=embedder)
    return verdict_items(corpus, table, decide, rubrics=known, evidence=evidence)


def _by_similarity(name: str, cases: list[Case], *, embedder: Encodes) -> list[Verdict]:
    return judge_by_similarity(name, cases, embedder)


def with_stand_ins(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of replies with a text for each that is only planned, to count verdicts."""
    planned = [missing_record(reason) for reason in table["unscored"]]
    words = "word " * STAND_IN_WORDS
    texts = [
        f"{number} {words}" if missing else text
        for number, (text, missing) in enumerate(zip(table["text"], planned, strict=True))
    ]
    return table.assign(text=pd.Series(texts, index=table.index, dtype=object))
