"""Recorded runs: numbers of data a reader may not have, kept in the repository.

Only ids and values are kept. Notebooks and examples hold the data's text and never are.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.config import check_run_name, project_root
from unbidden.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

KEPT = ("items.parquet", "numbers.json", "run.json", "claims.csv")
"""Files of a chapter that hold no text of the data, beside its tables and figures."""


def recorded_folder(run: str, chapter: str) -> Path:
    """Return where a recorded chapter lies."""
    return project_root() / "results" / "recorded" / check_run_name(run) / chapter


def has_recorded(run: str, chapter: str) -> bool:
    """Return whether a recorded chapter is at hand (it is in the repository, not the wheel)."""
    return (recorded_folder(run, chapter) / "run.json").is_file()


def recorded_items(run: str, chapter: str) -> pd.DataFrame:
    """Return the items of a recorded chapter.

    Raises
    ------
    DataError
        If it is not there.
    """
    path = recorded_folder(run, chapter) / "items.parquet"
    if not path.is_file():
        raise DataError(
            f"there is no recorded run {run!r} of {chapter}",
            expected=f"results/recorded/{run}/{chapter}/items.parquet",
            next_step="run from a clone of the repository, which holds the recorded runs",
        )
    return pd.read_parquet(path)


def recorded_facts(run: str, chapter: str) -> dict[str, Any]:
    """Return the ``run.json`` of a recorded chapter."""
    path = recorded_folder(run, chapter) / "run.json"
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return facts


def recorded_table(run: str, chapter: str, name: str) -> pd.DataFrame:
    """Return a table of a recorded chapter."""
    return pd.read_csv(recorded_folder(run, chapter) / "tables" / f"{name}.csv")


def recorded_tables(run: str, chapter: str, names: Iterable[str]) -> dict[str, pd.DataFrame]:
    """Return those of some tables that a recorded chapter has, by name."""
    folder = recorded_folder(run, chapter) / "tables"
    there = [name for name in names if (folder / f"{name}.csv").is_file()]
    return {name: recorded_table(run, chapter, name) for name in there}


def absent_table(run: str, chapter: str) -> pd.DataFrame:
    """Return one row that says that a table is not at hand."""
    return pd.DataFrame([{"": f"not recorded here (results/recorded/{run}/{chapter})"}])


def recorded_view(
    run: str, chapter: str, show: Callable[..., pd.DataFrame], *names: str
) -> pd.DataFrame:
    """Return recorded tables as a chapter shows them, or one row that says they are not at hand.

    Parameters
    ----------
    show : callable
        Takes the tables of `names`, in that order.
    """
    found = recorded_tables(run, chapter, names)
    if len(found) < len(names):
        return absent_table(run, chapter)
    return show(*(found[name] for name in names))


def recorded_numbers(run: str, chapter: str) -> dict[str, str]:
    """Return the formatted numbers of a recorded chapter, named ``RUN_NAME``."""
    path = recorded_folder(run, chapter) / "numbers.json"
    found: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return {f"{run}_{name}": value for name, value in found.items()}


def record_run(run: str, name: str) -> list[Path]:
    """Copy the numbers of a run's chapters under ``results/recorded/NAME``; return the folders.

    Raises
    ------
    DataError
        If the run has no chapter.
    """
    chapters = sorted((project_root() / "results" / "runs" / check_run_name(run)).glob("[0-9]*/"))
    if not chapters:
        raise DataError(f"the run {run!r} has no chapter", next_step="execute it first")
    made = []
    for chapter in chapters:
        target = recorded_folder(name, chapter.name)
        made_aside = target.with_name(f".{target.name}.new")
        shutil.rmtree(made_aside, ignore_errors=True)
        made_aside.mkdir(parents=True)
        for file in KEPT:
            if (chapter / file).is_file():
                shutil.copyfile(chapter / file, made_aside / file)
        for folder in ("tables", "figures"):
            if (chapter / folder).is_dir():
                shutil.copytree(chapter / folder, made_aside / folder)
        shutil.rmtree(target, ignore_errors=True)
        made_aside.replace(target)
        made.append(target)
    return made
