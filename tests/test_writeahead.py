"""Switching one file to write-ahead logging from several sides."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier

import pytest

from unbidden.writeahead import write_ahead


@pytest.mark.fault("many processes open a new database at once", "all wait and succeed")
def test_many_open_a_new_file_at_once(tmp_path: Path) -> None:
    """SQLite refuses some of them at once, without its timeout; all come through."""
    sides, gate = 16, Barrier(16)

    def one(number: int) -> str:
        with closing(sqlite3.connect(tmp_path / f"new{number // sides}.sqlite")) as db:
            gate.wait()
            write_ahead(db)
            db.execute("CREATE TABLE IF NOT EXISTS t (x)")
            return str(db.execute("PRAGMA journal_mode").fetchone()[0])

    with ThreadPoolExecutor(sides) as pool:
        assert set(pool.map(one, range(sides * 5))) == {"wal"}


@pytest.mark.fault("a database stays locked", "an error in the end, no endless wait")
def test_a_locked_file_is_an_error_in_the_end(tmp_path: Path) -> None:
    """Waiting has an end."""
    path = tmp_path / "locked.sqlite"
    with closing(sqlite3.connect(path)) as holder, closing(sqlite3.connect(path, timeout=0)) as db:
        holder.execute("CREATE TABLE t (x)")
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            write_ahead(db, seconds=0.1)
