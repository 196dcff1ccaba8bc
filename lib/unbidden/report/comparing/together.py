"""Everything that tells two runs apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from unbidden.errors import DataError, closest
from unbidden.report.comparing.changes import changes
from unbidden.report.comparing.items import HEADLINE, Paired, paired_items
from unbidden.report.comparing.runs import ChapterResults, open_run
from unbidden.report.comparing.tables import table_changes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Choice:
    """What to compare.

    Attributes
    ----------
    chapters : tuple of str
        Chapters; empty means all that both runs have.
    metric : str
        Metric of files that have several; "all" for all of them.
    k : tuple of int
        Cut-offs; empty means the `top_k` of both runs, or all where a run has none.
    """

    chapters: tuple[str, ...] = ()
    metric: str = HEADLINE
    k: tuple[int, ...] = ()
    seed: int = 0


@dataclass(frozen=True, slots=True)
class ChapterComparison:
    """One chapter of both runs.

    Attributes
    ----------
    changed, tables : DataFrame
        From `changes` and `table_changes`.
    items : mapping of str to Paired
        By name of the file of items.
    numbers : DataFrame
        Numbers of the prose that differ: ``number, first, second``.
    notes : tuple of str
        Files that one run lacks, and what makes a pairing doubtful.
    """

    chapter: str
    changed: pd.DataFrame
    items: Mapping[str, Paired]
    tables: pd.DataFrame
    numbers: pd.DataFrame
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs beside each other; differences are second minus first."""

    first: str
    second: str
    chapters: tuple[ChapterComparison, ...]
    only_first: tuple[str, ...] = ()
    only_second: tuple[str, ...] = ()
    choice: Choice = field(default_factory=Choice)


def compare_runs(first: str, second: str, choice: Choice | None = None) -> Comparison:
    """Compare two runs chapter by chapter.

    Parameters
    ----------
    first, second : str
        Names as `open_run` takes them.

    Raises
    ------
    DataError
        If a run is not there, the runs share no chapter, or a chosen one is missing in one.
    """
    choice = choice or Choice()
    a, b = open_run(first), open_run(second)
    shared = [name for name in a if name in b]
    for name in choice.chapters:
        if name not in shared:
            raise DataError(
                f"the chapter {name!r} is not in both runs",
                expected=closest(name, shared) if shared else "a chapter that both have",
                next_step="execute it in both, or leave `--chapter` out",
            )
    chosen = choice.chapters or tuple(shared)
    if not chosen:
        raise DataError(
            f"the runs {first!r} and {second!r} have no chapter in common",
            got=f"{', '.join(a)} and {', '.join(b)}",
            next_step="execute the same chapter in both",
        )
    any_first, any_second = next(iter(a.values())), next(iter(b.values()))
    return Comparison(
        any_first.run,
        any_second.run,
        tuple(_chapter(a[name], b[name], choice) for name in chosen),
        tuple(name for name in a if name not in b),
        tuple(name for name in b if name not in a),
        choice,
    )


def _chapter(first: ChapterResults, second: ChapterResults, choice: Choice) -> ChapterComparison:
    changed = changes(first, second)
    mine, theirs = first.item_files, second.item_files
    notes = [
        f"{name}.parquet is only in the {'first' if name in mine else 'second'} run"
        for name in sorted(mine.keys() ^ theirs.keys())
    ]
    if not mine.keys() & theirs.keys():
        notes.append("no file of items in both runs, so no difference has an interval")
    if (changed["what"] == "data").any():
        notes.append(
            "the data differs: items are matched by id, and their texts may not be the same"
        )
    k = choice.k or _shared_k(first, second)
    items = {
        name: paired_items(
            pd.read_parquet(mine[name]),
            pd.read_parquet(theirs[name]),
            metric=choice.metric,
            k=k,
            seed=choice.seed,
        )
        for name in mine
        if name in theirs
    }
    return ChapterComparison(
        first.chapter,
        changed,
        items,
        table_changes(first, second),
        _numbers(first, second),
        tuple(notes),
    )


def _shared_k(first: ChapterResults, second: ChapterResults) -> Sequence[int]:
    found = {results.facts.get("parameters", {}).get("top_k") for results in (first, second)}
    return () if None in found else sorted(found)


def _numbers(first: ChapterResults, second: ChapterResults) -> pd.DataFrame:
    a, b = first.numbers, second.numbers
    rows = [
        (name, a.get(name, "absent"), b.get(name, "absent"))
        for name in dict.fromkeys([*a, *b])
        if a.get(name) != b.get(name)
    ]
    return pd.DataFrame(rows, columns=["number", "first", "second"])
