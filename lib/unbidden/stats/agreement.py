"""Agreement of two or more people, or judges, beyond chance.

Cohen's kappa is unweighted and for two. Krippendorff's alpha is over all, knows missing labels and
the order of an ordinal scale; it comes from the `krippendorff` library (extra `agree`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import ArrayLike

Level = Literal["nominal", "ordinal"]

NO_LIBRARY = "the library krippendorff is not installed (extra `agree`)"
ONE_VALUE = "all labels are equal: agreement beyond chance is not defined"


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Return Cohen's unweighted kappa of two people's labels; NaN if chance alone agrees fully.

    >>> cohen_kappa(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"])
    0.5
    """
    n = len(first)
    agreed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    ones, others = Counter(first), Counter(second)
    chance = sum(ones[value] * others[value] for value in ones) / n**2
    return (agreed - chance) / (1 - chance) if chance < 1 else float("nan")


def krippendorff_alpha(ranks: ArrayLike, level: Level) -> tuple[float, str | None]:
    """Return alpha, or NaN and why there is none.

    Parameters
    ----------
    ranks : array-like of shape (n_people, n_units)
        The rank of each label on its scale, NaN where there is none.
    """
    values = np.asarray(ranks, dtype=float)
    if len(np.unique(values[~np.isnan(values)])) < 2:
        return float("nan"), ONE_VALUE
    try:
        import krippendorff
    except ImportError:
        return float("nan"), NO_LIBRARY
    return float(krippendorff.alpha(reliability_data=values, level_of_measurement=level)), None
