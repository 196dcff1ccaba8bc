"""Keeping what is shown within a number of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unbidden.memory.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def within(best: NDArray[np.intp], texts: Sequence[str], budget: int) -> NDArray[np.intp]:
    """Return the turns of a ranking that fit a token budget, in their order.

    Turns are taken in order; one that would overshoot is passed over, and shorter ones after it
    may still fit. A budget that not even the first turn fits gives nothing.

    Parameters
    ----------
    best : array of shape (n_ranked,)
        Positions in `texts`, best first.
    """
    left, kept = budget, []
    for i in best:
        cost = count_tokens(texts[i])
        if cost <= left:
            kept.append(i)
            left -= cost
        if left < 1:
            break
    return np.array(kept, dtype=np.intp)
