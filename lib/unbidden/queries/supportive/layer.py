"""Supportive memory: turns that are no gold evidence and still helped a reply (section 3.3).

The paper adds a turn where a system's reply cited it and was judged no worse than the reply given
the gold turns. The systems under test so choose what they are measured by. `held_out` names
systems that have no vote; a released layer can be read without their votes too.

Memories carry the ids of their source turns here; the paper looks for a turn's text inside them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from unbidden.corpus.models import ConversationId, TurnId
from unbidden.errors import ConfigError, DataError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

QuestionKey = tuple[ConversationId, int]
"""A conversation and a question's index in it."""
Winner = Literal["cot", "tie", "oracle"]
PAPER_VOTERS = ("BM25", "Dense", "A-mem", "AnchorMem")
"""The systems that voted in the release, as it spells them."""


@dataclass(frozen=True, slots=True)
class SupportiveTurn:
    """A turn and the systems that vote for it, sorted."""

    turn: TurnId
    systems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layer:
    """The supportive turns of questions.

    Attributes
    ----------
    turns : dict of QuestionKey to tuple of SupportiveTurn
        In string order of turn ids, as released.
    held_out : tuple of str
        Systems that had no vote.
    ignored : dict of str to int
        What gave no vote when the layer was built, by reason.
    """

    turns: Mapping[QuestionKey, tuple[SupportiveTurn, ...]]
    held_out: tuple[str, ...] = ()
    ignored: Mapping[str, int] | None = None

    def ids(self, key: QuestionKey) -> frozenset[TurnId]:
        """Return the supportive turns of a question; empty if it has none."""
        return frozenset(item.turn for item in self.turns.get(key, ()))

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems with a vote that counts, sorted."""
        return tuple(sorted({name for _, item in self for name in item.systems}))

    def __iter__(self) -> Iterator[tuple[QuestionKey, SupportiveTurn]]:
        for key, items in self.turns.items():
            for item in items:
                yield key, item

    def without(self, held_out: Collection[str]) -> Layer:
        """Return the layer that the other systems' votes make.

        Raises
        ------
        ConfigError
            If one of the systems has no vote in it.
        """
        if unknown := sorted(set(held_out) - set(self.systems)):
            raise ConfigError(
                f"no votes of {', '.join(unknown)} in this layer",
                expected=f"systems among {', '.join(self.systems)}",
                next_step="correct `held_out`; the names are compared letter by letter",
            )
        votes = {
            (key, item.turn): [name for name in item.systems if name not in held_out]
            for key, item in self
        }
        left_out = tuple(sorted({*self.held_out, *held_out}))
        return Layer(_layer_turns(votes), left_out, self.ignored)


@dataclass(frozen=True, slots=True)
class Citation:
    """What one system's chain-of-thought reply to an implicit query cited.

    Attributes
    ----------
    shown : tuple of tuple of TurnId
        Source turns of each memory in the prompt, in its order.
    cited : tuple
        Numbers of memories as the model wrote them, from 1; may hold anything.
    """

    conversation: ConversationId
    question: int
    system: str
    shown: tuple[tuple[TurnId, ...], ...]
    cited: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which reply was better: the one from the system's cited memories or the oracle's."""

    conversation: ConversationId
    question: int
    system: str
    winner: Winner


def build_layer(
    citations: Iterable[Citation],
    verdicts: Iterable[Verdict],
    gold: Mapping[QuestionKey, Collection[TurnId]],
    *,
    held_out: Collection[str] = (),
    depth: int = 10,
) -> Layer:
    """Return the layer by the paper's definition, without the votes of systems held out.

    A system votes for a turn if its reply cites one of the first `depth` memories, that memory
    comes from the turn, the reply won or tied, and the turn is no gold evidence.

    Parameters
    ----------
    held_out : collection of str
        Empty for the paper's circular definition.

    Raises
    ------
    DataError
        If a system has two citation records or two verdicts for a question, or a question has no
        entry in `gold`.
    """
    won = _winners(verdicts)
    votes: dict[tuple[QuestionKey, TurnId], list[str]] = {}
    ignored: Counter[str] = Counter()
    seen: set[tuple[QuestionKey, str]] = set()
    for item in citations:
        key = (item.conversation, item.question)
        if (key, item.system) in seen or key not in gold:
            problem = "no gold turns given" if key not in gold else "two citation records"
            raise form_error(f"{key[0]}#{key[1]} of {item.system}", "one record, and gold", problem)
        seen.add((key, item.system))
        winner = won.get((key, item.system))
        if item.system in held_out:
            ignored["system held out"] += 1
        elif winner is None:
            ignored["no verdict"] += 1
        elif winner == "oracle":
            ignored["the oracle's reply was better"] += 1
        else:
            for turn in _cited_turns(item, depth, ignored):
                if turn in gold[key]:
                    ignored["gold turn"] += 1
                else:
                    votes.setdefault((key, turn), []).append(item.system)
    return Layer(_layer_turns(votes), tuple(sorted(held_out)), dict(ignored))


def _winners(verdicts: Iterable[Verdict]) -> dict[tuple[QuestionKey, str], Winner]:
    won: dict[tuple[QuestionKey, str], Winner] = {}
    for verdict in verdicts:
        place = ((verdict.conversation, verdict.question), verdict.system)
        if place in won or verdict.winner not in ("cot", "tie", "oracle"):
            where = f"{verdict.conversation}#{verdict.question} of {verdict.system}"
            raise form_error(where, "one verdict: cot, tie or oracle", repr(verdict.winner))
        won[place] = verdict.winner
    return won


def _cited_turns(item: Citation, depth: int, ignored: Counter[str]) -> list[TurnId]:
    """Return the turns of cited memories, without repeats; count numbers that name none."""
    turns: dict[TurnId, None] = {}
    shown = item.shown[:depth]
    for number in item.cited:
        if not isinstance(number, int) or isinstance(number, bool):
            ignored["citation is no whole number"] += 1
        elif not 1 <= number <= len(shown):
            ignored["citation names no memory"] += 1
        else:
            turns.update(dict.fromkeys(shown[number - 1]))
    return list(turns)


def _layer_turns(
    votes: Mapping[tuple[QuestionKey, TurnId], Collection[str]],
) -> dict[QuestionKey, tuple[SupportiveTurn, ...]]:
    turns: dict[QuestionKey, list[SupportiveTurn]] = {}
    for (key, turn), systems in votes.items():
        if systems:
            item = SupportiveTurn(turn, tuple(sorted(systems)))
            turns.setdefault(key, []).append(item)
    return {key: tuple(sorted(items, key=lambda item: item.turn)) for key, items in turns.items()}


def form_error(where: str, expected: str, got: str) -> DataError:
    """Return the error of a record that is not of the form asked for."""
    return DataError(
        f"{where} is not of the supportive-memory form",
        expected=expected,
        got=got[:200],
        next_step="correct or remove the record",
    )
