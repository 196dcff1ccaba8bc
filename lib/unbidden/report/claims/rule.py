"""The rule that turns measured intervals into a verdict on a claim; nothing else decides.

A claim is a bound on a quantity, such as *the difference is above 0*. A measured part

* **holds** if its whole 95 % interval lies on the claimed side of the bound;
* **does not hold** if the whole interval lies on the other side;
* **cannot be told here** otherwise: without an interval, with fewer than `LEAST` items, with an
  interval of no width (all items alike, which is a limit of the method and no certainty), or with
  one that contains the bound.

What was counted and not sampled has no interval; it is compared as it is. A claim of several parts
holds if every part holds, does not hold if one part does not, and cannot be told otherwise. As all
parts must hold, their number calls for no correction; that one part of many can refute a claim by
chance is the price, and the parts are shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterable

Verdict = Literal["holds", "does not hold", "cannot be told here"]
HOLDS: Verdict = "holds"
FAILS: Verdict = "does not hold"
OPEN: Verdict = "cannot be told here"
LEAST = 10
"""Fewer items decide nothing."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What a claim says of a quantity.

    Attributes
    ----------
    side : {"above", "below"}
    value : float
        In the unit of the quantity.
    """

    side: Literal["above", "below"]
    value: float = 0.0

    def __str__(self) -> str:
        return f"{self.side} {self.value:g}".replace("-", "−")


@dataclass(frozen=True, slots=True)
class Measured:
    """One measured part of a claim; the columns of a chapter's table ``evidence``.

    Attributes
    ----------
    claim : str
        Key of the claim.
    part : str
        What was measured.
    dataset, model : str
        On which data; with which model, "none" if no model took part.
    estimate, low, high : float or None
        The quantity and its 95 % interval.
    n, clusters : int
        Items, and conversations or episodes, behind it.
    chapter, table : str
        Where it is shown: the chapter's file name and the table's name.
    unit : {"share", "points"}
        "share" is shown in points, times a hundred; "points" as it is.
    exact : bool
        Whether it is a count of everything and no sample.
    note : str
        What else a reader must know.
    """

    claim: str
    part: str
    dataset: str
    model: str
    estimate: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    chapter: str
    table: str
    unit: Literal["share", "points"] = "share"
    exact: bool = False
    note: str = ""


def judged(part: Measured, bound: Bound) -> Verdict:
    """Return the verdict on one part.

    >>> def part(low, high, n=50):
    ...     return Measured("c", "p", "d", "none", (low + high) / 2, low, high, n, 5, "", "")
    >>> above = Bound("above")
    >>> judged(part(0.1, 0.3), above), judged(part(-0.3, -0.1), above)
    ('holds', 'does not hold')
    >>> judged(part(-0.1, 0.3), above)
    'cannot be told here'
    >>> judged(part(0.1, 0.3, n=4), above), judged(part(0.2, 0.2), above)
    ('cannot be told here', 'cannot be told here')
    """
    if _missing(part.estimate):
        return OPEN
    assert part.estimate is not None
    if part.exact:
        low = high = part.estimate
    elif part.n < LEAST or _missing(part.low) or _missing(part.high):
        return OPEN
    else:
        assert part.low is not None and part.high is not None
        low, high = part.low, part.high
        if high - low <= 0:
            return OPEN
    beyond, short = (low > bound.value, high < bound.value)
    if bound.side == "below":
        beyond, short = short, beyond
    return HOLDS if beyond else FAILS if short else OPEN


def combined(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on a claim from those on its parts.

    >>> combined(["holds", "holds"]), combined(["holds", "does not hold"]), combined([])
    ('holds', 'does not hold', 'cannot be told here')
    """
    found = set(verdicts)
    if FAILS in found:
        return FAILS
    return HOLDS if found == {HOLDS} else OPEN


def across(verdicts: Iterable[Verdict]) -> str:
    """Return one word on a claim from its verdicts on several data sets.

    >>> across(["holds", "cannot be told here"]), across(["holds", "does not hold"])
    ('holds', 'mixed')
    """
    found = set(verdicts)
    if {HOLDS, FAILS} <= found:
        return "mixed"
    return HOLDS if HOLDS in found else FAILS if FAILS in found else OPEN


def _missing(value: float | None) -> bool:
    return value is None or bool(pd.isna(value))
