"""No memory at all: everything that was said, or its end."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.errors import ConfigError
from unbidden.memory.protocol import IngestReport, Retrieved, SystemInfo
from unbidden.memory.tokens import count_tokens
from unbidden.memory.units import PROTOCOLS, Protocol, TurnUnit, one_of, turn_units
from unbidden.memory.windows import session_windows

if TYPE_CHECKING:
    from unbidden.corpus.models import Conversation, Session, Turn

HistoryForm = Literal["whole", "latest"]
HISTORY_FORMS: tuple[HistoryForm, ...] = get_args(HistoryForm)


class FullHistory:
    """The whole history, whatever is asked (All Dialogue History in THEANINE).

    Nothing is chosen, so `k` has no meaning of its own. With ``form="whole"``, the paper's
    system, a search returns the history in time order as one memory that comes from every turn in
    it: recall is 1 at any K unless `budget` cuts, and only precision and the number of turns
    covered tell what that costs. With ``form="latest"`` each turn is a memory and the last one
    comes first, so that `k` is the number of last turns: the baseline that only remembers what
    was said lately.

    Parameters
    ----------
    protocol : {"paper", "repaired"}
        Text form of a turn.
    form : {"whole", "latest"}
    budget : int or None
        Tokens for the history, as `unbidden.memory.tokens.count_tokens` counts them; the last
        turns that fit are kept, and none if the last alone does not fit. None keeps all.
    """

    info = SystemInfo(
        name="full-history",
        paper="All Dialogue History in THEANINE (arXiv 2406.10996)",
        needs_llm=False,
        provenance="exact",
        licence="Apache-2.0",
    )

    def __init__(
        self,
        *,
        protocol: Protocol = "paper",
        form: HistoryForm = "whole",
        budget: int | None = None,
    ) -> None:
        one_of("protocol", protocol, PROTOCOLS)
        one_of("form", form, HISTORY_FORMS)
        if budget is not None and budget < 1:
            raise ConfigError(
                "`budget` is out of range", expected="1 or more tokens, or None", got=str(budget)
            )
        self.protocol, self.form, self.budget = protocol, form, budget
        self.units: list[TurnUnit] = []
        self.text = ""

    def ingest(self, conversation: Conversation) -> IngestReport:
        """Keep the turns that fit; those that do not are counted as ``cut``."""
        pairs = [(session, turn) for session in conversation.sessions for turn in session.turns]
        kept = self._fitting(pairs)
        self.text = self._text(kept)
        fitting = {turn.id for _, turn in kept}
        self.units = [u for u in turn_units(conversation, self.protocol) if u.id in fitting]
        memories = min(1, len(kept)) if self.form == "whole" else len(kept)
        cut = {"cut": len(pairs) - len(kept)} if self.budget is not None else {}
        return IngestReport(units=len(pairs), memories=memories, events=cut)

    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return the history as one memory, or its last `k` turns; the query plays no part."""
        if k < 1 or not self.units:
            return []
        if self.form == "whole":
            return [Retrieved(self.text, tuple(unit.id for unit in self.units), 1.0)]
        return [
            Retrieved(unit.text, (unit.id,), float(len(self.units) - age), unit.time)
            for age, unit in enumerate(reversed(self.units[-k:]))
        ]

    def _fitting(self, pairs: list[tuple[Session, Turn]]) -> list[tuple[Session, Turn]]:
        """Return the longest end of the history that fits, by bisection over its beginning."""
        if self.budget is None:
            return pairs
        low, high = 0, len(pairs)
        while low < high:
            middle = (low + high) // 2
            if count_tokens(self._text(pairs[middle:])) <= self.budget:
                high = middle
            else:
                low = middle + 1
        return pairs[low:]

    def _text(self, pairs: list[tuple[Session, Turn]]) -> str:
        parts = []
        for _, group in groupby(pairs, key=lambda pair: pair[0].number):
            found = list(group)
            session = replace(found[0][0], turns=tuple(turn for _, turn in found))
            (window,) = session_windows(session, size=len(found), overlap=0, protocol=self.protocol)
            parts.append(window.text)
        return "\n\n".join(parts)
