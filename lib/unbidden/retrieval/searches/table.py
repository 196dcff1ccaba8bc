"""The scores of every turn for every query of one conversation, made once for all searches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from unbidden.memory.embed import MINILM, Embedder
from unbidden.memory.embed import embedder as named_embedder
from unbidden.memory.tokens import tokeniser
from unbidden.memory.units import TurnUnit, turn_units

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from unbidden.corpus.models import Conversation
    from unbidden.memory.bm25 import OkapiIndex
    from unbidden.memory.units import Protocol
    from unbidden.queries.build import Query


@dataclass(frozen=True)
class ScoreTable:
    """One conversation's turns and what two searches think of them.

    Attributes
    ----------
    queries : sequence of Query
        Those asked, in order.
    units : sequence of TurnUnit
        The turns, in time order.
    sessions : sequence of int
        Session of each turn.
    speakers : sequence of str
        Who said each turn.
    last_date : str
        Date of the last session, as its turns show it.
    split : callable
        From a text to its words.
    tokens : sequence of list of str
        Words of each turn, and in `query_tokens` of each query.
    words : array of shape (n_queries, n_turns)
        Okapi BM25.
    vectors, query_vectors : arrays of shape (n_turns, dimension) and (n_queries, dimension)
        Unit vectors.
    word_scores : dict of str to array
        Scores of single words, as they come to be needed.
    """

    queries: Sequence[Query]
    units: Sequence[TurnUnit]
    sessions: Sequence[int]
    speakers: Sequence[str]
    last_date: str
    split: Callable[[str], list[str]]
    index: OkapiIndex
    tokens: Sequence[list[str]]
    query_tokens: Sequence[list[str]]
    words: NDArray[np.float64]
    vectors: NDArray[np.float32]
    query_vectors: NDArray[np.float32]
    word_scores: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    @property
    def cosines(self) -> NDArray[np.float32]:
        """Cosine of each query with each turn, shape (n_queries, n_turns)."""
        found: NDArray[np.float32] = self.query_vectors @ self.vectors.T
        return found


def score_table(
    conversation: Conversation,
    queries: Sequence[Query],
    *,
    protocol: Protocol = "paper",
    embedder: str | Embedder = MINILM,
) -> ScoreTable:
    """Return the table of one conversation."""
    # Late: its library warns of missing widgets when it is imported, before a page can say not to.
    from unbidden.memory.bm25 import OkapiIndex

    encoder = named_embedder(embedder) if isinstance(embedder, str) else embedder
    units = turn_units(conversation, protocol)
    split = tokeniser("auto", "".join(unit.text for unit in units))
    tokens = [split(unit.text) for unit in units]
    index = OkapiIndex(tokens)
    asked = [query.text for query in queries]
    query_tokens = [split(text) for text in asked]
    vectors = encoder.encode([*(unit.text for unit in units), *asked])
    return ScoreTable(
        queries=queries,
        units=units,
        sessions=[s.number for s in conversation.sessions for _ in s.turns],
        speakers=[turn.speaker for turn in conversation.turns],
        last_date=conversation.sessions[-1].date_text if conversation.sessions else "",
        split=split,
        index=index,
        tokens=tokens,
        query_tokens=query_tokens,
        words=np.array([index.scores(found) for found in query_tokens]),
        vectors=vectors[: len(units)],
        query_vectors=vectors[len(units) :],
    )


def ranked(scores: NDArray[np.floating], *, drop_zero: bool = False) -> list[int]:
    """Return positions best first, ties in time order; with `drop_zero` those of score 0 left out.

    >>> import numpy as np
    >>> ranked(np.array([0.0, 2.0, 1.0]), drop_zero=True)
    [1, 2]
    """
    best = np.argsort(-scores, kind="stable")
    return [int(i) for i in best if not drop_zero or scores[i] != 0]
