"""Turns around a hit: what was said just before and after it, in the same session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def insert_neighbours(
    ranking: Sequence[int], sessions: Sequence[int], *, radius: int = 1
) -> list[int]:
    """Return a ranking in which each hit is followed by its neighbours, each turn once.

    The nearest come first, the earlier one before the later. At a fixed K they push later hits
    out, so this is a trade, not a gift.

    Parameters
    ----------
    ranking : sequence of int
        Positions of turns, best first.
    sessions : sequence of int
        Session of the turn at each position; neighbours are of the same session.

    Examples
    --------
    >>> insert_neighbours([2, 0], [1, 1, 1, 2])
    [2, 1, 0]
    """
    found: dict[int, None] = {}
    for hit in ranking:
        found[hit] = None
        for distance in range(1, radius + 1):
            for place in (hit - distance, hit + distance):
                if 0 <= place < len(sessions) and sessions[place] == sessions[hit]:
                    found[place] = None
    return list(found)


def smooth(
    scores: NDArray[np.float64], sessions: Sequence[int], *, radius: int = 1, weight: float = 0.5
) -> NDArray[np.float64]:
    """Return scores to which part of the best neighbour's score is added, shape (n_turns,).

    A turn between two hits comes up even if it shares no word with the query, as answers such as
    "Yes, last week" do.

    Examples
    --------
    >>> import numpy as np
    >>> smooth(np.array([4.0, 0.0, 0.0]), [1, 1, 2]).tolist()
    [4.0, 2.0, 0.0]
    """
    home = np.asarray(sessions)
    best = np.zeros(len(scores))
    for distance in range(1, radius + 1):
        if distance >= len(scores):
            break
        same = home[distance:] == home[:-distance]
        best[distance:] = np.maximum(best[distance:], np.where(same, scores[:-distance], 0.0))
        best[:-distance] = np.maximum(best[:-distance], np.where(same, scores[distance:], 0.0))
    return np.asarray(scores, dtype=np.float64) + weight * best
