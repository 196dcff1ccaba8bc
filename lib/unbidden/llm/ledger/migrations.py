"""The ledger's schema as numbered steps; SQLite's ``user_version`` says which were taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unbidden.errors import LLMError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable


def m001_calls(db: sqlite3.Connection) -> None:
    """Create the table of calls: one row for each finished call, answered or failed."""
    db.execute(
        """
        CREATE TABLE call (
          id INTEGER PRIMARY KEY,
          key TEXT NOT NULL,
          request TEXT NOT NULL,
          role TEXT NOT NULL,
          prompt TEXT NOT NULL,
          prompt_sha256 TEXT NOT NULL,
          status TEXT NOT NULL,
          reason TEXT NOT NULL,
          text TEXT NOT NULL,
          body TEXT,
          input_tokens INTEGER,
          output_tokens INTEGER,
          requests INTEGER NOT NULL,
          seconds REAL NOT NULL,
          created TEXT NOT NULL
        )
        """
    )
    db.execute("CREATE INDEX call_by_key ON call (key, status, id)")


def m002_append_only(db: sqlite3.Connection) -> None:
    """Forbid changing and removing rows: a correction is a new row."""
    for action in ("UPDATE", "DELETE"):
        db.execute(
            f"CREATE TRIGGER call_no_{action.lower()} BEFORE {action} ON call "
            "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
        )


STEPS: tuple[Callable[[sqlite3.Connection], None], ...] = (m001_calls, m002_append_only)


def migrate(db: sqlite3.Connection) -> None:
    """Bring a database forward to the newest step; two processes may do so at once.

    Raises
    ------
    LLMError
        If it was written by a newer version of the package.
    """
    if _version(db) == len(STEPS):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        version = _version(db)  # again, now that no other process can migrate
        if version > len(STEPS):
            raise LLMError(
                "the ledger was written by a newer version of unbidden",
                expected=f"schema {len(STEPS)} or older",
                got=f"schema {version}",
                next_step="update unbidden, or name another ledger file",
            )
        for step in STEPS[version:]:
            step(db)
        db.execute(f"PRAGMA user_version = {len(STEPS)}")
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])
