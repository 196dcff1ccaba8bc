"""TeaFarm items as LoCoMo-Conv's counterfactual queries, and those as TeaFarm items.

Both are the same thing: a message that takes a wrong version of the past for granted, and the
truth. As queries TeaFarm's items can be searched for, scored by recall and judged like any other;
as items LoCoMo-Conv's queries can be put to an agent that talks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from unbidden.corpus.models import Question, Rewrite
from unbidden.errors import ConfigError
from unbidden.reply.teafarm.items import TeaItem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Conversation, Corpus, Style

STYLE: Style = "counterfactual"


def to_question(item: TeaItem, index: int) -> Question:
    """Return an item as a question of a LoCoMo-shaped corpus, whose only style it is.

    The further session has no place in it and is lost.

    Raises
    ------
    ConfigError
        If the item is unscored.
    """
    if item.unscored is not None:
        raise ConfigError(
            f"the item {item.id} has no question",
            got=item.unscored,
            next_step="leave unscored items out",
        )
    rewrite = Rewrite(item.question, item.speaker, asserted_wrong=item.false_part or None)
    return Question(
        index,
        item.about,
        item.category,
        item.evidence,
        answer=item.answer,
        rewrites={STYLE: rewrite},
    )


def from_question(conversation: Conversation, question: Question) -> TeaItem | None:
    """Return a question's counterfactual message as an item without a further session.

    None if it has no such message or no answer. A message that names no speaker is said by the
    first one, as in the paper's scripts.
    """
    rewrite = question.rewrites.get(STYLE)
    if rewrite is None or not rewrite.text.strip() or not (question.answer or "").strip():
        return None
    first, second = conversation.speakers
    speaker = second if rewrite.speaker == second else first
    return TeaItem(
        id=f"{conversation.id}#{question.index}",
        conversation=conversation.id,
        speaker=speaker,
        other=first if speaker == second else second,
        question=rewrite.text,
        answer=question.answer or "",
        false_part=rewrite.asserted_wrong or "",
        about=question.text,
        evidence=question.evidence,
        category=question.category,
    )


def items_of(corpus: Corpus) -> list[TeaItem]:
    """Return every counterfactual query of a corpus as an item, in order."""
    found = (
        from_question(conversation, question)
        for conversation in corpus.conversations
        for question in conversation.questions
    )
    return [item for item in found if item is not None]


def with_items(corpus: Corpus, items: Sequence[TeaItem]) -> Corpus:
    """Return a corpus whose questions are these items alone; unscored ones are left out.

    Conversations without an item stay, without questions. A question's index is the item's place
    among those of its conversation.
    """
    ready = [item for item in items if item.unscored is None]
    return replace(
        corpus,
        conversations=tuple(
            replace(
                conversation,
                questions=tuple(
                    to_question(item, i)
                    for i, item in enumerate(
                        [item for item in ready if item.conversation == conversation.id]
                    )
                ),
            )
            for conversation in corpus.conversations
        ),
        clusters=(),
    )
