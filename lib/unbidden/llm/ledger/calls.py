"""The record of all model calls while a study runs: an append-only SQLite file.

Several processes may use one file at once. It must lie on a local disk: write-ahead logging does
not work on network file systems.
"""

from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING, Any, Self

from unbidden.errors import LLMError
from unbidden.llm.ledger.migrations import migrate
from unbidden.llm.ledger.row import Row
from unbidden.llm.outcome import Usage
from unbidden.writeahead import BUSY_SECONDS, write_ahead

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_COLUMNS = (
    "key, request, role, prompt, prompt_sha256, status, reason, text, body, "
    "input_tokens, output_tokens, requests, seconds, created"
)


class Ledger:
    """A ledger file, opened or newly made; also a context manager that closes it.

    Parameters
    ----------
    path : Path
        The SQLite file; its folder is made if need be.

    Raises
    ------
    LLMError
        If the file cannot be opened, is no ledger, or is newer than this package.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            write_ahead(self._db)
            # Survives kill -9; a power cut may lose the last calls, never the file.
            self._db.execute("PRAGMA synchronous = NORMAL")
            migrate(self._db)
        except (OSError, sqlite3.Error) as error:
            raise LLMError(
                f"the ledger {path.name} cannot be used",
                expected="a SQLite file written by unbidden, on a local disk, not locked",
                got=f"{type(error).__name__}: {error}",
                next_step="name another file, or move this one away and replay its recording",
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def append(self, row: Row) -> None:
        """Add a row; nothing is ever replaced, so no paid answer is lost to another process.

        Raises
        ------
        LLMError
            If the file cannot be written; going on would pay for answers that are not kept.
        """
        values = (
            *(row.key, row.request, row.role, row.prompt, row.prompt_sha256, row.status),
            *(row.reason, row.text, row.body, row.usage.input_tokens, row.usage.output_tokens),
            *(row.requests, row.seconds, row.created),
        )
        marks = ", ".join("?" * len(values))
        try:
            with self._lock:
                self._db.execute(f"INSERT INTO call ({_COLUMNS}) VALUES ({marks})", values)
        except sqlite3.Error as error:
            raise LLMError(
                f"a call could not be written to the ledger {self.path.name}",
                expected="a writable file on a disk with room",
                got=f"{type(error).__name__}: {error}",
                next_step="make room or unlock the file, then run again; what it holds is kept",
            ) from error

    def answered(self, key: str) -> Row | None:
        """Return the first answer to a key, which is the one that counts, or None."""
        return self._one("WHERE key = ? AND status = 'ok' ORDER BY id LIMIT 1", key)

    def latest(self, key: str) -> Row | None:
        """Return the answer that counts, or the last failure, or None if never asked."""
        return self.answered(key) or self._one("WHERE key = ? ORDER BY id DESC LIMIT 1", key)

    def rows(self) -> Iterator[Row]:
        """Yield all rows in the order in which they were made."""
        for found in self._select("ORDER BY id"):
            yield _row(found)

    def stats(self) -> list[dict[str, Any]]:
        """Return calls, answers, HTTP requests, tokens and seconds by role, prompt and status."""
        columns = (
            *("role", "prompt", "status", "calls", "keys", "requests"),
            *("input_tokens", "output_tokens", "seconds"),
        )
        query = (
            "SELECT role, prompt, status, COUNT(*), COUNT(DISTINCT key), SUM(requests), "
            "SUM(input_tokens), SUM(output_tokens), SUM(seconds) "
            "FROM call GROUP BY role, prompt, status ORDER BY role, prompt, status"
        )
        with self._lock:
            found = self._db.execute(query).fetchall()
        return [dict(zip(columns, row, strict=True)) for row in found]

    def _one(self, where: str, key: str) -> Row | None:
        found = self._select(where, key)
        return _row(found[0]) if found else None

    def _select(self, clause: str, *values: str) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._db.execute(f"SELECT {_COLUMNS} FROM call {clause}", values).fetchall()


def _row(found: tuple[Any, ...]) -> Row:
    fields = dict(zip(_COLUMNS.split(", "), found, strict=True))
    usage = Usage(fields.pop("input_tokens"), fields.pop("output_tokens"))
    return Row(**fields, usage=usage)
