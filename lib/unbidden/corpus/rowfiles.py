"""Files of one record per row: JSON lines, a JSON list, Parquet, or a member of a tar archive.

Rows are read one by one, because a split of Conversation Chronicles is larger than the memory a
parsed list of it would take.
"""

from __future__ import annotations

import hashlib
import tarfile
from typing import IO, TYPE_CHECKING, Any

from unbidden.corpus.jsonfile import parse_strict, read_json
from unbidden.corpus.models import SourceFile
from unbidden.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_LINE = 16 * 1024 * 1024
"""Longest line read, in bytes; an episode of five sessions has about 10,000."""

ARCHIVES = (".gz", ".tgz", ".tar")
LINES = (".jsonl", ".txt", ".ndjson")
PARQUET = (".parquet",)


def fingerprint(path: Path) -> SourceFile:
    """Return a file's name, sha256 and size.

    Raises
    ------
    DataError
        If it cannot be read.
    """
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return SourceFile(path.name, digest, path.stat().st_size)
    except OSError as error:
        raise _error(
            path, "a readable file", f"{type(error).__name__}: {error.strerror}"
        ) from error


def read_rows(path: Path, *, member: str = "") -> Iterator[tuple[str, Any]]:
    """Yield where each record stands and its parsed value, in file order.

    Parameters
    ----------
    path : Path
        By its ending: a tar archive, JSON lines (``.jsonl``, ``.txt``, ``.ndjson``), ``.parquet``,
        or else one JSON list.
    member : str
        End of the name of the archive's file to read, as JSON lines. It is read inside the
        archive; nothing is unpacked.

    Raises
    ------
    DataError
        If the file cannot be read or a row is no JSON; the row is named.
    """
    suffix = path.suffix.lower()
    try:
        if suffix in ARCHIVES:
            yield from _archive_rows(path, member)
        elif suffix in LINES:
            with path.open("rb") as file:
                yield from _line_rows(file, path.name)
        elif suffix in PARQUET:
            yield from _parquet_rows(path)
        else:
            yield from _list_rows(path)
    except (OSError, EOFError, tarfile.TarError) as error:
        text = f"{type(error).__name__}: {str(error)[:200]}"
        raise _error(path, "a whole, readable file", text) from error


def _list_rows(path: Path) -> Iterator[tuple[str, Any]]:
    value, _ = read_json(path)
    if not isinstance(value, list):
        raise _error(path, "a list of episodes", type(value).__name__)
    for number, row in enumerate(value):
        yield f"{path.name} record {number}", row


def _line_rows(file: IO[bytes], name: str) -> Iterator[tuple[str, Any]]:
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        where = f"{name} line {number}"
        if len(line) > MAX_LINE:
            raise _row_error(where, f"at most {MAX_LINE:,} bytes", "more")
        if not line.strip():
            continue
        try:
            yield where, parse_strict(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except (ValueError, RecursionError) as error:
            got = f"{type(error).__name__}: {str(error)[:200]}"
            raise _row_error(where, "one JSON object", got) from error


def _archive_rows(path: Path, member: str) -> Iterator[tuple[str, Any]]:
    with tarfile.open(path) as archive:
        for item in archive:
            if item.isfile() and f"/{item.name}".endswith(f"/{member}"):
                file = archive.extractfile(item)
                assert file is not None  # a regular file always opens
                yield from _line_rows(file, f"{path.name} {member}")
                return
    raise _error(path, f"an archive with a file {member}", "no such file in it")


def _parquet_rows(path: Path) -> Iterator[tuple[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        for batch in pq.ParquetFile(path).iter_batches(batch_size=256):
            for row in batch.to_pylist():
                yield f"{path.name} row {number}", row
                number += 1
    except pa.ArrowException as error:
        raise _error(path, "a Parquet file", str(error)[:200]) from error


def _error(path: Path, expected: str, got: str) -> DataError:
    return DataError(
        f"{path.name} cannot be read",
        expected=expected,
        got=got,
        next_step="check the path, or copy or download the file again",
    )


def _row_error(where: str, expected: str, got: str) -> DataError:
    return DataError(
        f"{where} cannot be read",
        expected=expected,
        got=got,
        next_step="correct the line, or copy or download the file again",
    )
