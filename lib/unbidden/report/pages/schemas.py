"""What the result files hold: their real schemas, read from a run, with a word on each column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow.parquet as pq
import yaml

from unbidden.report.comparing.runs import RECORDED, known_runs, open_run
from unbidden.report.tables import escape_markdown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from unbidden.report.comparing.runs import ChapterResults

_KINDS = {"int8": "integer", "int64": "integer", "double": "number", "bool": "true or false"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a file.

    Attributes
    ----------
    kind : str
        text, integer, number, true or false; what the file itself says.
    missing : bool
        Whether a value is missing anywhere in the files read.
    about : str
        One line; empty where nobody wrote one.
    """

    name: str
    kind: str
    missing: bool
    about: str


@dataclass(frozen=True, slots=True)
class FileSchema:
    """The columns of a result file, as found in a run."""

    chapter: str
    file: str
    columns: tuple[Column, ...]


def schemas_of(run: str) -> list[FileSchema]:
    """Return the schemas of every result file of a run and of the recorded runs.

    A file that several runs have is described once, by the first that has it: the run's own first.
    """
    found: dict[tuple[str, str], FileSchema] = {}
    known = known_runs()
    names = [run, "default", *(name for name in known if name.startswith(RECORDED))]
    for name in dict.fromkeys(name for name in names if name in known):
        for chapter, results in open_run(name).items():
            for schema in chapter_schemas(results):
                found.setdefault((chapter, schema.file), schema)
    return [found[key] for key in sorted(found)]


def chapter_schemas(results: ChapterResults) -> Iterable[FileSchema]:
    """Yield the schemas of one chapter's Parquet files and tables."""
    for name, path in results.item_files.items():
        file = pq.ParquetFile(path)
        columns = [
            _column(field.name, str(field.type), _has_nulls(file, place))
            for place, field in enumerate(file.schema_arrow)
        ]
        yield FileSchema(results.chapter, f"{name}.parquet", tuple(columns))
    for name in results.table_files:
        frame = results.table(name)
        columns = [
            _column(str(column), _csv_kind(frame[column]), bool(frame[column].isna().any()))
            for column in frame.columns
        ]
        yield FileSchema(results.chapter, f"tables/{name}.csv", tuple(columns))


def _column(name: str, kind: str, missing: bool) -> Column:
    return Column(name, _KINDS.get(kind, "text"), missing, descriptions().get(name, ""))


def _has_nulls(file: Any, place: int) -> bool:
    groups = [file.metadata.row_group(i).column(place) for i in range(file.metadata.num_row_groups)]
    return any(group.statistics is None or group.statistics.null_count > 0 for group in groups)


def _csv_kind(column: pd.Series[Any]) -> str:
    if pd.api.types.is_bool_dtype(column):
        return "bool"
    if pd.api.types.is_integer_dtype(column):
        return "int64"
    return "double" if pd.api.types.is_numeric_dtype(column) else "text"


@lru_cache(maxsize=1)
def descriptions() -> Mapping[str, str]:
    """Return one line on each column the study writes, by its name."""
    text = (files("unbidden.report") / "columns.yaml").read_text(encoding="utf-8")
    found: dict[str, str] = yaml.safe_load(text)
    return found


def schema_page(schemas: Sequence[FileSchema]) -> str:
    """Return the page: a table for each file of items, and the columns of each CSV table."""
    parts = [
        "# Schemas\n",
        "The columns of every result file, read from the files themselves. Parquet holds one row "
        "per item; CSV what the pages show, unrounded. `unbidden export RUN` writes Parquet as CSV "
        "too, and rankings as TREC files.\n",
        "## Columns of many tables\n",
        "| column | |\n| --- | --- |",
        *(f"| {escape_markdown(name)} | {_cell(text)} |" for name, text in descriptions().items()),
        "",
    ]
    for chapter in dict.fromkeys(schema.chapter for schema in schemas):
        parts.append(f"## {escape_markdown(chapter)}\n")
        own = [schema for schema in schemas if schema.chapter == chapter]
        for schema in own:
            if schema.file.endswith(".parquet"):
                parts += _items_part(schema)
        parts += _tables_part([schema for schema in own if schema.file.endswith(".csv")])
    return "\n".join(parts)


def _items_part(schema: FileSchema) -> list[str]:
    name = escape_markdown(f"{schema.chapter}: {schema.file}")
    head = [f"### {name}\n", "| column | holds | missing values | |", "| --- | --- | --- | --- |"]
    rows = [
        f"| {escape_markdown(column.name)} | {column.kind} | {'yes' if column.missing else 'no'} "
        f"| {_cell(column.about)} |"
        for column in schema.columns
    ]
    return [*head, *rows, ""]


def _tables_part(schemas: Sequence[FileSchema]) -> list[str]:
    if not schemas:
        return []
    rows = [
        f"| {escape_markdown(schema.file)} | "
        + ", ".join(f"{escape_markdown(column.name)} ({column.kind})" for column in schema.columns)
        + " |"
        for schema in schemas
    ]
    name = escape_markdown(schemas[0].chapter)
    return [f"### {name}: tables\n", "| file | columns |", "| --- | --- |", *rows, ""]


def _cell(text: str) -> str:
    return escape_markdown(text) or " "
