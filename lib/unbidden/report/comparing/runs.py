"""The results of one run as they lie on disk: chapters with items, tables and facts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from unbidden.config import check_run_name, project_root
from unbidden.errors import DataError, closest

RECORDED = "recorded/"
"""Prefix of the name of a run that is kept in the repository."""


@dataclass(frozen=True, slots=True)
class ChapterResults:
    """The files of one chapter of one run; nothing is read before it is asked for.

    Attributes
    ----------
    run : str
        As the reader named it, ``recorded/`` before those kept in the repository.
    """

    run: str
    chapter: str
    path: Path

    @property
    def facts(self) -> dict[str, Any]:
        """The content of ``run.json``; raises DataError where it is missing or no JSON."""
        return self._json("run.json")

    @property
    def numbers(self) -> dict[str, str]:
        """The numbers the prose cites; none where the chapter kept none."""
        return self._json("numbers.json") if (self.path / "numbers.json").is_file() else {}

    @property
    def item_files(self) -> dict[str, Path]:
        """Parquet files by name."""
        return {path.stem: path for path in sorted(self.path.glob("*.parquet"))}

    @property
    def table_files(self) -> dict[str, Path]:
        """CSV tables by name."""
        return {path.stem: path for path in sorted((self.path / "tables").glob("*.csv"))}

    def table(self, name: str) -> pd.DataFrame:
        """Return a table; an empty file is a table without rows."""
        try:
            return pd.read_csv(self.table_files[name])
        except pd.errors.EmptyDataError:
            return pd.DataFrame()

    def _json(self, name: str) -> dict[str, Any]:
        path = self.path / name
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DataError(
                f"{name} of {self.chapter} in the run {self.run!r} cannot be read",
                expected="a JSON file that a finished chapter writes",
                got=type(error).__name__,
                next_step=f"`unbidden run {self.chapter} --run {self.run}`",
            ) from error
        return found


def open_run(name: str) -> dict[str, ChapterResults]:
    """Return the chapters of a run by name, in the study's order.

    Parameters
    ----------
    name : str
        A run under ``results/runs``; ``recorded/NAME`` for one kept in the repository, whose
        prefix may be left out if there is no other run of the name; or a folder of chapters.

    Raises
    ------
    DataError
        If there is no such run, or it has no chapter.
    """
    label, folder = _locate(name)
    found = {
        path.parent.name: ChapterResults(label, path.parent.name, path.parent)
        for path in sorted(folder.glob("[0-9]*/run.json"))
    }
    if not found:
        raise DataError(
            f"the run {name!r} has no finished chapter",
            expected=f"NN_name/run.json under {label}",
            next_step=f"`unbidden run NN_name --run {name}`, or name another run",
        )
    return found


def known_runs() -> list[str]:
    """Return the names of all runs with results, the recorded ones last."""
    results = project_root() / "results"
    made = sorted({path.parents[1].name for path in results.glob("runs/*/[0-9]*/run.json")})
    kept = sorted({path.parents[1].name for path in results.glob("recorded/*/[0-9]*/run.json")})
    return [*made, *(RECORDED + name for name in kept)]


def _locate(name: str) -> tuple[str, Path]:
    results = project_root() / "results"
    if name.startswith(RECORDED):
        folders = [(name, results / "recorded" / check_run_name(name.removeprefix(RECORDED)))]
    elif "/" in name or Path(name).is_absolute():
        folders = [(Path(name).name, Path(name))]
    else:
        check_run_name(name)
        folders = [
            (name, results / "runs" / name),
            (RECORDED + name, results / "recorded" / name),
        ]
    for label, folder in folders:
        if folder.is_dir():
            return label, folder
    raise DataError(
        f"there is no run {name!r}",
        expected=closest(name, known_runs()),
        next_step=f"`unbidden run NN_name --run {name}`, or name one of these",
    )
