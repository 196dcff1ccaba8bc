"""What is written of a conversation: raw turns as values, and the cues they are found by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unbidden.memory.bm25 import OkapiIndex
from unbidden.memory.cued.cues import asks, information, standardised
from unbidden.memory.cued.links import nearest
from unbidden.memory.tokens import tokeniser
from unbidden.memory.units import turn_units

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from unbidden.corpus.models import Conversation, TurnId
    from unbidden.memory.records import Encodes
    from unbidden.memory.tokens import TokeniserName
    from unbidden.memory.units import Protocol, TurnUnit


@dataclass(frozen=True, slots=True)
class Cue:
    """A situation, written by a model, in which a turn would matter."""

    turn: TurnId
    text: str


@dataclass(frozen=True, slots=True)
class Situations:
    """Cues as they are searched: which turn each belongs to, and which turns are joined by cause.

    Attributes
    ----------
    cues : tuple of Cue
    vectors : array of shape (n_cues, dimension)
    turns : array of shape (n_cues,)
        Position of each cue's turn.
    causes : array of shape (n_pairs, 2)
        Positions of a cause and of what came of it.
    """

    cues: tuple[Cue, ...]
    vectors: NDArray[np.float32]
    turns: NDArray[np.intp]
    causes: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class TurnStore:
    """A conversation, written. All arrays have one row for each turn, in time order.

    Attributes
    ----------
    speakers : array of str
        Who says it.
    substance : array of float
        Logarithm of the information content, standardised.
    questions, follows : array of bool
        Whether a turn asks; whether one by another speaker is before it in its session.
    links : array of shape (n, neighbours)
        Positions of the turns nearest in meaning.
    """

    units: tuple[TurnUnit, ...]
    vectors: NDArray[np.float32]
    words: OkapiIndex
    tokens: Callable[[str], list[str]]
    speakers: NDArray[np.str_]
    substance: NDArray[np.float64]
    questions: NDArray[np.bool_]
    follows: NDArray[np.bool_]
    links: NDArray[np.intp]
    situations: Situations | None = None


def write(
    conversation: Conversation,
    embedder: Encodes,
    *,
    protocol: Protocol,
    tokeniser_name: TokeniserName,
    neighbours: int,
    cues: Sequence[Cue] = (),
    causes: Sequence[tuple[TurnId, TurnId]] = (),
) -> TurnStore:
    """Return the store of a conversation that has at least one turn.

    Parameters
    ----------
    causes : sequence of (TurnId, TurnId)
        A cause, and what came of it.
    """
    units = tuple(turn_units(conversation, protocol))
    tokens = tokeniser(tokeniser_name, "".join(unit.text for unit in units))
    documents = [tokens(unit.text) for unit in units]
    said = [tokens(f"{turn.text} {turn.caption or ''}") for turn in conversation.turns]
    texts = list(dict.fromkeys(cue.text for cue in cues))
    encoded = embedder.encode([*(unit.text for unit in units), *texts])
    vectors = encoded[: len(units)]
    questions, follows = _order(conversation)
    return TurnStore(
        units=units,
        vectors=vectors,
        words=OkapiIndex(documents),
        tokens=tokens,
        speakers=np.array([turn.speaker for turn in conversation.turns]),
        substance=standardised(np.log1p(information(said))),
        questions=questions,
        follows=follows,
        links=nearest(vectors, neighbours),
        situations=_situations(
            units, cues, causes, dict(zip(texts, encoded[len(units) :], strict=True))
        ),
    )


def _order(conversation: Conversation) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    questions, follows = [], []
    for session in conversation.sessions:
        before = None
        for turn in session.turns:
            questions.append(asks(turn.text))
            follows.append(before is not None and before != turn.speaker)
            before = turn.speaker
    return np.array(questions, dtype=bool), np.array(follows, dtype=bool)


def _situations(
    units: Sequence[TurnUnit],
    cues: Sequence[Cue],
    causes: Sequence[tuple[TurnId, TurnId]],
    vectors: dict[str, NDArray[np.float32]],
) -> Situations | None:
    if not cues:
        return None
    place = {unit.id: i for i, unit in enumerate(units)}
    return Situations(
        cues=tuple(cues),
        vectors=np.stack([vectors[cue.text] for cue in cues]),
        turns=np.array([place[cue.turn] for cue in cues], dtype=np.intp),
        causes=np.array([(place[a], place[b]) for a, b in causes], dtype=np.intp).reshape(-1, 2),
    )
