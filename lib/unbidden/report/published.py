"""The papers' own numbers, each with its place, from ``results/published/``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import pandas as pd

from unbidden.config import project_root
from unbidden.errors import ConfigError, DataError, closest

if TYPE_CHECKING:
    from pathlib import Path

Paper = Literal["theanine", "locomo_conv"]
PAPERS: tuple[Paper, ...] = get_args(Paper)

KNOWN_MISPRINT = ("rsum", "bertscore")
"""Table 9 of THEANINE prints 82.20 for session 4, where Table 1 implies 85.20."""

REPLY_METRICS = ("bleu4", "rouge_l", "mauve", "bertscore")


def published_path(paper: Paper) -> Path:
    """Return the file of a paper's numbers."""
    return project_root() / "results" / "published" / f"{paper}.csv"


def published(paper: Paper) -> pd.DataFrame:
    """Return a paper's numbers, one a row, as printed; an empty text where a column says nothing.

    ``theanine``: columns ``paper, table, row, column, system, dataset, session, metric, value,
    upper, unit, note``; `row` and `column` name the cell, `system` is our name for the row.
    ``locomo_conv``: ``paper, place, quantity, system, style, value, upper, unit, note``. A range
    goes from `value` to `upper`; else `upper` is NaN.

    Raises
    ------
    ConfigError
        If the paper is unknown.
    DataError
        If the file is not there.
    """
    if paper not in PAPERS:
        raise ConfigError(f"unknown paper {paper!r}", expected=closest(paper, PAPERS))
    path = published_path(paper)
    if not path.is_file():
        raise DataError(
            f"the published numbers of {paper!r} are not here",
            expected=f"results/published/{paper}.csv",
            next_step="run from a clone of the repository, which holds them",
        )
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return frame.assign(
        value=pd.to_numeric(frame["value"]), upper=pd.to_numeric(frame["upper"], errors="coerce")
    )


def theanine_table(number: int) -> pd.DataFrame:
    """Return the rows of one table of THEANINE.

    Raises
    ------
    DataError
        If we hold no number of that table.
    """
    frame = published("theanine")
    found = frame[frame["table"] == str(number)]
    if found.empty:
        raise DataError(
            f"no numbers of THEANINE's Table {number}",
            expected=f"one of the tables {', '.join(sorted(set(frame['table'])))}",
        )
    return found.reset_index(drop=True)


def theanine_internal_check() -> pd.DataFrame:
    """Compare THEANINE's Table 1 with its Table 9: both averaged down to one number a cell.

    The mean over data sets of Table 1 and the mean over sessions of Table 9 are the same quantity,
    so they agree up to rounding, but for one misprint.

    Returns
    -------
    DataFrame
        Columns ``system, metric, table1, table9, difference, misprint``.
    """
    keys = ["system", "metric"]
    means = [
        theanine_table(number).groupby(keys, sort=False)["value"].mean().rename(f"table{number}")
        for number in (1, 9)
    ]
    frame = pd.concat(means, axis=1).reset_index()
    frame["difference"] = frame["table9"] - frame["table1"]
    pairs = zip(frame["system"], frame["metric"], strict=True)
    frame["misprint"] = [pair == KNOWN_MISPRINT for pair in pairs]
    return frame
