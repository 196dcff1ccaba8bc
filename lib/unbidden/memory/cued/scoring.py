"""From a message to the score of every turn, part by part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unbidden.memory.cued.cues import standardised
from unbidden.memory.cued.links import passed_on, top

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from unbidden.memory.cued.parts import Parts
    from unbidden.memory.cued.store import TurnStore

_CONSTANT = 60.0  # of reciprocal rank fusion, as in `rrf`


@dataclass(frozen=True, slots=True)
class Message:
    """What is searched for.

    Attributes
    ----------
    vector : array of shape (dimension,)
        Of the whole message.
    facets : array of shape (n_facets, dimension)
        Of its parts; no row if it has one part or parts are not used.
    words : array of shape (n_turns,)
        Okapi BM25 of each turn.
    speaker : str or None
        Who says it.
    """

    vector: NDArray[np.float32]
    facets: NDArray[np.float32]
    words: NDArray[np.float64]
    speaker: str | None


def contributions(
    store: TurnStore, message: Message, parts: Parts
) -> Mapping[str, NDArray[np.float64]]:
    """Return what each part adds to each turn's score, by part, each of shape (n_turns,).

    The score is their sum. A first search finds the turns whose mean vector `feedback` adds to the
    message; what a second search, with that vector, changes is the contribution of ``feedback``.
    """
    first = _search(store, message, parts, message.vector)
    if not parts.feedback:
        return first
    best = top(total(first)[None], parts.feedback_turns)[0]
    vector = message.vector + parts.feedback * store.vectors[best].mean(axis=0)
    second = _search(store, message, parts, vector)
    changed = {
        name: second[name] - first[name] for name in first if name not in ("who", "substance")
    }
    return {**first, "feedback": sum(changed.values(), np.zeros(len(store.units)))}


def total(found: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the score of each turn: the sum of its parts."""
    scores: NDArray[np.float64] = np.sum(list(found.values()), axis=0)
    return scores


def _search(
    store: TurnStore, message: Message, parts: Parts, vector: NDArray[np.float32]
) -> dict[str, NDArray[np.float64]]:
    found = _matches(store, message, parts, vector)
    own = total(found)  # what a turn has by itself, before its neighbours and whose it is
    if parts.answers:
        found["answers"] = parts.answers * passed_on(own, store.questions, store.follows)
    if parts.links and store.links.shape[1]:
        found["links"] = parts.links * own[store.links].mean(axis=1)
    if parts.causes and store.situations is not None and len(store.situations.causes):
        found["causes"] = parts.causes * _by_cause(own, store.situations.causes)
    if parts.who and message.speaker is not None:
        found["who"] = parts.who * (store.speakers == message.speaker)
    if parts.substance:
        found["substance"] = parts.substance * store.substance
    return found


def _matches(
    store: TurnStore, message: Message, parts: Parts, vector: NDArray[np.float32]
) -> dict[str, NDArray[np.float64]]:
    """Return how far turns match by meaning and by words."""
    cosines = (store.vectors @ vector).astype(np.float64)
    if parts.fusion == "ranks":
        ranks = _reciprocal(cosines)
        if parts.words:
            ranks = ranks + np.where(message.words != 0, _reciprocal(message.words), 0.0)
        return {"meaning": standardised(ranks)}
    found = {"meaning": standardised(cosines)}
    if parts.facets and len(message.facets):
        by_facet = standardised((message.facets @ store.vectors.T).astype(np.float64)).max(axis=0)
        found["facets"] = parts.facets * (by_facet - found["meaning"])
    if parts.situations and store.situations is not None:
        best = cosines.copy()
        np.maximum.at(best, store.situations.turns, store.situations.vectors @ vector)
        spread = float(cosines.std()) or 1.0
        found["situations"] = parts.situations * (best - cosines) / spread
    if parts.words:
        found["words"] = parts.words * message.words
    return found


def _reciprocal(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    found = np.empty(len(scores))
    found[np.argsort(-scores, kind="stable")] = 1 / (_CONSTANT + np.arange(1, len(scores) + 1))
    return found


def _by_cause(own: NDArray[np.float64], causes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return what each turn gets from its causes and consequences: the best of their scores.

    Never less than nothing: a cause that does not match is no reason against a turn.
    """
    best = np.zeros(len(own))
    np.maximum.at(best, causes[:, 0], own[causes[:, 1]])
    np.maximum.at(best, causes[:, 1], own[causes[:, 0]])
    return best
