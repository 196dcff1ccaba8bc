"""Paired differences of two files of items, whatever their columns are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.report.paired import COMPARED, paired_differences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

IDS = ("conversation", "query_id", "item", "session", "turn", "part", "repeat")
"""Columns that tell items apart."""
ATTRIBUTES = (
    *("dataset", "category", "split", "tags", "gold", "judged", "gold_words", "unscored"),
    *("label", "text", "thoughts", "key", "oracle_unscored"),
)
"""Columns that say something of an item or of why it has no value; not compared."""
AGREES = "agrees with the label"
HEADLINE = "recall"
"""The one metric compared by default where a file has several."""
FOUND = ["first_mean", "second_mean", "only_first", "only_second", "unscored_in_one", *COMPARED]


@dataclass(frozen=True, slots=True)
class Paired:
    """The differences of two files of items.

    Attributes
    ----------
    table : DataFrame
        One row per measure and group: the keys, means over the pairs (`FOUND`), items that only
        one run has or scored, and the columns of a paired comparison, Holm-corrected.
    notes : tuple of str
        What was paired how, and what could not be.
    """

    table: pd.DataFrame
    notes: tuple[str, ...]


def paired_items(
    first: pd.DataFrame,
    second: pd.DataFrame,
    *,
    metric: str = HEADLINE,
    k: Sequence[int] = (),
    seed: int = 0,
) -> Paired:
    """Return the paired differences, second minus first, of items that both runs have.

    Parameters
    ----------
    first, second : DataFrame
        Long tables with ``conversation``, further `IDS`, and one or more numeric columns. All
        other columns name the groups (style, system, metric, k, judge, ...).
    metric : str
        Value of the column ``metric`` to keep, where there is one; "all" keeps all.
    k : sequence of int
        Values of the column ``k`` to keep; empty keeps all.

    Notes
    -----
    Category 5 is left out where the file names categories, as in the study's own tables. A group
    column with one value in each run, but not the same one, is paired across.
    """
    notes: list[str] = []
    a, b = (_chosen(_with_agreement(frame), metric, k) for frame in (first, second))
    if any("category" in frame and frame["category"].eq(5).any() for frame in (first, second)):
        notes.append("category 5 is left out")
    groups = _group_columns(a, b, notes)
    ids = [name for name in IDS if name in a and name in b]
    measures = _measures(a, b, groups)
    if "conversation" not in ids or len(ids) < 2 or not measures:
        notes.append("not paired: without ids of items, or without a numeric column in both")
        return Paired(pd.DataFrame(columns=[*groups, *FOUND]), tuple(notes))
    table = paired_differences(_pairs(a, b, ids, groups, measures, notes), seed=seed)
    return Paired(table, tuple(dict.fromkeys(notes)))


def _chosen(frame: pd.DataFrame, metric: str, k: Sequence[int]) -> pd.DataFrame:
    if "metric" in frame and metric != "all":
        frame = frame[frame["metric"] == metric] if (frame["metric"] == metric).any() else frame
    if "k" in frame and k:
        frame = frame[frame["k"].isin(list(k))]
    if "category" in frame:
        frame = frame[frame["category"].ne(5).fillna(True)]
    return frame


def _with_agreement(frame: pd.DataFrame) -> pd.DataFrame:
    """Turn a file of verdicts into one of values: 1 where the judge gives the label."""
    if not {"gold", "judged"} <= set(frame.columns):
        return frame
    agrees = (frame["gold"] == frame["judged"]).astype(float)
    return frame.assign(**{AGREES: agrees.where(frame["judged"].notna())})


def _group_columns(a: pd.DataFrame, b: pd.DataFrame, notes: list[str]) -> list[str]:
    names = []
    for name in a.columns:
        if name in {*IDS, *ATTRIBUTES} or name not in b or _is_measure(a, name):
            continue
        if _holds_lists(a, name) or _holds_lists(b, name):
            continue
        mine, theirs = a[name].unique(), b[name].unique()
        if len(mine) == len(theirs) == 1 and mine[0] != theirs[0]:
            notes.append(f"paired across {name}: {mine[0]} and {theirs[0]}")
        else:
            names.append(name)
    return names


def _holds_lists(frame: pd.DataFrame, name: str) -> bool:
    """Return whether a column holds lists, such as the memories a reply was given."""
    return bool(frame[name].map(pd.api.types.is_list_like).any())


def _is_measure(frame: pd.DataFrame, name: str) -> bool:
    return name != "k" and pd.api.types.is_numeric_dtype(frame[name])


def _measures(a: pd.DataFrame, b: pd.DataFrame, groups: Sequence[str]) -> list[str]:
    return [
        name
        for name in a.columns
        if name in b
        and name not in {*IDS, *ATTRIBUTES, *groups}
        and _is_measure(a, name)
        and _is_measure(b, name)
    ]


def _pairs(
    a: pd.DataFrame,
    b: pd.DataFrame,
    ids: list[str],
    groups: list[str],
    measures: list[str],
    notes: list[str],
) -> Iterator[tuple[Mapping[str, Any], pd.Series, pd.Series, list[Any]]]:
    sides = [_by_group(frame, groups) for frame in (a, b)]
    for key in dict.fromkeys([*sides[0], *sides[1]]):
        named = dict(zip(groups, key, strict=True))
        if key not in sides[0] or key not in sides[1]:
            notes.append(_lone(named, sides, groups))
            continue
        mine, theirs = (side[key].set_index(ids) for side in sides)
        if not (mine.index.is_unique and theirs.index.is_unique):
            notes.append(f"not paired, as an item is there twice: {_words(named)}")
            continue
        both = mine.index.intersection(theirs.index, sort=False)
        if both.empty:
            notes.append(f"no item in both runs: {_words(named)}")
            continue
        for measure in measures:
            yield _pair(named, measure, mine, theirs, both)


def _pair(
    named: Mapping[str, Any],
    measure: str,
    mine: pd.DataFrame,
    theirs: pd.DataFrame,
    both: pd.Index,
) -> tuple[Mapping[str, Any], pd.Series, pd.Series, list[Any]]:
    first, second = (side[measure].loc[both].astype(float) for side in (mine, theirs))
    scored = first.notna() & second.notna()
    keys = {
        **named,
        **({} if measure == "value" else {"measure": measure}),
        "first_mean": first[scored].mean() if scored.any() else None,
        "second_mean": second[scored].mean() if scored.any() else None,
        "only_first": len(mine) - len(both),
        "only_second": len(theirs) - len(both),
        "unscored_in_one": int((first.notna() != second.notna()).sum()),
    }
    return keys, first, second, list(both.get_level_values("conversation"))


def _by_group(frame: pd.DataFrame, groups: list[str]) -> dict[tuple[Any, ...], pd.DataFrame]:
    if not groups:
        return {(): frame}
    grouped = frame.groupby(groups, sort=False, dropna=False)
    return {key: rows for key, rows in grouped}


def _lone(
    named: Mapping[str, Any], sides: Sequence[Mapping[tuple[Any, ...], Any]], groups: list[str]
) -> str:
    """Say which run alone has a group, by the columns whose value the other run never has."""
    mine = tuple(named.values())
    side = 0 if mine in sides[0] else 1
    other = [{key[place] for key in sides[1 - side]} for place in range(len(groups))]
    new = {n: v for (n, v), known in zip(named.items(), other, strict=True) if v not in known}
    return f"only in the {'second' if side else 'first'} run: {_words(new or named)}"


def _words(named: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in named.items()) or "all items"
