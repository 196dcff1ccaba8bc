"""The half of validation that needs no model: answer words and lengths (LoCoMo-Conv 3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unbidden.memory.tokens import paper_tokens
from unbidden.queries.audit import word_count
from unbidden.queries.construction.checking import MIN_WORDS
from unbidden.queries.construction.rewriting import evidence_lines
from unbidden.queries.overlap import content_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unbidden.corpus.models import Conversation, Style
    from unbidden.queries.construction.rewriting import Written

MAX_OVERLAP: Mapping[Style, float] = {
    "dialog": 0.6,
    "implicit": 0.2,
    "counterfactual": 0.3,
    "composed": 0.25,
}
"""More answer words than this share in a query are a leak (the paper's validation)."""


@dataclass(frozen=True, slots=True)
class StageB:
    """What words and length of a query say, without a model.

    Attributes
    ----------
    answer_overlap, evidence_overlap : float or None
        Share of the content words of the answers, and of the cited turns, that the query holds;
        None where there is no such word.
    words : int
        A character of a script without blanks counts as one.
    leak_flag, length_flag : bool
        Whether the answer overlap is above its limit, and the words below theirs.
    """

    answer_overlap: float | None
    evidence_overlap: float | None
    words: int
    leak_flag: bool
    length_flag: bool

    @property
    def passed(self) -> bool:
        """Whether neither flag is set."""
        return not (self.leak_flag or self.length_flag)


def stage_b(conversation: Conversation, item: Written) -> StageB | None:
    """Return the word and length checks of a written query, None if it has no text.

    Words are the paper's: runs of ASCII letters and digits longer than two characters, without
    function words, as sets. Other scripts have none, so their overlap is None.
    """
    if item.rewrite is None:
        return None
    questions = [conversation.questions[member] for member in item.members]
    answers = " ".join(question.answer or "" for question in questions)
    lines = [line for question in questions for line in evidence_lines(conversation, question)]
    held = _words(item.rewrite.text)
    overlap = _share(held, _words(answers))
    words = word_count(item.rewrite.text)
    return StageB(
        overlap,
        _share(held, _words(" ".join(line["text"] for line in lines))),
        words,
        overlap is not None and overlap > MAX_OVERLAP[item.style],
        words < MIN_WORDS[item.style],
    )


def _words(text: str) -> frozenset[str]:
    known = content_words(text)
    return frozenset(word for word in paper_tokens(text) if len(word) > 2 and word in known)


def _share(held: frozenset[str], wanted: frozenset[str]) -> float | None:
    return len(held & wanted) / len(wanted) if wanted else None
