"""Paired comparisons over the long table of items, with Holm's correction over each table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.report.summary import ordered_groups
from unbidden.stats import compare_paired, holm

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

COMPARED = [
    *("difference", "low", "high", "n", "conversations", "p", "p_t", "smallest_p", "detectable"),
    *("test", "p_holm", "p_t_holm", "verdict"),
]
"""Columns of a paired comparison."""


def style_drop(rows: pd.DataFrame, baseline: str = "question", *, seed: int = 0) -> pd.DataFrame:
    """Return each style's paired difference from plain questions, per system.

    A composed query is paired with the mean of its two members' questions. P-values are Holm's
    over all rows of the table.
    """
    records: list[dict[str, Any]] = []
    wide = {
        (system, style): group.set_index("query_id")["value"]
        for (system, style), group in ordered_groups(rows, ["system", "style"])
    }
    homes = rows.drop_duplicates("query_id").set_index("query_id")["conversation"]
    for (system, style), values in wide.items():
        base = wide.get((system, baseline))
        if style == baseline or base is None:
            continue
        paired = [_baseline(str(query), base) for query in values.index]
        compared = compare_paired(
            paired, values.to_numpy(float), list(homes.loc[values.index]), seed=seed
        )
        records.append({"system": system, "style": style, **_comparison(compared)})
    return _with_holm(records, ["system", "style"])


def system_pairs(rows: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Return the paired difference of every two systems on each style, Holm-corrected."""
    records: list[dict[str, Any]] = []
    for (style,), group in ordered_groups(rows, ["style"]):
        wide, homes = _side_by_side(group, "system")
        systems = list(dict.fromkeys(group["system"]))
        for i, first in enumerate(systems):
            for second in systems[i + 1 :]:
                compared = compare_paired(wide[first], wide[second], homes, seed=seed)
                records.append(
                    {"style": style, "first": first, "second": second, **_comparison(compared)}
                )
    return _with_holm(records, ["style", "first", "second"])


def against(rows: pd.DataFrame, reference: str, *, seed: int = 0) -> pd.DataFrame:
    """Return each system's paired difference from one of them, per metric and style.

    With many systems, all pairs are many tests of which most answer no question; Holm's
    correction is over the rows of this table.
    """
    records: list[dict[str, Any]] = []
    for (metric, style), group in ordered_groups(rows, ["metric", "style"]):
        wide, homes = _side_by_side(group, "system")
        for system in dict.fromkeys(group["system"]):
            if system == reference:
                continue
            compared = compare_paired(wide[reference], wide[system], homes, seed=seed)
            key = {"metric": metric, "style": style, "system": system}
            records.append({**key, **_comparison(compared)})
    return _with_holm(records, ["metric", "style", "system"])


def condition_effect(rows: pd.DataFrame, first: str, second: str, *, seed: int = 0) -> pd.DataFrame:
    """Return the paired change from one condition to another, per style and system."""
    records: list[dict[str, Any]] = []
    for (style, system), group in ordered_groups(rows, ["style", "system"]):
        wide, homes = _side_by_side(group, "condition")
        compared = compare_paired(wide[first], wide[second], homes, seed=seed)
        records.append(
            {
                "style": style,
                "system": system,
                first: float(wide[first].mean()),
                second: float(wide[second].mean()),
                **_comparison(compared),
            }
        )
    return _with_holm(records, ["style", "system", first, second])


def paired_differences(
    pairs: Iterable[tuple[Mapping[str, Any], ArrayLike, ArrayLike, Sequence[Hashable]]],
    *,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the paired difference, second minus first, of pairs that name themselves.

    Parameters
    ----------
    pairs : iterable of (keys, first, second, conversations)
        The columns that name a row, two arrays of the same items (NaN where unscored), and the
        conversation of each item. P-values are Holm's over all rows.

    Returns
    -------
    DataFrame
        The keys, then `COMPARED`; without pairs no row and no keys.
    """
    records = [
        {**keys, **_comparison(compare_paired(first, second, homes, seed=seed))}
        for keys, first, second, homes in pairs
    ]
    return _with_holm(records, [name for name in next(iter(records), ()) if name not in COMPARED])


def _side_by_side(rows: pd.DataFrame, of: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the values with a row for each query and a column for each of `of`, and its home."""
    wide = rows.pivot(index="query_id", columns=of, values="value")
    homes = rows.drop_duplicates("query_id").set_index("query_id")["conversation"]
    return wide, list(homes.loc[wide.index])


def _baseline(query: str, base: pd.Series[float]) -> float:
    home, _, members = query.rpartition("#")
    found = [base.get(f"{home}#{member}", float("nan")) for member in members.split("+")]
    return sum(found) / len(found)


def _comparison(compared: Any) -> dict[str, Any]:
    difference = compared.difference
    return {
        "difference": difference.mean,
        "low": difference.low,
        "high": difference.high,
        "n": difference.n,
        "conversations": difference.clusters,
        "p": compared.p_value,
        "p_t": compared.p_t,
        "smallest_p": compared.smallest_p,
        "detectable": compared.detectable,
        "test": compared.method,
    }


def _with_holm(records: list[dict[str, Any]], keys: Sequence[str]) -> pd.DataFrame:
    """Add Holm's p-values over all rows, and what they tell in words.

    The columns are `keys` and `COMPARED`, also where nothing could be compared.
    """
    for name in ("p", "p_t"):
        adjusted = holm([record[name] for record in records])
        for record, p in zip(records, adjusted, strict=True):
            record[f"{name}_holm"] = p
    tests = sum(record["p"] is not None for record in records)
    for record in records:
        record["verdict"] = _verdict(record, tests)
    return pd.DataFrame(records, columns=[*keys, *COMPARED])


def _verdict(record: dict[str, Any], tests: int) -> str:
    """Return "differs" by the sign flip, or by t alone where no sign flip could tell."""
    if record["p"] is None:
        return "not tested"
    if record["p_holm"] < 0.05:
        return "differs"
    out_of_reach = record["smallest_p"] * tests >= 0.05
    if out_of_reach and record["p_t_holm"] is not None and record["p_t_holm"] < 0.05:
        return "differs (t)"
    return "not distinguishable"
