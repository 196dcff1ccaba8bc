"""Tables of two runs beside each other, cell by cell: which differ, and by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from unbidden.report.comparing.runs import ChapterResults

_NAMING = {"k", "budget", "category", "session", "turn", "seed"}
_OUTCOMES = {"verdict", "test", "interval", "method", "note"}
TABLES = ["table", "state", "rows", "rows_in_one", "cells", "cells_differ", "largest_change"]
"""Columns of `table_changes`."""


def table_changes(first: ChapterResults, second: ChapterResults) -> pd.DataFrame:
    """Return one row per table of either run.

    Returns
    -------
    DataFrame
        Columns `TABLES`: ``state`` is equal, differs, other columns, only in the first run or only
        in the second; ``rows_in_one`` counts rows without a partner; ``largest_change`` is the
        largest absolute difference of a number. Cells of tables are not independent, so there is
        no interval: those are over items.
    """
    mine, theirs = first.table_files, second.table_files
    rows: list[list[object]] = []
    for name in dict.fromkeys([*mine, *theirs]):
        if name not in mine or name not in theirs:
            side = "first" if name in mine else "second"
            rows.append([name, f"only in the {side} run", None, None, None, None, None])
        else:
            rows.append([name, *_compared(first.table(name), second.table(name))])
    return pd.DataFrame(rows, columns=TABLES)


def _compared(a: pd.DataFrame, b: pd.DataFrame) -> list[object]:
    if list(a.columns) != list(b.columns):
        return ["other columns", None, None, None, None, None]
    if a.empty and b.empty:
        return ["equal", 0, 0, 0, 0, None]
    if a.empty or b.empty:
        return ["differs", 0, len(a) + len(b), 0, 0, None]
    values = [c for c in a.columns if _is_value(a[c]) and _is_value(b[c])]
    keys = [c for c in a.columns if c not in values and c not in _OUTCOMES]
    x, y = (_keyed(frame, keys) for frame in (a, b))
    both = x.index.intersection(y.index)
    lone = len(x) + len(y) - 2 * len(both)
    x, y = x.loc[both, values], y.loc[both, values]
    differ = ~(x.eq(y) | (x.isna() & y.isna())).to_numpy(bool)
    gaps = np.abs(x.to_numpy(float) - y.to_numpy(float))
    largest = None if not differ.any() or np.isnan(gaps).all() else float(np.nanmax(gaps))
    equal = not lone and not differ.any()
    state = "equal" if equal else "differs"
    return [state, len(both), lone, int(differ.size), int(differ.sum()), largest]


def _is_value(column: pd.Series) -> bool:
    """Return whether a column holds numbers that say something of a row rather than name it."""
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    return bool(numeric and column.name not in _NAMING)


def _keyed(frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Index rows by their texts, and by their place among rows with the same ones."""
    text = frame[keys].astype(str) if keys else pd.DataFrame(index=frame.index)
    repeat = text.groupby(keys).cumcount() if keys else pd.Series(range(len(frame)))
    index = pd.MultiIndex.from_arrays([*(text[key] for key in keys), repeat.to_numpy()])
    return frame.set_axis(index)
