"""The memory system whose cues a model writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unbidden.memory.cued.parts import Parts
from unbidden.memory.cued.situations import write_cues
from unbidden.memory.cued.store import write
from unbidden.memory.cued.system import Searcher
from unbidden.memory.embed import MINILM
from unbidden.memory.modelled import ModelledSystem
from unbidden.memory.protocol import SystemInfo
from unbidden.memory.records import RecordStore
from unbidden.memory.units import PROTOCOLS, Protocol, one_of, turn_units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Conversation
    from unbidden.llm import LLM
    from unbidden.memory.cued.explain import Explained
    from unbidden.memory.cued.situations import Written
    from unbidden.memory.protocol import Retrieved
    from unbidden.memory.records import Encodes
    from unbidden.memory.tokens import TokeniserName


class UnbiddenLLM(ModelledSystem):
    """`unbidden`, with cues by a model for the situations in which each turn would matter.

    The memories are the raw turns. A model reads each session in windows and says of the lines
    that tell something: whom it matters to, at what later occasion, what follows, what is then
    needed, and which line caused it. A turn is found through the best of its cues or its own
    words; causes and consequences pass on a share of their scores. One call for each window; no
    call while searching.

    Parameters
    ----------
    window : int
        New lines of a call.
    context : int
        Lines of the same session shown before them.
    parts : dict
        Weights by name, see `unbidden.memory.cued.parts.Parts`; the others keep their defaults.
    token_budget : int or None
        As in `Unbidden`.
    """

    info = SystemInfo(
        name="unbidden-llm",
        paper="this study",
        needs_llm=True,
        provenance="exact",
        licence="Apache-2.0",
    )

    def __init__(
        self,
        *,
        llm: LLM | None = None,
        embedder: str | Encodes = MINILM,
        attempts: int = 1,
        protocol: Protocol = "paper",
        tokeniser: TokeniserName = "auto",
        window: int = 8,
        context: int = 3,
        token_budget: int | None = None,
        parts: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(llm=llm, embedder=embedder, attempts=attempts)
        one_of("protocol", protocol, PROTOCOLS)
        self.protocol, self.tokeniser_name = protocol, tokeniser
        self.window, self.context = window, context
        self._searcher = Searcher(self.embedder, Parts(**(parts or {})), token_budget)
        self._turns = RecordStore(self.embedder, "turn")

    def stores(self) -> list[RecordStore]:
        """Return the store of turns; the index text of each shows its cues."""
        return [self._turns]

    def build(self, conversation: Conversation) -> None:
        """Ask for the cues of every window, and write the turns with them."""
        self._searcher.store = None
        self._turns = RecordStore(self.embedder, "turn")
        if not conversation.turns:
            return
        written = write_cues(
            conversation, self.calls, self.log, size=self.window, context=self.context
        )
        self._searcher.store = write(
            conversation,
            self.embedder,
            protocol=self.protocol,
            tokeniser_name=self.tokeniser_name,
            neighbours=self._searcher.parts.neighbours,
            cues=written.cues,
            causes=written.causes,
        )
        self._keep(conversation, written)

    def _keep(self, conversation: Conversation, written: Written) -> None:
        """Hold the turns as records, for pages that show what was stored."""
        cues: dict[str, list[str]] = {}
        for cue in written.cues:
            cues.setdefault(cue.turn, []).append(cue.text)
        place = {turn.id: f"turn{n}" for n, turn in enumerate(conversation.turns, start=1)}
        for unit in turn_units(conversation, self.protocol):
            self._turns.add(
                unit.text,
                (unit.id,),
                kind="turn",
                index_text="\n".join((unit.text, *cues.get(unit.id, []))),
                time=unit.time,
                links=tuple(place[a] for a, b in written.causes if b == unit.id),
            )

    def prepare(self, conversations: Sequence[Conversation], queries: Sequence[str]) -> None:
        """Encode all messages in one call; the turns wait for their cues."""
        self._searcher.prepare([], queries)

    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return at most `k` turns, best first."""
        return [item.hit for item in self.explain(query, k=k, speaker=speaker)]

    def explain(self, query: str, *, k: int, speaker: str | None = None) -> list[Explained]:
        """Return what `search` does, each turn with the parts of its score and the reasons."""
        return self._searcher.explain(query, k=k, speaker=speaker)
