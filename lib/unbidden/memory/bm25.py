"""Word search: Okapi BM25 as LoCoMo-Conv runs it, on the `bm25s` library."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bm25s
import numpy as np

from unbidden.memory.protocol import IngestReport, SystemInfo
from unbidden.memory.tokens import TokeniserName, tokeniser
from unbidden.memory.topk import best_positions
from unbidden.memory.units import Protocol, TurnUnit, turn_units, unit_hits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from unbidden.corpus.models import Conversation
    from unbidden.memory.protocol import Retrieved


class OkapiIndex:
    """BM25 scores of documents, with the weights of Okapi BM25 as `rank_bm25` computes them.

    The weight of a word in n of N documents is log((N - n + 0.5) / (n + 0.5)); words in more than
    half of the documents would weigh less than nothing and get `epsilon` times the mean weight.
    `bm25s` has no such floor, so its (always positive) Lucene scores are rescaled word by word.

    Parameters
    ----------
    documents : iterable of list of str
        Tokens of each document; read once, and not kept.
    """

    def __init__(
        self,
        documents: Iterable[list[str]],
        *,
        k1: float = 1.5,
        b: float = 0.75,
        epsilon: float = 0.25,
    ) -> None:
        self._known: dict[str, int] = {}
        number = self._known.setdefault
        # Numbers in order of appearance: sums over words then have the same last bits in every run.
        ids = [[number(word, len(self._known)) for word in words] for words in documents]
        self.size = len(ids)
        if not self._known:
            return
        self._index = bm25s.BM25(k1=k1, b=b, method="lucene", dtype="float64", int_dtype="int32")
        self._index.index((ids, self._known), show_progress=False)
        found_in = np.diff(self._index.scores["indptr"])
        # Empty-vocabulary entries (bm25s may add one) occur nowhere and have no scores to scale.
        n = np.maximum(found_in, 1)
        lucene = np.log1p((self.size - n + 0.5) / (n + 0.5))
        okapi = np.log((self.size - n + 0.5) / (n + 0.5))
        okapi = np.where(okapi < 0, epsilon * okapi[found_in > 0].mean(), okapi)
        self._index.scores["data"] *= np.repeat((k1 + 1) * okapi / lucene, found_in)

    def scores(self, tokens: list[str]) -> NDArray[np.float64]:
        """Return the score of every document, shape (n_documents,), for a query's tokens."""
        known = [self._known[token] for token in tokens if token in self._known]
        if not known:
            return np.zeros(self.size)
        return np.asarray(self._index.get_scores_from_ids(known), dtype=np.float64)


class BM25:
    """Okapi BM25 over turns (LoCoMo-Conv section 4; k1 1.5, b 0.75, epsilon 0.25).

    A turn that shares no word with the query has score 0 and is not returned, so an unknown word
    retrieves nothing; equal scores keep conversation order.

    Parameters
    ----------
    protocol : {"paper", "repaired"}
        Text form of a turn.
    tokeniser : {"auto", "paper", "unicode"}
        See `unbidden.memory.tokens.tokeniser`; "auto" looks at the conversation.
    """

    info = SystemInfo(
        name="bm25",
        paper="Robertson and Zaragoza 2009; as in LoCoMo-Conv (arXiv 2609.03467)",
        needs_llm=False,
        provenance="exact",
        licence="MIT (bm25s)",
    )

    def __init__(
        self,
        *,
        protocol: Protocol = "paper",
        tokeniser: TokeniserName = "auto",
        k1: float = 1.5,
        b: float = 0.75,
        epsilon: float = 0.25,
    ) -> None:
        self.protocol, self.tokeniser_name = protocol, tokeniser
        self._weights = {"k1": k1, "b": b, "epsilon": epsilon}
        self._units: list[TurnUnit] = []
        self._tokens: Callable[[str], list[str]]
        self._index: OkapiIndex

    def ingest(self, conversation: Conversation) -> IngestReport:
        """Index every turn of a conversation."""
        self._units = turn_units(conversation, self.protocol)
        sample = "".join(unit.text for unit in self._units)
        self._tokens = tokeniser(self.tokeniser_name, sample)
        documents = (self._tokens(unit.text) for unit in self._units)
        self._index = OkapiIndex(documents, **self._weights)
        return IngestReport(len(self._units), len(self._units))

    def ranking(
        self, query: str, k: int | None = None
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return positions of the turns that share a word with a query, best first, and scores.

        Parameters
        ----------
        k : int or None
            Only the best so many; None gives all.
        """
        scores = self._index.scores(self._tokens(query))
        # Not "above 0": in a conversation of a turn or two, common words weigh less than nothing.
        found = np.flatnonzero(scores)
        best = found[best_positions(scores[found], k)]
        return best, scores[best]

    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return the `k` turns that share the weightiest words with a query."""
        return unit_hits(self._units, *self.ranking(query, k), k=k)
