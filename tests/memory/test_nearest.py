"""Indices of many vectors against exact search."""

import importlib.util

import numpy as np
import pytest

from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError
from unbidden.memory.dense import Dense
from unbidden.memory.nearest import BitIndex, ExactIndex, index_of, recall_against_exact


def cloud(n, dimension=96, seed=0):
    """Unit vectors around a few hundred centres, as texts on a few hundred matters would be."""
    generator = np.random.default_rng(seed)
    centres = np.random.default_rng(1).standard_normal((300, dimension))
    rows = centres[generator.integers(300, size=n)] + generator.standard_normal((n, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_bits_with_a_second_look_find_nearly_all():
    matrix, queries = cloud(20_000), cloud(40, seed=2)
    assert recall_against_exact(BitIndex(matrix), ExactIndex(matrix), queries) >= 0.95


def test_what_bits_return_is_in_exact_order():
    matrix, (query,) = cloud(10_000), cloud(1, seed=2)
    best, scores = BitIndex(matrix).search(query, 10)
    assert scores.tolist() == sorted(scores.tolist(), reverse=True)
    assert scores == pytest.approx(matrix[best] @ query, abs=1e-6)


def test_bits_are_exact_where_all_are_looked_at():
    matrix, (query,) = cloud(1_500), cloud(1, seed=2)
    assert (
        BitIndex(matrix).search(query, 7)[0].tolist()
        == ExactIndex(matrix).search(query, 7)[0].tolist()
    )
    assert len(BitIndex(matrix).search(query, None)[0]) == 1_500


def test_the_matrix_may_lie_on_disk(tmp_path):
    matrix, (query,) = cloud(9_000), cloud(1, seed=2)
    np.save(tmp_path / "vectors.npy", matrix)
    mapped = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    here, there = BitIndex(matrix).search(query, 5), BitIndex(mapped).search(query, 5)
    assert here[0].tolist() == there[0].tolist()
    assert BitIndex(mapped).nbytes < matrix.nbytes / 20


def test_a_graph_finds_nearly_all():
    if importlib.util.find_spec("usearch") is None:
        pytest.skip("the extra `scale` is not installed (usearch)")
    matrix, queries = cloud(5_000), cloud(40, seed=2)
    found = recall_against_exact(index_of("usearch", matrix), ExactIndex(matrix), queries)
    assert found >= 0.9


def test_unknown_names_and_numbers():
    with pytest.raises(ConfigError, match=r"(?s)unknown index 'bit'.*mean bits"):
        index_of("bit", cloud(3))
    with pytest.raises(ConfigError, match="`looks`"):
        BitIndex(cloud(3), looks=0)
    with pytest.raises(ConfigError, match="unknown index"):
        Dense(index="fast", embedder=Fixed())


class Fixed:
    """Encodes a text by its length, for speed."""

    def encode(self, texts):
        rows = np.array([[np.cos(len(text)), np.sin(len(text))] for text in texts])
        return rows.astype(np.float32)


def test_dense_takes_an_index():
    (conversation,) = load_corpus("harbour", conversations=["harbour-1"]).conversations
    found = []
    for index in ("exact", "bits"):
        system = Dense(embedder=Fixed(), index=index)
        system.ingest(conversation)
        found.append(system.search("Who is it?", k=3))
    assert found[0] == found[1]
