"""From the long table of items to the tables of a chapter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.corpus.models import CATEGORIES, STYLES
from unbidden.memory.presets import needs_model
from unbidden.stats import bootstrap_mean, clustered_mean, compare_paired, holm

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike

COMPARED = [
    *("difference", "low", "high", "n", "conversations", "p", "p_t", "smallest_p", "detectable"),
    *("test", "p_holm", "p_t_holm", "verdict"),
]
"""Columns of a paired comparison."""


def select(
    items: pd.DataFrame, metric: str, k: int | None = None, *, answerable: bool = True
) -> pd.DataFrame:
    """Return the rows of one metric, by default without category 5.

    An adversarial question cites the turn that tempts to a wrong answer, so finding it is no
    success; the tables that include it say so.
    """
    rows = items[items["metric"] == metric]
    if k is not None:
        rows = rows[rows["k"] == k]
    if answerable:
        rows = rows[rows["category"].ne(5).fillna(True)]  # composed queries have no category
    return rows


def scored_systems(items: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of systems with a value anywhere; a system that was not run has none."""
    scored = items.groupby("system")["value"].transform(lambda values: values.notna().any())
    return items[scored]


def without_model(items: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of systems that ask no model; all rows where every system asks one."""
    kinds = {name: needs_model(name) for name in items["system"].unique()}
    kept = items[~items["system"].map(kinds).astype(bool)]
    return items if kept.empty else kept


def shared_conversations(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of conversations in which every system of the rows has a value."""
    scored = rows[rows["value"].notna()].groupby("conversation")["system"].nunique()
    return rows[rows["conversation"].isin(scored[scored == rows["system"].nunique()].index)]


def shared_items(rows: pd.DataFrame, of: str, item: Sequence[str]) -> pd.DataFrame:
    """Return the scored rows of the items that everyone compared has a score for.

    Means over different questions do not say who is best: one of two may have the easier ones.

    Parameters
    ----------
    of : str
        The column of those that are compared; who has no score at all is not.
    item : sequence of str
        The columns that tell items apart.
    """
    scored = rows[rows["value"].notna()]
    everyone = scored[of].nunique()
    whole = scored.groupby(list(item))[of].transform("nunique") == everyone
    return scored[whole]


def leaders(found: Mapping[str, Mapping[Any, Any]], names: Sequence[str]) -> list[str]:
    """Return who of these has the highest mean: several where they are equal.

    >>> leaders({"a": {"mean": 0.5}, "b": {"mean": 0.5}, "c": {"mean": 1}}, ["a", "b"])
    ['a', 'b']
    """
    known = [name for name in names if name in found]
    best = max((found[name]["mean"] for name in known), default=0.0)
    return [name for name in known if found[name]["mean"] >= best - 1e-9]


def means(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return mean, interval, items, conversations and unscored items for each group of `by`.

    The values are shares, so intervals are cut at 0 and 1.
    """
    records = []
    for key, group in _groups(rows, by):
        interval = clustered_mean(group["value"], list(group["conversation"]))
        records.append(
            {
                **dict(zip(by, key, strict=True)),
                "mean": interval.mean,
                "low": None if interval.low is None else max(0.0, interval.low),
                "high": None if interval.high is None else min(1.0, interval.high),
                "n": interval.n,
                "conversations": interval.clusters,
                "unscored": int(group["value"].isna().sum()),
                "interval": interval.method,
            }
        )
    return pd.DataFrame(records)


def bootstrap_means(rows: pd.DataFrame, by: Sequence[str], *, seed: int = 0) -> pd.DataFrame:
    """Return mean and interval of each group from resampling whole conversations."""
    records = []
    for key, group in _groups(rows, by):
        found = bootstrap_mean(group["value"], list(group["conversation"]), seed=seed)
        records.append(
            {
                **dict(zip(by, key, strict=True)),
                "mean": found.mean,
                "low": found.low,
                "high": found.high,
                "n": found.n,
            }
        )
    return pd.DataFrame(records)


def style_drop(rows: pd.DataFrame, baseline: str = "question", *, seed: int = 0) -> pd.DataFrame:
    """Return each style's paired difference from plain questions, per system.

    A composed query is paired with the mean of its two members' questions. P-values are Holm's
    over all rows of the table.
    """
    records: list[dict[str, Any]] = []
    wide = {
        (system, style): group.set_index("query_id")["value"]
        for (system, style), group in _groups(rows, ["system", "style"])
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
    return _with_holm(records)


def system_pairs(rows: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Return the paired difference of every two systems on each style, Holm-corrected."""
    records: list[dict[str, Any]] = []
    for (style,), group in _groups(rows, ["style"]):
        wide = group.pivot(index="query_id", columns="system", values="value")
        homes = group.drop_duplicates("query_id").set_index("query_id")["conversation"]
        systems = list(dict.fromkeys(group["system"]))
        for i, first in enumerate(systems):
            for second in systems[i + 1 :]:
                compared = compare_paired(
                    wide[first], wide[second], list(homes.loc[wide.index]), seed=seed
                )
                records.append(
                    {"style": style, "first": first, "second": second, **_comparison(compared)}
                )
    return _with_holm(records)


def against(rows: pd.DataFrame, reference: str, *, seed: int = 0) -> pd.DataFrame:
    """Return each system's paired difference from one of them, per metric and style.

    With many systems, all pairs are many tests of which most answer no question; Holm's
    correction is over the rows of this table.
    """
    records: list[dict[str, Any]] = []
    for (metric, style), group in _groups(rows, ["metric", "style"]):
        wide = group.pivot(index="query_id", columns="system", values="value")
        homes = group.drop_duplicates("query_id").set_index("query_id")["conversation"]
        for system in dict.fromkeys(group["system"]):
            if system == reference:
                continue
            compared = compare_paired(
                wide[reference], wide[system], list(homes.loc[wide.index]), seed=seed
            )
            key = {"metric": metric, "style": style, "system": system}
            records.append({**key, **_comparison(compared)})
    return _with_holm(records)


def condition_effect(rows: pd.DataFrame, first: str, second: str, *, seed: int = 0) -> pd.DataFrame:
    """Return the paired change from one condition to another, per style and system."""
    records: list[dict[str, Any]] = []
    for (style, system), group in _groups(rows, ["style", "system"]):
        wide = group.pivot(index="query_id", columns="condition", values="value")
        homes = group.drop_duplicates("query_id").set_index("query_id")["conversation"]
        compared = compare_paired(wide[first], wide[second], list(homes.loc[wide.index]), seed=seed)
        records.append(
            {
                "style": style,
                "system": system,
                first: float(wide[first].mean()),
                second: float(wide[second].mean()),
                **_comparison(compared),
            }
        )
    return _with_holm(records)


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
    return _with_holm(records) if records else pd.DataFrame(columns=COMPARED)


def complete_conversations(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of conversations that have every style present anywhere in `rows`.

    Styles are comparable only where all were asked about the same conversations.
    """
    styles = rows.groupby("conversation")["style"].nunique()
    return rows[rows["conversation"].isin(styles[styles == styles.max()].index)]


def named_categories(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with LoCoMo's category names in place of numbers, composed ones left out."""
    known = rows[rows["category"].notna()]
    return known.assign(category=known["category"].astype(int).map(CATEGORIES))


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


def _with_holm(records: list[dict[str, Any]]) -> pd.DataFrame:
    """Add Holm's p-values over all rows, and what they tell in words."""
    for name in ("p", "p_t"):
        adjusted = holm([record[name] for record in records])
        for record, p in zip(records, adjusted, strict=True):
            record[f"{name}_holm"] = p
    tests = sum(record["p"] is not None for record in records)
    for record in records:
        record["verdict"] = _verdict(record, tests)
    return pd.DataFrame(records)


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


def _groups(
    rows: pd.DataFrame, by: Sequence[str]
) -> Iterator[tuple[tuple[Hashable, ...], pd.DataFrame]]:
    """Yield groups with styles and systems in the study's order, not the alphabet's."""
    orders = {column: _order(column, rows[column]) for column in by}
    grouped: Iterable[tuple[Any, pd.DataFrame]] = rows.groupby(list(by), sort=False, dropna=False)
    yield from sorted(
        grouped,
        key=lambda item: tuple(
            orders[column][value] for column, value in zip(by, item[0], strict=True)
        ),
    )


def _order(column: str, values: pd.Series[Any]) -> dict[Any, int]:
    present = list(values.unique())
    if column == "style":
        present = [style for style in STYLES if style in present]
    elif column == "category":
        order = [*CATEGORIES, *CATEGORIES.values()]
        present = sorted(present, key=lambda name: order.index(name) if name in order else -1)
    elif column == "k":
        present = sorted(present)
    return {value: i for i, value in enumerate(present)}
