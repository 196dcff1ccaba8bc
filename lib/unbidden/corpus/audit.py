"""What is in a corpus: counts, denominators, and everything irregular, as plain numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unbidden.corpus.evidence import EvidenceChange, every_id_resolves, evidence_changes
from unbidden.corpus.models import CATEGORIES, Irregularity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unbidden.corpus.models import Conversation, Corpus, Question


@dataclass(frozen=True, slots=True)
class Audit:
    """Counts of a corpus and what was odd about it.

    Attributes
    ----------
    categories : dict of str to dict of int to int
        Questions by conversation and category; a category a conversation lacks is 0.
    denominators : dict of str to int
        The several numbers of questions a mean may be taken over, named.
    evidence_changes : tuple
        What the `repaired` policy changes.
    """

    conversations: int
    sessions: int
    turns: int
    captions: int
    questions: int
    clusters: int
    categories: dict[str, dict[int, int]]
    denominators: dict[str, int]
    evidence_changes: tuple[EvidenceChange, ...]
    irregularities: tuple[Irregularity, ...]


def audit(corpus: Corpus) -> Audit:
    """Count a corpus and list what is irregular in it."""
    conversations = corpus.conversations
    return Audit(
        conversations=len(conversations),
        sessions=sum(len(item.sessions) for item in conversations),
        turns=sum(len(item.turns) for item in conversations),
        captions=sum(turn.caption is not None for item in conversations for turn in item.turns),
        questions=sum(len(item.questions) for item in conversations),
        clusters=len(corpus.clusters),
        categories={
            item.id: {
                number: sum(question.category == number for question in item.questions)
                for number in CATEGORIES
            }
            for item in conversations
        },
        denominators=denominators(corpus),
        evidence_changes=tuple(evidence_changes(conversations, "repaired")),
        irregularities=(*corpus.irregularities, *_content_irregularities(corpus)),
    )


def denominators(corpus: Corpus) -> dict[str, int]:
    """Return how many questions each common rule counts.

    On LoCoMo: 1,986 questions; 1,540 answerable; 1,982 with evidence; 1,536 answerable with
    evidence, over which our means are taken.
    """
    questions = [question for item in corpus.conversations for question in item.questions]
    return {
        "all questions": len(questions),
        "answerable": sum(question.answerable for question in questions),
        "with evidence": sum(bool(question.evidence) for question in questions),
        "answerable with evidence": sum(
            question.answerable and bool(question.evidence) for question in questions
        ),
        "answerable, every id resolves after repair": sum(
            question.answerable and _resolves(question, item)
            for item in corpus.conversations
            for question in item.questions
        ),
    }


def _resolves(question: Question, conversation: Conversation) -> bool:
    known = conversation.turn_ids
    return bool(question.evidence) and all(
        every_id_resolves(text, known) for text in question.evidence
    )


def _content_irregularities(corpus: Corpus) -> Iterator[Irregularity]:
    for conversation in corpus.conversations:
        for change in evidence_changes([conversation], "repaired"):
            kind = "evidence names no turn" if not change.after else "evidence needs repair"
            after = ", ".join(change.after) or "dropped"
            yield Irregularity(kind, change.where, f"{change.before!r} -> {after}")
        first: dict[str, int] = {}
        for question in conversation.questions:
            if (earlier := first.setdefault(question.text, question.index)) != question.index:
                yield Irregularity(
                    "question asked twice",
                    f"{conversation.id}#{question.index}",
                    f"same words as #{earlier}",
                )
            repeats = [text for text, n in Counter(question.evidence).items() if n > 1]
            if repeats:
                yield Irregularity(
                    "evidence id twice", f"{conversation.id}#{question.index}", ", ".join(repeats)
                )
    speakers = Counter(name for item in corpus.conversations for name in set(item.speakers))
    for name, count in speakers.items():
        if count > 1:
            homes = [item.id for item in corpus.conversations if name in item.speakers]
            yield Irregularity("speaker name shared by conversations", name, ", ".join(homes))
