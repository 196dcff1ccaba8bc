"""The best of many scores, without sorting them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def best_positions(scores: NDArray[Any], k: int | None = None) -> NDArray[np.intp]:
    """Return the positions of the `k` highest scores, best first; ties in order of position.

    The same as the beginning of a stable sort of all scores, in linear time.

    Parameters
    ----------
    scores : array of shape (n,)
        Without NaN.
    k : int or None
        None sorts all.

    Examples
    --------
    >>> best_positions(np.array([1.0, 3.0, 2.0, 3.0]), 3).tolist()
    [1, 3, 2]
    """
    if k is None or 4 * k >= len(scores):
        return np.argsort(-scores, kind="stable")[:k]
    if k < 1:
        return np.empty(0, dtype=np.intp)
    last = np.partition(scores, len(scores) - k)[len(scores) - k]
    above = np.flatnonzero(scores > last)
    chosen = np.sort(np.concatenate([above, np.flatnonzero(scores == last)[: k - len(above)]]))
    found: NDArray[np.intp] = chosen[np.argsort(-scores[chosen], kind="stable")]
    return found
