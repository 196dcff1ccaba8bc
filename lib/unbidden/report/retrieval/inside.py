"""A look inside: what a system stored of a session, next to what was said."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from unbidden.errors import NotRecorded
from unbidden.memory.modelled import ModelledSystem
from unbidden.memory.presets import needs_model, system_options
from unbidden.memory.registry import create_system

if TYPE_CHECKING:
    from unbidden.config import RetrievalConfig
    from unbidden.corpus.models import Conversation, Corpus, Session
    from unbidden.llm.base import LLM
    from unbidden.memory.modelled import Stored


class Inside:
    """One session as each system with a model stored it, as escaped HTML.

    Parameters
    ----------
    session : int
        Position of the session, from 0, in the first conversation.
    """

    def __init__(
        self, corpus: Corpus, config: RetrievalConfig, llm: LLM, *, session: int = 0
    ) -> None:
        self._conversation: Conversation = corpus.conversations[0]
        self._session: Session = self._conversation.sessions[session]
        self._config, self._llm = config, llm

    def _repr_html_(self) -> str:
        turns = "".join(
            f"<li><b>{html.escape(turn.id)}</b> {html.escape(turn.speaker)}: "
            f"{html.escape(turn.text)}</li>"
            for turn in self._session.turns
        )
        systems = "".join(
            f"<details><summary>{html.escape(name)}</summary>{self._stored(name)}</details>"
            for name in self._config.systems
            if needs_model(name)
        )
        return (
            '<section class="unbidden-example">'
            f"<p>{html.escape(self._conversation.id)}, {html.escape(self._session.date_text)}</p>"
            f"<details><summary>What was said</summary><ul>{turns}</ul></details>{systems}"
            "</section>"
        )

    def __repr__(self) -> str:
        return f"{self._conversation.id}, session of {self._session.date_text}"

    def _stored(self, name: str) -> str:
        options: dict[str, Any] = {
            "llm": self._llm,
            "protocol": self._config.protocol,
            "embedder": self._config.embedder,
        }
        own = system_options(name, self._config.settings, self._config.system_options)
        system = create_system(name, own=own, **options)
        try:
            report = system.ingest(self._conversation)
        except NotRecorded:
            return "<p>Not run: its model calls are not on record.</p>"
        if not isinstance(system, ModelledSystem):
            return "<p>This system does not show its store.</p>"
        listed = "".join(map(_memory, system.stored(self._session)))
        forgotten = ", ".join(turn.id for turn in system.unstored(self._session)) or "none"
        failed = "".join(
            f"<li>{html.escape(failure.unit)}: {html.escape(failure.reason[:200])}</li>"
            for failure in report.failures
            if {turn.id for turn in self._session.turns} & set(failure.turns)
        )
        lost = f"<p>Failed:</p><ul>{failed}</ul>" if failed else ""
        return (
            f"<ul>{listed or '<li>nothing</li>'}</ul>"
            f"<p>Turns no memory comes from: {html.escape(forgotten)}.</p>{lost}"
        )


def _memory(stored: Stored) -> str:
    sources = ", ".join(turn.id for turn in stored.turns)
    more = f" and {len(stored.elsewhere)} of other sessions" if stored.elsewhere else ""
    return (
        f"<li><i>{html.escape(stored.record.kind)}</i> {html.escape(stored.record.text)} "
        f"<small>from {html.escape(sources)}{more}</small></li>"
    )
