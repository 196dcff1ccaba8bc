"""Search for the nearest vectors among many: exact, by bits with an exact second look, or a graph.

A conversation has hundreds of turns and `exact` is at once exact and quick. With a million memories
one exact product reads 1.5 GB for each query; `bits` reads 48 MB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

import numpy as np

from unbidden.errors import ConfigError, closest
from unbidden.memory.topk import best_positions

if TYPE_CHECKING:
    from numpy.typing import NDArray

IndexName = Literal["exact", "bits", "usearch"]
INDICES: tuple[IndexName, ...] = get_args(IndexName)

Found = tuple["NDArray[np.intp]", "NDArray[np.float32]"]
"""Positions, nearest first, and their cosines."""


class Index(Protocol):
    """Vectors that can be searched."""

    def search(self, vector: NDArray[np.float32], k: int | None) -> Found:
        """Return the `k` nearest (None: all that the index can rank), nearest first."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes a search reads of the index's own, the vectors for second looks left out."""
        ...


class ExactIndex:
    """One matrix product; ties in order of position.

    Parameters
    ----------
    matrix : array of shape (n, dimension)
        Unit vectors.
    """

    def __init__(self, matrix: NDArray[np.float32]) -> None:
        self.matrix = matrix

    @property
    def nbytes(self) -> int:
        """Bytes of the vectors."""
        return self.matrix.nbytes

    def search(self, vector: NDArray[np.float32], k: int | None) -> Found:
        """Return the `k` nearest, or all."""
        scores = self.matrix @ vector
        best = best_positions(scores, k)
        return best, scores[best]


class BitIndex:
    """Signs of the vectors, rotated at random; the most alike are compared exactly.

    The angle of two vectors shows in how many signs differ (random hyperplanes: Charikar 2002). The
    `looks` vectors with the fewest different signs are compared by cosine, so that what is returned
    is in exact order and only what was never looked at can be missing. The matrix may lie on disk
    (`numpy.memmap`): a search reads just those rows of it.

    Parameters
    ----------
    matrix : array of shape (n, dimension)
        Unit vectors.
    looks : int
        Vectors compared exactly for each of the `k` wanted; at least 2,000 in all, and one in a
        hundred of those there are.
    """

    _BLOCK = 65_536  # rows rotated, or compared, at once

    def __init__(self, matrix: NDArray[np.float32], *, looks: int = 50) -> None:
        if looks < 1:
            raise ConfigError("`looks` is out of range", expected="1 or more", got=str(looks))
        self.matrix, self.looks = matrix, looks
        dimension = matrix.shape[1]
        bits = -(-dimension // 64) * 64
        normal = np.random.default_rng(0).standard_normal((bits, dimension))
        self._planes = np.linalg.qr(normal)[0].astype(np.float32)
        # By word of 64 signs first: a word of all vectors is read in one run.
        self._codes = np.empty((bits // 64, len(matrix)), dtype=np.uint64)
        for start in range(0, len(matrix), self._BLOCK):
            rows = matrix[start : start + self._BLOCK]
            self._codes[:, start : start + len(rows)] = self._code(rows).T

    def _code(self, rows: NDArray[np.float32]) -> NDArray[np.uint64]:
        signs = np.packbits(rows @ self._planes.T > 0, axis=1)
        return np.ascontiguousarray(signs).view(np.uint64)

    @property
    def nbytes(self) -> int:
        """Bytes of the signs."""
        return self._codes.nbytes

    def search(self, vector: NDArray[np.float32], k: int | None) -> Found:
        """Return the `k` nearest among those looked at; None looks at all."""
        size = len(self.matrix)
        looks = size if k is None else max(2_000, size // 100, k * self.looks)
        if looks >= size:
            return ExactIndex(np.asarray(self.matrix)).search(vector, k)
        near = self._near(vector, looks)
        scores = np.asarray(self.matrix[near]) @ vector
        best = best_positions(scores, k)
        return near[best], scores[best]

    def _near(self, vector: NDArray[np.float32], count: int) -> NDArray[np.intp]:
        """Return positions of the vectors with the fewest different signs, ascending."""
        code = self._code(vector[None])[0]
        size = self._codes.shape[1]
        different = np.zeros(size, dtype=np.uint16)
        for start in range(0, size, self._BLOCK):  # blocks stay in the processor's cache
            part = different[start : start + self._BLOCK]
            for word, rows in zip(code, self._codes, strict=True):
                part += np.bitwise_count(rows[start : start + self._BLOCK] ^ word)
        within = np.cumsum(np.bincount(different))
        limit = int(np.searchsorted(within, count))
        return np.flatnonzero(different <= limit)


class UsearchIndex:
    """A navigable small-world graph by the library `usearch` (extra `scale`).

    Approximate: measure its recall against `ExactIndex` before use. Building it takes minutes for
    a million vectors; a search then reads a few thousand of them.

    Raises
    ------
    ConfigError
        If the library is not installed.
    """

    def __init__(self, matrix: NDArray[np.float32], *, expansion: int = 128) -> None:
        try:
            from usearch.index import Index as Graph
        except ImportError as error:
            raise ConfigError(
                "the index `usearch` needs the extra `scale`",
                got=str(error),
                next_step="pip install 'unbidden[scale]', or use the index `bits`",
            ) from error
        self._size = len(matrix)
        self._graph: Any = Graph(
            ndim=matrix.shape[1], metric="cos", dtype="f16", expansion_search=expansion
        )
        self._graph.add(np.arange(len(matrix), dtype=np.uint64), np.asarray(matrix), threads=1)

    @property
    def nbytes(self) -> int:
        """Bytes of the graph and the vectors in it."""
        return int(self._graph.memory_usage)

    def search(self, vector: NDArray[np.float32], k: int | None) -> Found:
        """Return the `k` nearest that the graph leads to."""
        found = self._graph.search(vector, k or self._size, threads=1)
        cosines = 1 - np.asarray(found.distances, dtype=np.float32)
        return np.asarray(found.keys).astype(np.intp), cosines


def index_of(name: str, matrix: NDArray[np.float32]) -> Index:
    """Return an index of vectors by name: exact, bits or usearch.

    Raises
    ------
    ConfigError
        If the name is unknown, or its library is not installed.
    """
    if name == "exact":
        return ExactIndex(matrix)
    if name == "bits":
        return BitIndex(matrix)
    if name == "usearch":
        return UsearchIndex(matrix)
    raise ConfigError(
        f"unknown index {name!r}",
        expected=closest(name, INDICES),
        next_step="set the option `index` of `dense` to one of these",
    )


def recall_against_exact(
    index: Index, exact: Index, vectors: NDArray[np.float32], *, k: int = 10
) -> float:
    """Return the share of the exact `k` nearest that an index finds, mean over query vectors."""
    shares = [
        len(set(index.search(v, k)[0].tolist()) & set(exact.search(v, k)[0].tolist())) / k
        for v in vectors
    ]
    return float(np.mean(shares))
