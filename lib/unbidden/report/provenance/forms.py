"""How a cell of a table reads in prose: every form in which the study writes its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.report.tables import points, with_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_BOUNDS = {name: ("low", "high") for name in ("mean", "difference", "accepted", "accuracy")}


def cell_texts(row: Mapping[str, Any], column: str) -> Iterator[tuple[str, str]]:
    """Yield (form, text) for a cell: as a count, in points, with decimals, with its interval.

    >>> dict(cell_texts({"mean": 0.541, "low": 0.5, "high": 0.58}, "mean"))["interval"]
    '54.1 [50.0, 58.0]'
    """
    value = row[column]
    if isinstance(value, str):
        yield "text", value
        return
    if value is None or pd.isna(value):
        yield "missing", "–"
        return
    number = float(value)
    if number.is_integer():
        yield "count", f"{int(number):,}"
        yield "plain count", str(int(number))
    yield "percent", f"{number:.0%}".replace("%", " %")
    for digits in (0, 1, 2):
        yield from _signed(f"points, {digits} decimals", number, points(number, digits))
    for digits in (0, 1, 2, 3):
        text = f"{number:,.{digits}f}".replace("-", "−")
        yield from _signed(f"{digits} decimals", number, text)
    low, high = _interval(row, column)
    if low is not None and high is not None:
        yield "interval", with_interval(number, low, high)
        scaled = (value / 100 for value in (number, low, high))
        yield "interval as measured", with_interval(*scaled)
        yield "signed interval", _signed_interval(number, low, high)


def _signed(form: str, number: float, text: str) -> Iterator[tuple[str, str]]:
    yield form, text
    if number >= 0:
        yield f"{form}, signed", f"+{text}"


def _signed_interval(number: float, low: float, high: float) -> str:
    return f"{number:+.2f} [{low:+.2f}, {high:+.2f}]".replace("-", "−")


def _interval(row: Mapping[str, Any], column: str) -> tuple[float | None, float | None]:
    names = _BOUNDS.get(column, (f"{column}_low", f"{column}_high"))
    if not set(names) <= set(row):
        return None, None
    low, high = (row[name] for name in names)
    return (None, None) if pd.isna(low) or pd.isna(high) else (float(low), float(high))
