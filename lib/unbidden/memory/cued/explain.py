"""Why a turn was brought to mind: the parts of its score, and the same in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unbidden.memory.protocol import Retrieved

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from unbidden.memory.cued.store import TurnStore

_MOST_WORDS = 5


@dataclass(frozen=True, slots=True)
class Explained:
    """A turn that was brought to mind, with the reasons.

    Attributes
    ----------
    parts : mapping of str to float
        What each part of the search adds; their sum is the score.
    reasons : tuple of str
        In words, the weightiest first; parts that add nothing have none.
    """

    hit: Retrieved
    parts: Mapping[str, float]
    reasons: tuple[str, ...]


def explained(
    store: TurnStore,
    query: str,
    best: NDArray[np.intp],
    parts: Mapping[str, NDArray[np.float64]],
) -> list[Explained]:
    """Return the turns at the positions `best`, each with its parts and reasons.

    `Retrieved.via` names the question or linked turn through which a turn was found if, without
    its neighbours' scores, it would not be among as many.
    """
    asked = dict.fromkeys(store.tokens(query))
    walked = sum((parts[name] for name in ("answers", "links") if name in parts), np.zeros(1))
    alone = np.sum(list(parts.values()), axis=0) - walked
    bound = np.partition(alone, -len(best))[-len(best)]
    found = []
    for i in map(int, best):
        own = {name: float(values[i]) for name, values in parts.items()}
        via = _via(store, parts, i) if alone[i] < bound else None
        unit = store.units[i]
        hit = Retrieved(unit.text, (unit.id,), sum(own.values()), unit.time, via)
        ordered = sorted((name for name in own if own[name] > 0), key=lambda name: -own[name])
        texts = [_reason(name, store, asked, i) for name in ordered]
        found.append(Explained(hit, own, tuple(text for text in texts if text)))
    return found


def _via(store: TurnStore, parts: Mapping[str, NDArray[np.float64]], i: int) -> str | None:
    answers, links = (float(parts[n][i]) if n in parts else 0.0 for n in ("answers", "links"))
    if answers > max(0.0, links):
        return str(store.units[i - 1].id)
    return str(store.units[store.links[i][0]].id) if links > 0 else None


def _reason(name: str, store: TurnStore, asked: Mapping[str, None], i: int) -> str:
    """Return why a part speaks for a turn."""
    if name == "words":
        there = set(store.tokens(store.units[i].text))
        shared = sorted((word for word in asked if word in there), key=lambda w: (-len(w), w))
        return f"shares the words {', '.join(shared[:_MOST_WORDS])}"
    if name == "answers":
        return f"answers the question {store.units[i - 1].id}"
    if name == "links":
        return f"is near {', '.join(str(store.units[j].id) for j in store.links[i])}"
    return {
        "meaning": "is near the message in meaning",
        "facets": "is near a part of the message",
        "situations": "was noted for a situation like this",
        "causes": "is a cause or consequence of a turn that matches",
        "who": f"was said by {store.speakers[i]}, who speaks now",
        "substance": "says more than most turns",
        "feedback": "is like the best turns of a first search",
    }[name]
