"""The memory system without a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unbidden.errors import ConfigError
from unbidden.memory.cued.budget import within
from unbidden.memory.cued.cues import facets
from unbidden.memory.cued.explain import Explained, explained
from unbidden.memory.cued.links import top
from unbidden.memory.cued.parts import Parts
from unbidden.memory.cued.scoring import Message, contributions, total
from unbidden.memory.cued.store import write
from unbidden.memory.embed import MINILM
from unbidden.memory.embed import embedder as named_embedder
from unbidden.memory.protocol import IngestReport, SystemInfo
from unbidden.memory.units import PROTOCOLS, Protocol, one_of, turn_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from unbidden.corpus.models import Conversation
    from unbidden.memory.cued.store import TurnStore
    from unbidden.memory.protocol import Retrieved
    from unbidden.memory.records import Encodes
    from unbidden.memory.tokens import TokeniserName


_DECIMALS = 6
"""Scores are compared to so many places; the last bits differ between machines."""


@dataclass(frozen=True, slots=True)
class Found:
    """The turns found for a message, best first, and what each part adds to every turn."""

    best: NDArray[np.intp]
    parts: Mapping[str, NDArray[np.float64]]


class Searcher:
    """Searches a `TurnStore`; what `unbidden` and `unbidden-llm` have in common.

    Parameters
    ----------
    token_budget : int or None
        Most tokens shown (`unbidden.memory.tokens.count_tokens`), see `budget.within`.
    """

    def __init__(self, embedder: Encodes, parts: Parts, token_budget: int | None = None) -> None:
        if token_budget is not None and token_budget < 1:
            raise ConfigError(
                "`token_budget` is out of range",
                expected="1 or more, or None",
                got=str(token_budget),
            )
        self.embedder, self.parts, self.token_budget = embedder, parts, token_budget
        self.store: TurnStore | None = None
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def prepare(self, texts: Sequence[str], queries: Sequence[str]) -> None:
        """Encode turns, messages and, if they are used, their parts in one call."""
        wanted = dict.fromkeys(queries)
        if self.parts.facets:
            wanted |= dict.fromkeys(part for query in queries for part in facets(query))
        if wanted or texts:
            vectors = self.embedder.encode([*texts, *wanted])
            self._vectors = dict(zip(wanted, vectors[len(texts) :], strict=True))

    def message(self, query: str, speaker: str | None, store: TurnStore) -> Message:
        """Return a message as it is searched for."""
        pieces = facets(query) if self.parts.facets else []
        pieces = pieces if len(pieces) > 1 else []
        vectors = [self._vector(text) for text in (query, *pieces)]
        return Message(
            vectors[0],
            np.stack(vectors[1:]) if pieces else np.zeros((0, len(vectors[0])), np.float32),
            store.words.scores(store.tokens(query)),
            speaker,
        )

    def _vector(self, text: str) -> NDArray[np.float32]:
        known = self._vectors.get(text)
        return self.embedder.encode([text])[0] if known is None else known

    def find(self, query: str, *, k: int, speaker: str | None) -> Found:
        """Return the best turns for a message, at most `k` and within the budget."""
        store = self.store
        if store is None or k < 1:
            return Found(np.zeros(0, dtype=np.intp), {})
        parts = contributions(store, self.message(query, speaker, store), self.parts)
        count = len(store.units) if self.token_budget is not None else k
        best = top(np.round(total(parts), _DECIMALS)[None], count)[0]
        if self.token_budget is not None:
            best = within(best, [unit.text for unit in store.units], self.token_budget)[:k]
        return Found(best, parts)

    def explain(self, query: str, *, k: int, speaker: str | None) -> list[Explained]:
        """Return what is found, each with the parts of its score and the reasons in words."""
        found = self.find(query, k=k, speaker=speaker)
        if self.store is None or not len(found.best):
            return []
        return explained(self.store, query, found.best, found.parts)


class Unbidden:
    """Raw turns, found by who speaks, how much a turn says, its words, meaning and neighbours.

    Ours, made for messages that do not ask (see the guide, "Our own system"). Each turn is kept as
    it was said. At write time it gets cues that need no model: its speaker, its information
    content, whether it answers a question, its words and vector, and links to the turns nearest in
    meaning. A search scores every turn by each cue and adds up. `explain` gives the parts.

    Parameters
    ----------
    protocol : {"paper", "repaired"}
        Text form of a turn.
    embedder : str or Embedder
        See `unbidden.memory.embed.embedder`.
    tokeniser : {"auto", "paper", "unicode"}
        See `unbidden.memory.tokens.tokeniser`.
    parts : dict
        Weights by name, see `unbidden.memory.cued.parts.Parts`; the others keep their defaults.
    token_budget : int or None
        Most tokens shown; a turn that would overshoot it is passed over.
    """

    info = SystemInfo(
        name="unbidden",
        paper="this study",
        needs_llm=False,
        provenance="exact",
        licence="Apache-2.0",
    )

    def __init__(
        self,
        *,
        protocol: Protocol = "paper",
        embedder: str | Encodes = MINILM,
        tokeniser: TokeniserName = "auto",
        parts: dict[str, Any] | None = None,
        token_budget: int | None = None,
    ) -> None:
        one_of("protocol", protocol, PROTOCOLS)
        self.protocol, self.tokeniser_name = protocol, tokeniser
        made = named_embedder(embedder) if isinstance(embedder, str) else embedder
        self._searcher = Searcher(made, Parts(**(parts or {})), token_budget)

    @property
    def parts(self) -> Parts:
        """The weights of the parts."""
        return self._searcher.parts

    def prepare(self, conversations: Sequence[Conversation], queries: Sequence[str]) -> None:
        """Encode all turns and messages in one call."""
        texts = [
            turn_text(turn, session, self.protocol)
            for conversation in conversations
            for session in conversation.sessions
            for turn in session.turns
        ]
        self._searcher.prepare(texts, queries)

    def ingest(self, conversation: Conversation) -> IngestReport:
        """Write every turn of a conversation with its cues and links."""
        self._searcher.store = None
        if not conversation.turns:
            return IngestReport(0, 0)
        store = write(
            conversation,
            self._searcher.embedder,
            protocol=self.protocol,
            tokeniser_name=self.tokeniser_name,
            neighbours=self._searcher.parts.neighbours,
        )
        self._searcher.store = store
        events = {"questions": int(store.questions.sum()), "links": int(store.links.size)}
        return IngestReport(len(store.units), len(store.units), events=events)

    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return at most `k` turns, best first."""
        return [item.hit for item in self.explain(query, k=k, speaker=speaker)]

    def explain(self, query: str, *, k: int, speaker: str | None = None) -> list[Explained]:
        """Return what `search` does, each turn with the parts of its score and the reasons."""
        return self._searcher.explain(query, k=k, speaker=speaker)
