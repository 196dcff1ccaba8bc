import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from unbidden.corpus import load_corpus
from unbidden.memory.dense import Dense
from unbidden.memory.embed import Embedder, EndpointEncoder, SentenceEncoder
from unbidden.memory.rrf import RRF
from unbidden.memory.vectors import VectorCache


class Letters:
    """Counts letters; enough to rank by hand."""

    identity = "letters"

    def __init__(self):
        self.seen = []

    def encode(self, texts):
        self.seen.extend(texts)
        rows = np.array([[1 + t.lower().count(c) for c in "abcdefgh"] for t in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def embedder(tmp_path):
    return Embedder(Letters(), VectorCache(tmp_path / "v.sqlite", "letters"))


@pytest.fixture
def conversation(write, sample):
    return load_corpus(str(write([sample]))).conversations[0]


def test_each_distinct_text_is_encoded_once(embedder):
    first = embedder.encode(["abc", "b", "abc"])
    again = embedder.encode(["b", "abc"])
    assert embedder.encoder.seen == ["abc", "b"]
    np.testing.assert_array_equal(first[:2], again[::-1])
    assert embedder.encoded == 2


def test_cache_outlives_the_process_and_tells_models_apart(tmp_path, embedder):
    embedder.encode(["abc"])
    later = Embedder(Letters(), VectorCache(tmp_path / "v.sqlite", "letters"))
    later.encode(["abc"])
    assert later.encoder.seen == []
    other = Embedder(Letters(), VectorCache(tmp_path / "v.sqlite", "other weights"))
    other.encode(["abc"])
    assert other.encoder.seen == ["abc"]


def test_more_texts_than_one_statement_holds(embedder):
    texts = [f"text {i}" for i in range(1_234)]
    vectors = embedder.encode(texts)
    np.testing.assert_array_equal(vectors, embedder.encode(texts))
    assert vectors.shape == (1_234, 8)


def test_two_processes_write_one_cache(tmp_path):
    code = (
        "import sys, numpy as np, pathlib\n"
        "from unbidden.memory.vectors import VectorCache\n"
        "cache = VectorCache(pathlib.Path(sys.argv[1]), 'm')\n"
        "for i in range(100):\n"
        "    cache.put({cache.key(f'{sys.argv[2]}{i}'): np.ones(4, np.float32)})\n"
    )
    path = str(tmp_path / "v.sqlite")
    jobs = [subprocess.Popen([sys.executable, "-c", code, path, name]) for name in "ab"]
    assert [job.wait(60) for job in jobs] == [0, 0]
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM vectors").fetchone() == (200,)


def test_prepare_changes_nothing_but_time(embedder, conversation):
    plain, prepared = Dense(embedder=embedder), Dense(embedder=embedder)
    prepared.prepare([conversation], ["a cabbage"])
    calls = len(embedder.encoder.seen)
    for system in (plain, prepared):
        system.ingest(conversation)
    assert plain.search("a cabbage", k=6) == prepared.search("a cabbage", k=6)
    assert len(embedder.encoder.seen) == calls


def test_dense_ranks_by_cosine(embedder, conversation):
    system = Dense(embedder=embedder)
    system.ingest(conversation)
    hits = system.search("bead", k=6)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert {hit.sources[0] for hit in hits} == conversation.turn_ids


def test_rrf_is_the_sum_of_reciprocal_ranks(embedder, conversation):
    system = RRF(embedder=embedder)
    system.ingest(conversation)
    parts = [system._bm25, system._dense]
    ranks = [[h.sources[0] for h in part.search("red boat", k=6)] for part in parts]
    for hit in system.search("red boat", k=6):
        expected = sum(1 / (61 + r.index(hit.sources[0])) for r in ranks if hit.sources[0] in r)
        assert hit.score == pytest.approx(expected)
    assert system.search("red boat", k=2) == system.search("red boat", k=6)[:2]


def test_minilm_gives_its_known_cosines():
    pytest.importorskip("sentence_transformers", reason="needs the extra `dense`")
    a, b, c = SentenceEncoder().encode(
        ["That is a happy person", "That is a very happy person", "Today is a sunny day"]
    )
    assert float(a @ b) == pytest.approx(0.943, abs=2e-3)
    assert float(a @ c) == pytest.approx(0.257, abs=2e-3)


def test_endpoint_encoder(httpserver, monkeypatch):
    pytest.importorskip("openai", reason="needs the extra `llm`")
    monkeypatch.setenv("OPENAI_BASE_URL", httpserver.url_for("/v1"))
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    data = [{"object": "embedding", "index": i, "embedding": [3.0 * i, 4.0]} for i in (1, 0)]
    httpserver.expect_request("/v1/embeddings").respond_with_json(
        {
            "object": "list",
            "model": "m",
            "data": data,
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }
    )
    vectors = EndpointEncoder("m").encode(["x", "y"])
    np.testing.assert_allclose(vectors, [[0, 1], [0.6, 0.8]], atol=1e-6)
