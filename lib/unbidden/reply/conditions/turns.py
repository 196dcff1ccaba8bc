"""Conditions made of the conversation's own turns; no memory system takes part."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unbidden.errors import ConfigError
from unbidden.reply.conditions.base import Remembered, Thinking
from unbidden.reply.material import Shown
from unbidden.retrieval.score import NO_GOLD

if TYPE_CHECKING:
    from collections.abc import Collection

    from unbidden.corpus.models import TurnId
    from unbidden.queries.build import Query
    from unbidden.reply.material import Material
    from unbidden.reply.render import End

UNKNOWN_GOLD = "the evidence names no turn of the conversation"


@dataclass(frozen=True, slots=True)
class Oracle:
    """The gold turns, in the order of the conversation.

    Parameters
    ----------
    neighbours : int
        Turns before and after each gold turn that are shown too, inside its session.
    """

    neighbours: int = 0
    k: int | None = None
    rankings: str | None = None
    thinking: Thinking = "none"
    gold: bool = True

    def __post_init__(self) -> None:
        if self.neighbours < 0:
            raise ConfigError(
                "`neighbours` is out of range", expected="0 or more", got=str(self.neighbours)
            )

    @property
    def name(self) -> str:
        """The condition's name; without neighbours it is the plain oracle."""
        return "oracle_context" if self.neighbours else "oracle"

    def remember(self, material: Material) -> list[Remembered]:
        """Return the gold turns of each query; none is unscored, see `ReplyRules.empty_oracle`."""
        return [self._one(material, query) for query in material.queries]

    def _one(self, material: Material, query: Query) -> Remembered:
        if not query.gold:
            return Remembered(unscored=NO_GOLD)
        found = material.places(query)
        known = query.gold & found.keys()
        if not known and material.rules.empty_oracle == "unscored":
            return Remembered(unscored=UNKNOWN_GOLD)
        lost = len(query.gold) - len(known)
        notes = (f"{lost} of {len(query.gold)} evidence ids name no turn",) if lost else ()
        return Remembered(self._with_neighbours(material, query, known), notes=notes)

    def _with_neighbours(
        self, material: Material, query: Query, known: Collection[TurnId]
    ) -> tuple[Shown, ...]:
        wanted: list[TurnId] = []
        for session in material.corpus.conversation(query.conversation).sessions:
            ids = [turn.id for turn in session.turns]
            hits = [i for i, turn in enumerate(ids) if turn in known]
            wanted += [
                turn
                for i, turn in enumerate(ids)
                if any(abs(i - hit) <= self.neighbours for hit in hits)
            ]
        return tuple(Shown.of_turn(turn) for turn in wanted)


@dataclass(frozen=True, slots=True)
class NoMemory:
    """Nothing but the message."""

    name: str = "no_memory"
    k: int | None = None
    rankings: str | None = None
    thinking: Thinking = "none"
    gold: bool = False

    def remember(self, material: Material) -> list[Remembered]:
        """Return nothing, for each query."""
        return [Remembered() for _ in material.queries]


@dataclass(frozen=True, slots=True)
class RandomMemory:
    """Random turns of the conversation, in its order.

    Parameters
    ----------
    k : int, optional
        How many; by default as the rules say: 10, or the paper's 3.
    seed : int
        With it and the query's id the draw is fixed. As the id is the same in every style, so are
        the turns, and styles can be paired.
    with_gold : bool
        Whether gold turns may be drawn; the paper's are never gold.
    """

    k: int | None = None
    seed: int = 42
    with_gold: bool = False
    name: str = "random"
    rankings: str | None = None
    thinking: Thinking = "none"
    gold: bool = False

    def __post_init__(self) -> None:
        if self.k is not None:
            _positive(self.k)

    def remember(self, material: Material) -> list[Remembered]:
        """Return the drawn turns of each query; fewer, with a note, where there are not enough."""
        drawn = random.Random(self.seed)
        by_key = material.rules.random_seeds == "key"
        return [
            self._one(material, query, self._seed(query) if by_key else drawn.randrange(2**32))
            for query in material.queries
        ]

    def _seed(self, query: Query) -> int:
        digest = hashlib.sha256(f"{self.seed}|{query.id}".encode()).digest()
        return int.from_bytes(digest[:8], "big")

    def _one(self, material: Material, query: Query, seed: int) -> Remembered:
        barred = frozenset() if self.with_gold else query.gold
        turns = [turn for turn in material.places(query) if turn not in barred]
        wanted = material.rules.random_turns if self.k is None else self.k
        count = min(wanted, len(turns))
        chosen = sorted(random.Random(seed).sample(range(len(turns)), count))
        notes = (f"only {count} turns to draw from",) if count < wanted else ()
        return Remembered(tuple(Shown.of_turn(turns[i]) for i in chosen), notes=notes)


@dataclass(frozen=True, slots=True)
class AllMemory:
    """The whole conversation, clipped to the limit.

    Parameters
    ----------
    keep : {"end", "start"}
        Which end is kept; the paper keeps the latest.
    """

    keep: End = "end"
    name: str = "all_memory"
    k: int | None = None
    rankings: str | None = None
    thinking: Thinking = "none"
    gold: bool = False

    def __post_init__(self) -> None:
        if self.keep not in ("start", "end"):
            raise ConfigError("unknown end to keep", expected="start or end", got=str(self.keep))

    def remember(self, material: Material) -> list[Remembered]:
        """Return every turn, for each query."""
        return [
            Remembered(
                tuple(Shown.of_turn(turn) for turn in material.places(query)),
                keep=self.keep,
                history=True,
            )
            for query in material.queries
        ]


def _positive(k: int) -> None:
    if k < 1:
        raise ConfigError("`k` is out of range", expected="1 or more memories", got=str(k))
