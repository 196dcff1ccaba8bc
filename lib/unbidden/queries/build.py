"""From a corpus to the queries a run asks, each with its gold turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unbidden.corpus.evidence import read_evidence
from unbidden.corpus.models import STYLES
from unbidden.errors import ConfigError, closest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unbidden.corpus.evidence import EvidencePolicy
    from unbidden.corpus.models import Conversation, ConversationId, Corpus, Style, TurnId


@dataclass(frozen=True, slots=True)
class Query:
    """One thing a user says, in one style, and the turns that should come to mind.

    Attributes
    ----------
    id : str
        ``<sample_id>#<question>``, or ``<sample_id>#<question>+<question>`` for a composed query;
        the same in every style, so that styles can be paired.
    category : int or None
        None for composed queries, whose members may differ in category.
    gold : frozenset of TurnId
        Empty if the corpus cites no evidence; then the query is unscored.
    speaker : str or None
        Who says it; None for plain questions, which nobody in the conversation asks. There
        LoCoMo-Conv's runner names the speaker a question is about, else the first one: see
        `SpeakerStores.search` for what that changes.
    """

    id: str
    conversation: ConversationId
    style: Style
    text: str
    category: int | None
    members: tuple[int, ...]
    gold: frozenset[TurnId]
    speaker: str | None = None


def build_queries(
    corpus: Corpus,
    *,
    styles: Sequence[str] = STYLES,
    evidence: EvidencePolicy = "paper",
    limit: int | None = None,
) -> list[Query]:
    """Return the queries of a corpus, by conversation, then style, then question.

    Plain questions are asked in all five categories; category 5 has no counterfactual, as in the
    paper. Queries with empty text are left out (the loader lists them).

    Parameters
    ----------
    styles : sequence of str
        Which styles to ask.
    limit : int, optional
        Keep the first so many questions of each conversation, and the composed queries whose
        members are among them. The whole conversation is still remembered.

    Raises
    ------
    ConfigError
        If a style is unknown, or `limit` is not positive.
    """
    for style in styles:
        if style not in STYLES:
            raise ConfigError(
                f"unknown style {style!r}",
                expected=closest(style, STYLES),
                next_step="correct the parameter `styles`",
            )
    if limit is not None and limit < 1:
        raise ConfigError("`limit` is out of range", expected="1 or more, or none", got=str(limit))
    queries: list[Query] = []
    for conversation in corpus.conversations:
        gold = {
            question.index: frozenset(read_evidence(question, conversation, evidence).ids)
            for question in conversation.questions[:limit]
        }
        for style in STYLES:
            if style not in styles:
                continue
            if style == "composed":
                queries.extend(_composed(corpus, conversation, gold))
            else:
                queries.extend(_single(conversation, style, gold))
    return queries


def _single(
    conversation: Conversation, style: Style, gold: dict[int, frozenset[TurnId]]
) -> Iterator[Query]:
    for question in conversation.questions:
        if question.index not in gold:
            continue
        rewrite = question.rewrites.get(style)
        text = question.text if style == "question" else rewrite.text if rewrite else ""
        if not text.strip() or (style == "counterfactual" and not question.answerable):
            continue
        yield Query(
            f"{conversation.id}#{question.index}",
            conversation.id,
            style,
            text,
            question.category,
            (question.index,),
            gold[question.index],
            rewrite.speaker if rewrite else None,
        )


def _composed(
    corpus: Corpus, conversation: Conversation, gold: dict[int, frozenset[TurnId]]
) -> Iterator[Query]:
    for cluster in corpus.clusters:
        if cluster.conversation != conversation.id or not gold.keys() >= set(cluster.members):
            continue
        yield Query(
            f"{conversation.id}#{'+'.join(map(str, cluster.members))}",
            conversation.id,
            "composed",
            cluster.query.text,
            None,
            cluster.members,
            frozenset[str]().union(*(gold[member] for member in cluster.members)),  # type: ignore[arg-type]
            cluster.query.speaker,
        )
