"""Which questions are asked: some of each conversation's, and those a model makes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from unbidden.llm.attempt import Attempt, attempt
from unbidden.reply.teafarm.convert import items_of
from unbidden.reply.teafarm.making import make_items

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Conversation, Corpus
    from unbidden.llm import LLM
    from unbidden.reply.teafarm.items import TeaItem

NOT_RECORDED = "not on record"
"""How the reason begins of what a replayed run does not know."""


def spread(items: Sequence[TeaItem], count: int) -> list[TeaItem]:
    """Return so many items at equal distances, the first among them; all if there are fewer.

    >>> spread(["a", "b", "c", "d", "e"], 2)
    ['a', 'c']
    """
    if count >= len(items):
        return list(items)
    return [items[i * len(items) // count] for i in range(count)]


def converted(corpus: Corpus, per_conversation: int) -> list[TeaItem]:
    """Return counterfactual queries of each conversation as items, spread over its queries."""
    every = items_of(corpus)
    return [
        item
        for talk in corpus.conversations
        for item in spread([one for one in every if one.conversation == talk.id], per_conversation)
    ]


def made(
    llm: LLM, conversations: Sequence[Conversation], *, utterances: tuple[int, int]
) -> tuple[list[TeaItem], list[Attempt[list[TeaItem]]]]:
    """Return the items a model makes of each conversation, and what is missing of them.

    Where calls are not on record the conversation has no item, and its attempt says how many calls
    are known to be missing.

    Raises
    ------
    ConfigError, LLMError, BudgetExceeded
        As `make_items`.
    """

    def ask(talk: Conversation, model: LLM) -> list[TeaItem]:
        return make_items(model, talk, utterances=utterances)

    attempts = [attempt(llm, partial(ask, talk)) for talk in conversations]
    return [item for one in attempts for item in one.value or []], attempts
