"""The fault ledger as the chapter shows it: a table, a forest plot, numbers for the text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.report import figures
from unbidden.report.faults.ledger import (
    FAULTS,
    headlines,
    is_measured,
    measured_headlines,
    measured_switches,
)
from unbidden.report.tables import points, with_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REPRODUCE = "faults='[\"{}\"]'"


def shown_ledger(effects: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each switch and data set: what it moves, from and to what, by how much."""
    rows = headlines(effects)
    return pd.DataFrame(
        {
            "switch": [FAULTS[name].title for name in rows["fault"]],
            "from, to": [f"{a} → {b}" if a else "–" for a, b in _pairs(rows, "first", "second")],
            "data": _data(rows),
            "moves": rows["measure"],
            "before": [_value(row, "before") for row in rows.to_dict("records")],
            "change": [change(row) for row in rows.to_dict("records")],
            "n": rows["n"],
            "-p faults=": [f'["{name}"]' for name in rows["fault"]],
        },
        dtype=object,
    )


def shown_effects(effects: pd.DataFrame) -> pd.DataFrame:
    """Return every measured effect as text."""
    rows = effects[is_measured(effects)].reset_index(drop=True)
    return pd.DataFrame(
        {
            "switch": rows["fault"],
            "from, to": [f"{a} → {b}" for a, b in _pairs(rows, "first", "second")],
            "data": _data(rows),
            "moves": rows["measure"],
            "before": [_value(row, "before") for row in rows.to_dict("records")],
            "change": [change(row) for row in rows.to_dict("records")],
            "n": rows["n"],
            "conv.": rows["clusters"],
        },
        dtype=object,
    )


def shown_reasons() -> pd.DataFrame:
    """Return what is wrong or open about each switch, where, and how the study has it."""
    return pd.DataFrame(
        [
            {
                "switch": fault.title,
                "name": name,
                "why": fault.why,
                "where": fault.source,
                "elsewhere in the study": fault.switch or "–",
            }
            for name, fault in FAULTS.items()
        ],
        dtype=object,
    )


def change(row: dict[Any, Any]) -> str:
    """Return a change with its interval in the row's unit, or why there is none."""
    if row["unscored"] == row["unscored"] and row["unscored"]:
        return str(row["unscored"])
    triple = [row[name] for name in ("difference", "low", "high")]
    if row["unit"] == "share":
        return with_interval(*triple)
    if row["unit"] == "ratio":
        return f"× {with_interval(*(_shifted(v) for v in triple))}"
    # Already in points, or a count: `with_interval` multiplies by 100.
    return with_interval(*(v if v is None or pd.isna(v) else v / 100 for v in triple))


def _shifted(value: float | None) -> float | None:
    """Return a ratio less 1 as the ratio itself, for `with_interval`."""
    return value if value is None or pd.isna(value) else (1 + value) / 100


def _value(row: dict[Any, Any], name: str) -> str:
    value = row[name]
    if value is None or pd.isna(value):
        return "–"
    return points(value) if row["unit"] in ("share", "ratio") else points(value / 100)


def _data(rows: pd.DataFrame) -> list[str]:
    when = rows["when"] if "when" in rows else ["this run"] * len(rows)
    return [
        f"{dataset}, {then}" if then == "recorded" else dataset
        for dataset, then in zip(rows["dataset"], when, strict=True)
    ]


def _pairs(rows: pd.DataFrame, first: str, second: str) -> list[tuple[str, str]]:
    return [
        (str(a), str(b)) if isinstance(a, str) and a else ("", "")
        for a, b in zip(rows[first], rows[second], strict=True)
    ]


def forest(effects: pd.DataFrame) -> Figure:
    """Draw the headline change of each switch and data set that is in points, with intervals."""
    rows = headlines(effects[is_measured(effects) & effects["unit"].isin(["share", "points"])])
    scale = rows["unit"].map({"share": 100.0, "points": 1.0})
    for column in ("difference", "low", "high"):
        rows[column] = rows[column].astype(float) * scale
    rows["title"] = [FAULTS[name].title for name in rows["fault"]]
    rows["data"] = _data(rows)
    return figures.forest(rows, x="Change of the measure (points)")


def fault_numbers(live: pd.DataFrame, effects: pd.DataFrame) -> dict[str, str]:
    """Return what the text says of the ledger: how many switches, and each headline's change.

    Names: ``switches``, ``switches_measured``, ``switches_clear`` (an interval without 0), and
    ``fault_NAME_DATASET``.

    Parameters
    ----------
    live, effects : DataFrame
        This run's effects, and those with the recorded ones.
    """
    names = measured_switches(effects)
    rows = measured_headlines(effects)
    clear = rows[(rows["low"] > 0) | (rows["high"] < 0)]
    numbers = {
        "switches": str(len(FAULTS)),
        "switches_measured": str(len(names)),
        "switches_clear": str(clear["fault"].nunique()),
    }
    for row in measured_headlines(live).to_dict("records"):
        numbers[f"fault_{row['fault']}_{row['dataset']}"] = change(row)
    return numbers
