"""Word search over chunks of turns, so that K memories can be compared with K turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unbidden.memory.bm25 import OkapiIndex
from unbidden.memory.protocol import IngestReport, Retrieved, SystemInfo
from unbidden.memory.tokens import tokeniser
from unbidden.memory.windows import Window, session_windows

if TYPE_CHECKING:
    from collections.abc import Callable

    from unbidden.corpus.models import Conversation
    from unbidden.memory.units import Protocol


class WindowSearch:
    """Okapi BM25 over windows of three turns, each overlapping the next by one.

    Parameters
    ----------
    size, overlap : int
        See `unbidden.memory.windows.session_windows`; AnchorMem's 3 and 1.
    """

    info = SystemInfo(
        name="windows",
        paper="AnchorMem's chunks (arXiv 2604.17377), searched as `bm25` searches turns",
        needs_llm=False,
        provenance="exact",
        licence="Apache-2.0",
    )

    def __init__(self, *, protocol: Protocol = "paper", size: int = 3, overlap: int = 1) -> None:
        self.protocol, self.size, self.overlap = protocol, size, overlap
        self._windows: list[Window] = []
        self._tokens: Callable[[str], list[str]]
        self._index: OkapiIndex

    def ingest(self, conversation: Conversation) -> IngestReport:
        """Index every window of a conversation."""
        self._windows = [
            window
            for session in conversation.sessions
            for window in session_windows(
                session, size=self.size, overlap=self.overlap, protocol=self.protocol
            )
        ]
        self._tokens = tokeniser("auto", "".join(window.text for window in self._windows))
        self._index = OkapiIndex([self._tokens(window.text) for window in self._windows])
        return IngestReport(len(self._windows), len(self._windows))

    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return the `k` windows that share the weightiest words with a query."""
        scores = self._index.scores(self._tokens(query))
        best = np.argsort(-scores, kind="stable")
        return [
            Retrieved(
                self._windows[i].text, self._windows[i].ids, float(scores[i]), self._windows[i].time
            )
            for i in best[scores[best] != 0][:k]
        ]
