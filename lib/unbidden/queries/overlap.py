"""How many of a query's words its gold turns hold: what word search can and cannot find."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.memory.tokens import unicode_tokens

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from unbidden.corpus.models import Corpus
    from unbidden.queries.build import Query

_FUNCTION_WORDS = """
a about after again all also am an and any are as at be been before being both but by can could did
do does doing done down during each few for from further get got had has have having he her here
hers him his how i if in into is it its just let ll me more most my myself no nor not now of off on
once only or other our ours out over own re s same shall she should so some such t than that the
their theirs them then there these they this those through to too under until up us ve very was we
were what when where which while who whom why will with would you your yours
"""
_STOP = frozenset(_FUNCTION_WORDS.split())
_COLUMNS = ["conversation", "query_id", "style", "category", "words", "value"]


def content_words(text: str) -> frozenset[str]:
    """Return the distinct words of a text that are no common function words.

    >>> sorted(content_words("Did I tell you about the boat?"))
    ['boat', 'tell']
    """
    return frozenset(token for token in unicode_tokens(text) if token not in _STOP)


def overlap_items(corpus: Corpus, queries: Sequence[Query]) -> pd.DataFrame:
    """Return the share of each query's content words that its gold turns hold, captions included.

    Returns
    -------
    DataFrame
        Columns ``conversation, query_id, style, category, words, value``; `value` is missing
        where a query has no gold turn in the conversation or no content word. No queries give
        no rows.
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
    frame = pd.DataFrame(records, columns=_COLUMNS)
    return frame.astype({"category": "Int8", "words": "int64", "value": "float64"})


def _known(held: Container[tuple[str, str]], query: Query) -> frozenset[str]:
    return frozenset(turn for turn in query.gold if (query.conversation, turn) in held)
