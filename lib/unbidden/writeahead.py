"""SQLite files that several processes may use at once."""

from __future__ import annotations

import sqlite3
import time

BUSY_SECONDS = 60.0
"""How long one process waits for another's write."""


def write_ahead(db: sqlite3.Connection, seconds: float = BUSY_SECONDS) -> None:
    """Switch a file to write-ahead logging, waiting for other processes that do the same.

    Of two processes that open a new file at once, SQLite refuses one without any waiting,
    whatever the connection's timeout.

    Raises
    ------
    sqlite3.OperationalError
        If the file is still locked after `seconds`, or is no SQLite file.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.01)
