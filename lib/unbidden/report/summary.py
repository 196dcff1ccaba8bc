"""From the long table of items to means: which rows count, and how they are grouped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.corpus.models import CATEGORIES, STYLES
from unbidden.memory.presets import needs_model
from unbidden.stats import bootstrap_mean, clustered_share

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence


_MEAN_COLUMNS = ("mean", "low", "high", "n", "conversations", "unscored", "interval")


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
    return items[scored.astype(bool)]  # of no rows, the type is none


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
    for key, group in ordered_groups(rows, by):
        interval = clustered_share(group["value"], list(group["conversation"]))
        records.append(
            {
                **dict(zip(by, key, strict=True)),
                "mean": interval.mean,
                "low": interval.low,
                "high": interval.high,
                "n": interval.n,
                "conversations": interval.clusters,
                "unscored": int(group["value"].isna().sum()),
                "interval": interval.method,
            }
        )
    return pd.DataFrame(records, columns=[*by, *_MEAN_COLUMNS])


def bootstrap_means(rows: pd.DataFrame, by: Sequence[str], *, seed: int = 0) -> pd.DataFrame:
    """Return mean and interval of each group from resampling whole conversations."""
    records = []
    for key, group in ordered_groups(rows, by):
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
    return pd.DataFrame(records, columns=[*by, "mean", "low", "high", "n"])


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


def ordered_groups(
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
