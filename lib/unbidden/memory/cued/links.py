"""Links between turns: to the question before, and to the turns nearest in meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 512  # rows compared at once: 42,000 turns then need 86 MB, not 7 GB


def nearest(vectors: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """Return for each turn the positions of those nearest to it, nearest first.

    Parameters
    ----------
    vectors : array of shape (n, dimension)
        Of length 1.

    Returns
    -------
    array of shape (n, min(count, n - 1))
        A turn is not its own neighbour; equal cosines keep conversation order.
    """
    n = len(vectors)
    count = max(0, min(count, n - 1))
    found = np.empty((n, count), dtype=np.intp)
    if not count:
        return found
    for start in range(0, n, _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, n))
        # The last bits depend on the machine and the shape of the product; equal turns tie.
        cosines = np.round(vectors[rows] @ vectors.T, 5)
        cosines[np.arange(len(rows)), rows] = -np.inf
        found[rows] = top(cosines, count)
    return found


def top(scores: NDArray[np.floating], count: int) -> NDArray[np.intp]:
    """Return the positions of the largest scores of each row, largest first, ties in order.

    Without sorting whole rows, which is slow for many turns.
    """
    if count >= scores.shape[-1]:
        return np.argsort(-scores, axis=-1, kind="stable")
    bound = np.partition(scores, -count, axis=-1)[..., -count, None]
    # Ties at the bound: all are candidates, and the stable sort below takes the first of them.
    width = int((scores >= bound).sum(axis=-1).max())
    some = np.sort(np.argpartition(-scores, width - 1, axis=-1)[..., :width], axis=-1)
    order = np.argsort(-np.take_along_axis(scores, some, -1), axis=-1, kind="stable")
    return np.take_along_axis(some, order, -1)[..., :count]


def passed_on(
    scores: NDArray[np.float64], questions: NDArray[np.bool_], follows: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return what each turn gets from the question before it: that question's score, else 0.

    Parameters
    ----------
    scores : array of shape (n,)
    questions : array of shape (n,)
        Whether a turn asks.
    follows : array of shape (n,)
        Whether a turn has another before it in its session, by another speaker.
    """
    found = np.zeros_like(scores)
    found[1:] = np.where(follows[1:] & questions[:-1], scores[:-1], 0.0)
    return found
