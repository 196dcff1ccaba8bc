"""From a declared source to the cell of a run's table, and to how it reads in prose."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.config import project_root
from unbidden.report.provenance.forms import cell_texts
from unbidden.stats import clustered_mean, clustered_share

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from unbidden.report.comparing.runs import ChapterResults
    from unbidden.report.provenance.sources import Source

_DECIMAL = re.compile(r"(?<![\w.@-])[−+]?\d[\d,]*\.\d+(?![\w.-]|\.\d)")


@dataclass(frozen=True, slots=True)
class Found:
    """What a source leads to.

    Attributes
    ----------
    table : str
        File, from the run's chapter.
    row, column : str
        The cell; for a sum, mean or count, the rows it is over and how it was taken.
    texts : mapping of str to str
        Form to text: how the value may read.
    problem : str
        Why there is no value; empty if there is one.
    """

    table: str
    row: str
    column: str
    texts: Mapping[str, str]
    problem: str = ""


def trace(source: Source, given: Mapping[str, str], results: ChapterResults) -> Found:
    """Return the cell a source means in a chapter's results, given what its placeholders are."""
    if source.kind == "words":
        return Found("", "", source.words, {})
    if source.kind == "fact":
        return _fact(source, results)
    frame, table = _frame(source, results)
    if frame is None:
        return Found(table, "", "", {}, f"there is no {table}")
    where = {name: _filled(value, given) for name, value in source.where.items()}
    for name in where:
        if name not in frame:
            return Found(table, "", "", {}, f"{table} has no column {name!r}")
    row = ", ".join(f"{name}={_shown(value)}" for name, value in where.items())
    rows = frame[_mask(frame, where)]
    if source.query:
        rows, row = (
            rows.query(source.query),
            ", ".join(part for part in (row, source.query) if part),
        )
    if rows.empty and source.kind not in {"rows", "distinct", "sum"}:
        return Found(table, row, "", {"no such row": "–"}, f"{table} has no row of {row}")
    try:
        record, column = _value(source, rows)
    except (ValueError, KeyError, pd.errors.UndefinedVariableError) as error:
        return Found(table, row, getattr(source, source.kind) or "", {}, str(error))
    return Found(table, row, column, dict(cell_texts(record, next(iter(record)))))


def sentence(source: Source, text: str, results: ChapterResults) -> Found:
    """Return where the decimal numbers of a sentence lie; a problem if one lies nowhere."""
    readings: dict[str, str] = {}
    for name in source.sentence:
        path = results.path / "tables" / f"{name}.csv"
        frame = _read(path, path.stat().st_mtime_ns) if path.is_file() else pd.DataFrame()
        for place, row in enumerate(frame.to_dict("records")):
            named = {str(key): value for key, value in row.items()}
            for column in frame.columns:
                for _, shown in cell_texts(named, str(column)):
                    readings.setdefault(shown, f"{name}, row {place + 1}, {column}")
    numbers = _DECIMAL.findall(text)
    table = ", ".join(f"tables/{name}.csv" for name in source.sentence)
    lost = [number for number in numbers if number not in readings]
    if lost:
        return Found(table, "", "", {}, f"{table} has no cell that reads {', '.join(lost)}")
    places = "; ".join(f"{number}: {readings[number]}" for number in dict.fromkeys(numbers))
    return Found(table, places, "every decimal number", {"in a sentence": text})


def _value(source: Source, rows: pd.DataFrame) -> tuple[dict[str, Any], str]:
    """Return a record whose first entry is the value, and what it is called."""
    if source.kind == "rows":
        return {"rows": len(rows)}, "number of rows"
    if source.kind == "cell":
        return _cell(rows.head(1) if source.first else rows, source.cell), source.cell
    if source.kind == "distinct":
        return {"distinct": _column(rows, source.distinct).nunique()}, f"distinct {source.distinct}"
    if source.kind == "max":
        return {"max": _column(rows, source.max).max()}, f"largest {source.max}"
    if source.kind == "mean":
        return _mean(rows, source.mean), f"mean of {source.mean}"
    total = _column(rows, source.sum).sum()
    if not source.per:
        return {"sum": total}, f"sum of {source.sum}"
    parts = _column(rows, source.per).sum()
    return {"share": total / parts if parts else None}, f"{source.sum} per {source.per}"


def _cell(rows: pd.DataFrame, cell: str) -> dict[str, Any]:
    values = _column(rows, cell)
    if len(rows) > 1 and values.astype(str).nunique() > 1:
        raise ValueError(f"{len(rows)} rows are so, with different values")
    record = {str(name): value for name, value in rows.iloc[0].items()}
    value = values.iloc[0]
    return {cell: value, **{name: other for name, other in record.items() if name != cell}}


def _mean(rows: pd.DataFrame, column: str) -> dict[str, Any]:
    values = _column(rows, column).astype(float)
    if {"judged", "conversation"} <= set(rows):
        values = values.where(rows["judged"].notna())
    interval = clustered_share if values.dropna().between(0, 1).all() else clustered_mean
    found = interval(values, list(rows["conversation"]))
    return {"mean": found.mean, "low": found.low, "high": found.high}


def _column(rows: pd.DataFrame, name: str) -> pd.Series[Any]:
    if name in rows:
        return rows[name]
    # An expression of our own YAML, never of data.
    return pd.Series(rows.eval(name), index=rows.index)


def _fact(source: Source, results: ChapterResults) -> Found:
    value: Any = results.facts
    for part in source.fact.split("."):
        if not isinstance(value, dict) or part not in value:
            return Found("run.json", "", source.fact, {}, f"run.json has no {source.fact}")
        value = value[part]
    return Found("run.json", "", source.fact, dict(cell_texts({"value": value}, "value")))


def _frame(source: Source, results: ChapterResults) -> tuple[pd.DataFrame | None, str]:
    if source.report:
        file, _, part = source.report.partition("#")
        path = project_root() / "results" / "recorded" / file
        return _report(path, part), f"results/recorded/{file}"
    name = f"tables/{source.table}.csv" if source.table else f"{source.items}.parquet"
    path = results.path / name
    if not path.is_file():
        return None, name
    return _read(path, path.stat().st_mtime_ns), name


@lru_cache(maxsize=8)
def _read(path: Path, changed: int) -> pd.DataFrame:
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    try:
        return pd.read_csv(path)
    except pd.errors.EmptyDataError:
        return pd.DataFrame()


def _report(path: Path, part: str) -> pd.DataFrame | None:
    if not path.is_file():
        return None
    return pd.DataFrame(json.loads(path.read_text(encoding="utf-8"))[part])


def _filled(value: Any, given: Mapping[str, str]) -> Any:
    return value.format(**given) if isinstance(value, str) and "{" in value else value


def _mask(frame: pd.DataFrame, where: Mapping[str, Any]) -> pd.Series[bool]:
    mask = pd.Series(True, index=frame.index)
    for name, wanted in where.items():
        column = frame[name]
        if isinstance(wanted, dict):
            unwanted = column.isna() if wanted["not"] == "" else column == wanted["not"]
            mask &= ~unwanted.fillna(False).astype(bool)
        elif isinstance(wanted, str):
            mask &= column.fillna("").astype(str).map(_plain) == _plain(wanted)
        else:
            mask &= column.isin(wanted if isinstance(wanted, list) else [wanted])
    return mask.astype(bool)


def _plain(text: str) -> str:
    return text.replace("_", "-")


def _shown(value: Any) -> str:
    return f"not {value['not']}" if isinstance(value, dict) else str(value)
