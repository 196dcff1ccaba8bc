"""The errors a user can meet, each saying what, expected, got and what to do next."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class UnbiddenError(Exception):
    """Base of every error this package raises on purpose.

    Parameters
    ----------
    what : str
        What went wrong, one sentence.
    expected, got : str, optional
        What was needed and what was there.
    next_step : str, optional
        What the reader can do about it.
    """

    def __init__(
        self,
        what: str,
        *,
        expected: str | None = None,
        got: str | None = None,
        next_step: str | None = None,
    ) -> None:
        self.what, self.expected, self.got, self.next_step = what, expected, got, next_step
        parts = [what]
        for label, value in (("expected", expected), ("got", got), ("next", next_step)):
            if value is not None:
                parts.append(f"  {label}: {value}")
        super().__init__("\n".join(parts))


class DataError(UnbiddenError):
    """A data file is missing, altered, truncated or not of the documented form."""


class ConfigError(UnbiddenError):
    """A parameter, name or setting is unknown or out of range."""


class LLMError(UnbiddenError):
    """A model call cannot be made or replayed."""


class NotRecorded(LLMError):  # noqa: N818 - reads as what is the case
    """A call is to be replayed and is not on record."""


class BudgetExceeded(UnbiddenError):  # noqa: N818 - a stop on purpose, not a fault
    """A run stopped cleanly because its budget of calls, tokens or money is spent."""


def closest(name: str, known: Iterable[str]) -> str:
    """Return a hint with the nearest known names.

    >>> closest("dnese", ["bm25", "dense"])
    'did you mean dense? (known: bm25, dense)'
    >>> closest("zzz", ["bm25"])
    'known: bm25'
    """
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=2, cutoff=0.5)
    listing = ", ".join(names)
    if near:
        return f"did you mean {' or '.join(near)}? (known: {listing})"
    return f"known: {listing}"
