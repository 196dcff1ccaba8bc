"""How many of a query's words its gold turns hold: what word search can and cannot find."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from bm25s.stopwords import STOPWORDS_EN

from unbidden.memory.tokens import unicode_tokens

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from unbidden.corpus.models import Corpus
    from unbidden.queries.build import Query

_PRONOUNS = "i me my you your he she we us our do did does"
_STOP = frozenset(STOPWORDS_EN) | frozenset(_PRONOUNS.split(" "))


def content_words(text: str) -> frozenset[str]:
    """Return the distinct words of a text that are no common function words.

    >>> sorted(content_words("Did I tell you about the boat?"))
    ['about', 'boat', 'tell']
    """
    return frozenset(token for token in unicode_tokens(text) if token not in _STOP)


def overlap_items(corpus: Corpus, queries: Sequence[Query]) -> pd.DataFrame:
    """Return the share of each query's content words that its gold turns hold, captions included.

    Returns
    -------
    DataFrame
        Columns ``conversation, query_id, style, category, words, value``; `value` is missing
        where a query has no gold turn in the conversation or no content word.
    """
    held: dict[tuple[str, str], frozenset[str]] = {
        (conversation.id, turn.id): content_words(
            f"{turn.speaker} {turn.text} {turn.caption or ''}"
        )
        for conversation in corpus.conversations
        for turn in conversation.turns
    }
    records = []
    for query in queries:
        words = content_words(query.text)
        turns = [held[query.conversation, turn] for turn in query.gold & _known(held, query)]
        there = frozenset[str]().union(*turns)
        records.append(
            {
                "conversation": query.conversation,
                "query_id": query.id,
                "style": query.style,
                "category": query.category,
                "words": len(unicode_tokens(query.text)),
                "value": len(words & there) / len(words) if words and turns else float("nan"),
            }
        )
    frame = pd.DataFrame(records)
    return frame.astype({"category": "Int8"})


def _known(held: Container[tuple[str, str]], query: Query) -> frozenset[str]:
    return frozenset(turn for turn in query.gold if (query.conversation, turn) in held)
