"""What replies are made from: queries, what systems found for them, and the turns themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from unbidden.errors import ConfigError, closest
from unbidden.memory.units import PROTOCOLS, turn_text
from unbidden.reply.rules import REPAIRED, ReplyRules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unbidden.corpus.models import Conversation, Corpus, Session, Turn, TurnId
    from unbidden.llm import LLM
    from unbidden.memory.protocol import Retrieved
    from unbidden.queries.build import Query
    from unbidden.retrieval.run import Rankings

ORIGINAL = "original"
"""Name of the rankings of the queries as they were said."""

Places = dict["TurnId", tuple["Session", "Turn"]]


@dataclass(frozen=True, slots=True)
class Shown:
    """One memory to be shown.

    Attributes
    ----------
    text : str or None
        As a system gave it; None for a turn that a condition took from the conversation.
    sources : tuple of TurnId
        Turns it comes from.
    turn : TurnId or None
        The turn it is, word for word.
    """

    text: str | None
    sources: tuple[TurnId, ...]
    turn: TurnId | None = None

    @classmethod
    def of_turn(cls, turn: TurnId) -> Shown:
        """Return a turn taken from the conversation."""
        return cls(None, (turn,), turn)


@dataclass(frozen=True)
class Material:
    """Queries with all that a condition may draw on.

    Attributes
    ----------
    queries : sequence of Query
        Those to be replied to.
    rankings : mapping of str to Rankings
        Of one system: "original", and "convergent" or "facets" from `retrieve_rewritten`. Each
        covers the queries.
    llm : LLM or None
        For the condition that compresses.
    """

    corpus: Corpus
    queries: Sequence[Query]
    rankings: Mapping[str, Rankings] = field(default_factory=dict)
    llm: LLM | None = None
    rules: ReplyRules = REPAIRED

    @cached_property
    def _places(self) -> dict[str, Places]:
        return {talk.id: places(talk) for talk in self.corpus.conversations}

    @cached_property
    def _positions(self) -> dict[str, dict[tuple[str, str], int]]:
        return {
            name: {(query.style, query.id): i for i, query in enumerate(ranking.queries)}
            for name, ranking in self.rankings.items()
        }

    @cached_property
    def _verbatim(self) -> dict[str, dict[TurnId, frozenset[str]]]:
        return {
            key: {
                turn.id: frozenset(turn_text(turn, session, p) for p in PROTOCOLS)
                for session, turn in found.values()
            }
            for key, found in self._places.items()
        }

    def places(self, query: Query) -> Places:
        """Return each turn of the query's conversation with its session, in order."""
        return self._places[query.conversation]

    def ranking(self, name: str) -> Rankings:
        """Return rankings by name.

        Raises
        ------
        ConfigError
            If they were not given.
        """
        if name not in self.rankings:
            raise ConfigError(
                f"there are no rankings {name!r} to reply from",
                expected=closest(name, self.rankings) if self.rankings else "rankings of a system",
                got=", ".join(self.rankings) or "none",
                next_step="run `retrieve` or `retrieve_rewritten` first and give its result to "
                "Material(rankings={...}), or leave the condition out",
            )
        return self.rankings[name]

    def hits(self, name: str, query: Query, k: int) -> tuple[list[Retrieved], str | None]:
        """Return the first `k` memories found for a query, and why they are none to reply from.

        Raises
        ------
        ConfigError
            If the rankings are missing, do not cover the query, or are less than `k` deep.
        """
        ranking = self.ranking(name)
        position = self._positions[name].get((query.style, query.id))
        if position is None or k > ranking.depth:
            raise ConfigError(
                f"the rankings {name!r} of {ranking.system} do not hold what is asked of them",
                expected=f"{k} memories for query {query.id} ({query.style})",
                got="no such query" if position is None else f"{ranking.depth} memories",
                next_step="retrieve for the same queries, with a `depth` of at least k",
            )
        return ranking.hits[position][:k], ranking.unfit(position)

    def shown(self, query: Query, hit: Retrieved) -> Shown:
        """Return a system's memory, recognised as a turn where it is one word for word."""
        turn = hit.sources[0] if len(hit.sources) == 1 else None
        known = self._verbatim[query.conversation]
        verbatim = turn is not None and hit.text in known.get(turn, frozenset())
        return Shown(hit.text, hit.sources, turn if verbatim else None)


def places(conversation: Conversation) -> Places:
    """Return each turn of a conversation with its session, in order."""
    return {turn.id: (session, turn) for session in conversation.sessions for turn in session.turns}
