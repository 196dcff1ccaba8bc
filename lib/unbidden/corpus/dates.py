"""Session dates, read the same under every locale."""

from __future__ import annotations

import datetime as dt
import re

_MONTHS = [
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
]
_LOCOMO = re.compile(
    r"(\d{1,2}):(\d{2})\s*([ap])\.?m\.?\s+on\s+(\d{1,2})\s+([a-z]+),?\s+(\d{4})", re.IGNORECASE
)


def month_name(month: int) -> str:
    """Return the English name of a month, under any locale.

    >>> month_name(5)
    'May'
    """
    return _MONTHS[month - 1].capitalize()


def parse_session_date(text: str) -> dt.datetime | None:
    """Return the naive time a session date string names, or None if it names none.

    Twelve o'clock am is hour 0 (fourteen LoCoMo sessions start then). ISO 8601 is read too.

    >>> parse_session_date("12:09 am on 13 September, 2023")
    datetime.datetime(2023, 9, 13, 0, 9)
    >>> parse_session_date("1:56 pm on 8 May, 2023")
    datetime.datetime(2023, 5, 8, 13, 56)
    >>> parse_session_date("2024-03-01T08:30")
    datetime.datetime(2024, 3, 1, 8, 30)
    >>> parse_session_date("some day") is None
    True
    """
    match = _LOCOMO.fullmatch(text.strip())
    try:
        if match is None:
            return dt.datetime.fromisoformat(text.strip()).replace(tzinfo=None)
        hour, minute, half, day, month, year = match.groups()
        if not 1 <= int(hour) <= 12:
            return None
        return dt.datetime(
            int(year),
            _MONTHS.index(month.lower()) + 1,
            int(day),
            int(hour) % 12 + (12 if half.lower() == "p" else 0),
            int(minute),
        )
    except ValueError:
        return None
