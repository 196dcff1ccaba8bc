"""The floor by similarity: how near the nearest sentence of a reply is to what it should say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from unbidden.errors import ConfigError
from unbidden.judge.floors import choose
from unbidden.judge.rubrics.composed import coverage
from unbidden.judge.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unbidden.judge.case import Case

_END = re.compile(r"(?<=[.!?。！？])\s*")
RUBRICS = ("fact_use", "composed", "trap", "pairwise", "helpfulness")
"""The rubrics that have this floor."""


class Encodes(Protocol):
    """An embedder, as `unbidden.memory.embed.embedder` returns it."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of shape (n_texts, dimension)."""
        ...


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosines; chosen on the "dev" half of the labelled set with MiniLM.

    Attributes
    ----------
    partial, correct : float
        From which a fact counts as partly and as fully conveyed.
    covered, asserted : float
        From which a fact counts as covered, a false claim as asserted.
    reply_margin, memory_margin : float
        Least difference of two cosines that is no tie, for replies and for blocks of memories.
    """

    partial: float = 0.45
    correct: float = 0.75
    covered: float = 0.45
    asserted: float = 0.4
    reply_margin: float = 0.05
    memory_margin: float = 0.1


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, and the text itself where it has several.

    >>> sentences("You sold it. Rui has it now.")
    ['You sold it.', 'Rui has it now.', 'You sold it. Rui has it now.']
    """
    parts = [part for part in _END.split(" ".join(text.split())) if part]
    return [*parts, " ".join(text.split())] if len(parts) > 1 else parts


def nearest(embedder: Encodes, wanted: str, text: str) -> float:
    """Return the largest cosine of a text's sentences with what is wanted, -1..1."""
    vectors = embedder.encode([wanted, *sentences(text)])
    return float(np.clip((vectors[1:] @ vectors[0]).max(), -1, 1))


def judge_by_similarity(
    rubric: str,
    cases: Sequence[Case],
    embedder: Encodes,
    thresholds: Thresholds | None = None,
) -> list[Verdict]:
    """Return the floor's verdicts by similarity, in the order of the cases.

    Raises
    ------
    ConfigError
        If the rubric has no such floor.
    """
    if rubric not in RUBRICS:
        raise ConfigError(
            f"the rubric {rubric!r} has no floor by similarity",
            expected=", ".join(RUBRICS),
            next_step="leave it out",
        )
    limits = thresholds or Thresholds()
    return [
        _one(rubric, case, embedder, limits) if case.reply.strip() else Verdict.none("empty reply")
        for case in cases
    ]


def _one(rubric: str, case: Case, embedder: Encodes, limits: Thresholds) -> Verdict:
    if rubric == "pairwise" or rubric == "helpfulness":
        wanted = " ".join(case.memories) if rubric == "pairwise" else case.message
        margin = limits.reply_margin if rubric == "pairwise" else limits.memory_margin
        texts = (case.reply, case.other or "")
        if not wanted or not texts[1].strip():
            return Verdict.none("nothing to compare with")
        first, second = (nearest(embedder, wanted, text) for text in texts)
        return choose(first, second, margin=margin)
    if rubric == "trap":
        if not case.trap:
            return Verdict.none("no adversarial answer")
        question = case.facts[0].question if case.facts else ""
        found = nearest(embedder, f"{question} {case.trap}", case.reply)
        return Verdict("yes", 1.0) if found >= limits.asserted else Verdict("no", 0.0)
    if not case.facts or not all(fact.answer for fact in case.facts):
        return Verdict.none("no gold answer")
    found_all = [nearest(embedder, fact.text, case.reply) for fact in case.facts]
    if rubric == "composed":
        return coverage([found >= limits.covered for found in found_all])
    found = min(found_all)
    if found >= limits.correct:
        return Verdict("correct", 1.0)
    return Verdict("partial", 0.5) if found >= limits.partial else Verdict("wrong", 0.0)
