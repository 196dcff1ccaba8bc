"""How far two judges of written queries agree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unbidden.stats.agreement import cohen_kappa

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two judges on yes-or-no verdicts.

    Attributes
    ----------
    n : int
        Items with both verdicts.
    first_yes, second_yes : int
        How many of them each judge passes.
    raw : float or None
        Share of equal verdicts, 0..1; None without items.
    kappa : float or None
        Cohen's kappa; None without items, and where both judges give one and the same verdict
        throughout, since chance alone would then agree.
    """

    n: int
    first_yes: int
    second_yes: int
    raw: float | None
    kappa: float | None


def agreement(pairs: Iterable[tuple[bool | None, bool | None]]) -> Agreement:
    """Return the agreement of pairs of verdicts; pairs with a missing verdict are left out.

    >>> agreement([(True, True), (True, False), (False, False), (False, False), (None, True)])
    Agreement(n=4, first_yes=2, second_yes=1, raw=0.75, kappa=0.5)
    >>> agreement([(True, True)]).kappa is None
    True
    """
    both = [(one, two) for one, two in pairs if one is not None and two is not None]
    n = len(both)
    first, second = sum(one for one, _ in both), sum(two for _, two in both)
    if not n:
        return Agreement(0, 0, 0, None, None)
    raw = sum(one == two for one, two in both) / n
    kappa = cohen_kappa(*zip(*both, strict=True))
    return Agreement(n, first, second, raw, None if math.isnan(kappa) else kappa)
