"""A cache of text vectors on disk, keyed by model and content, shared by all runs."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from unbidden.writeahead import BUSY_SECONDS, write_ahead

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_CHUNK = 500  # ids per SQL statement, under SQLite's limit on variables


class VectorCache:
    """Vectors by content hash in one SQLite file.

    Several processes may use one file at once; a vector written twice is the same vector.

    Parameters
    ----------
    path : Path
        The file; made on first use.
    model : str
        Identity of the model, including a hash of its weights, so that another model's vectors
        are never returned.
    """

    def __init__(self, path: Path, model: str) -> None:
        self.path, self.model = path, model
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(self._connect()) as connection, connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS vectors (id BLOB PRIMARY KEY, vector BLOB NOT NULL) "
                "WITHOUT ROWID"
            )

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS)
        write_ahead(connection)
        return connection

    def key(self, text: str) -> bytes:
        """Return the id of a text's vector under this model."""
        return hashlib.sha256(f"{self.model}\0{text}".encode()).digest()

    def get(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """Return the vectors that are there, each of shape (dimension,)."""
        found: dict[bytes, NDArray[np.float32]] = {}
        with closing(self._connect()) as connection:
            for chunk in _chunks(keys):
                marks = ",".join("?" * len(chunk))
                rows = connection.execute(
                    f"SELECT id, vector FROM vectors WHERE id IN ({marks})", chunk
                )
                found.update((row[0], np.frombuffer(row[1], dtype="<f4")) for row in rows)
        return found

    def put(self, vectors: dict[bytes, NDArray[np.float32]]) -> None:
        """Store vectors; those already there are kept."""
        rows = ((key, vector.astype("<f4").tobytes()) for key, vector in vectors.items())
        with closing(self._connect()) as connection, connection:
            connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)


def _chunks(keys: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    for start in range(0, len(keys), _CHUNK):
        yield keys[start : start + _CHUNK]
