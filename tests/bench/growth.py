"""Cost against size: synthetic memories from the size of LoCoMo up to a million."""

from __future__ import annotations

import random
import tempfile
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.bench.measure import median, spent
from unbidden.corpus.synthetic import synthetic_conversations
from unbidden.llm.ledger import Ledger
from unbidden.llm.ledger.recording import record, replay
from unbidden.llm.ledger.row import Row
from unbidden.llm.request import canonical
from unbidden.memory.bm25 import OkapiIndex
from unbidden.memory.modelled import IngestLog
from unbidden.memory.nearest import ExactIndex, index_of, recall_against_exact
from unbidden.memory.summaries import SummaryMemory
from unbidden.memory.theanine.linking import LinkRules
from unbidden.memory.theanine.paths import PathCounts
from unbidden.memory.theanine.writing import Writer
from unbidden.memory.tokens import paper_tokens
from unbidden.memory.topk import best_positions
from unbidden.memory.units import turn_units

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

LOCOMO = 5_882
"""Turns of LoCoMo."""

Measured = dict[str, Any]


def _row(part: str, n: int, what: str, cost: Any, **more: Any) -> Measured:
    return {
        "part": part,
        "n": n,
        "what": what,
        "cpu_ms": 1000 * cost.cpu,
        "wall_ms": 1000 * cost.wall,
        **more,
    }


def word_search(n: int, *, queries: int = 20) -> Iterator[Measured]:
    """Index `n` synthetic turns in the paper's form, and ask."""
    units = (u.text for c in synthetic_conversations(n) for u in turn_units(c))
    index, cost = spent(lambda: OkapiIndex(paper_tokens(text) for text in islice(units, n)))
    yield _row("bm25", n, "index", cost, mb=cost.grown)
    asked = chain.from_iterable(c.questions for c in synthetic_conversations(queries, seed=1))
    texts = [question.text for question in islice(asked, queries)]
    texts_left = iter(texts)

    def ask() -> object:
        return best_positions(index.scores(paper_tokens(next(texts_left))), 10)

    yield _row("bm25", n, "query", median(ask, queries))


def spread_vectors(base: NDArray[np.float32], n: int, *, seed: int = 0) -> NDArray[np.float32]:
    """Return `n` unit vectors distributed like real ones: mixtures of two, with some noise."""
    generator = np.random.default_rng(seed)
    made = np.empty((n, base.shape[1]), dtype=np.float32)
    for start in range(0, n, 50_000):
        size = min(50_000, n - start)
        share = generator.uniform(0.6, 1.0, (size, 1)).astype(np.float32)
        first, second = generator.integers(len(base), size=(2, size))
        rows = share * base[first] + (1 - share) * base[second]
        noise = generator.standard_normal(rows.shape, dtype=np.float32)
        rows += noise * np.float32(0.3 / np.sqrt(base.shape[1]))
        made[start : start + size] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return made


def vector_search(
    base: NDArray[np.float32],
    asked: NDArray[np.float32],
    n: int,
    names: Sequence[str],
    *,
    queries: int = 30,
) -> Iterator[Measured]:
    """Build each index over `n` vectors; ask real queries; count what it finds of the exact ten."""
    matrix = spread_vectors(base, n)
    asked = asked[np.random.default_rng(3).integers(len(asked), size=queries)]
    exact = ExactIndex(matrix)
    for name in names:
        index, cost = spent(lambda name=name: index_of(name, matrix))
        if name != "exact":  # which only keeps the vectors
            yield _row(f"dense, {name}", n, "index", cost, mb=index.nbytes / 1e6)
        left = iter(asked)
        cost = median(lambda index=index, left=left: index.search(next(left), 10), queries)
        recall = recall_against_exact(index, exact, asked)
        yield _row(f"dense, {name}", n, "query", cost, recall=recall, mb=index.nbytes / 1e6)


class _Known:
    """Gives texts vectors by their number, without a model."""

    def __init__(self, matrix: NDArray[np.float32]) -> None:
        self.matrix = matrix

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.matrix[[int(text) for text in texts]]


def _memory(number: int, session: int) -> SummaryMemory:
    return SummaryMemory(f"m{number}", str(number), session, None, ())


def linking(base: NDArray[np.float32], n: int, *, new: int = 10) -> Iterator[Measured]:
    """Link the memories of one more session to a graph of `n`, every candidate related."""
    writer = Writer(LinkRules(relations=False), _Known(spread_vectors(base, n + new)), IngestLog())
    for number in range(n):
        memory = _memory(number, number // 10)
        writer.graph.add(memory)
        if number >= 10:
            writer.graph.link(f"m{number - 10}", memory.id, "")
        writer.memories[writer.store.add(memory.text, (), kind="summary").id] = memory
        writer._records[memory.id] = f"m{number + 1}"
    writer.store.search("0", 1)  # what is there already has been encoded by earlier sessions
    session = [_memory(n + i, n) for i in range(new)]
    _, cost = spent(lambda: writer.write(session, lambda pairs: []))  # type: ignore[arg-type]
    yield _row("theanine", n, "link one session of 10", cost)


def timelines(n: int) -> Iterator[Measured]:
    """Count all timelines of `n` memories with three predecessors each, and draw twenty."""
    generator = random.Random(0)
    width = max(10, n // 35)
    sessions = [i // width for i in range(n)]
    edges = [
        (old, node)
        for node in range(width, n)
        for old in generator.sample(range((node // width - 1) * width, node // width * width), 3)
    ]
    counts, cost = spent(lambda: PathCounts(sessions, edges))
    yield _row("theanine", n, "count all timelines", cost, mb=counts.bits() / 8e6)
    nodes = iter(generator.choices(range(n), k=20))
    yield _row("theanine", n, "draw one timeline", median(
        lambda: counts.draw(next(nodes), generator), 20
    ))  # fmt: skip


def _call(number: int) -> Row:
    import hashlib

    request = canonical({"body": {"model": "m", "messages": [{"content": f"text {number}"}]}})
    key = hashlib.sha256(request.encode("ascii")).hexdigest()
    return Row(key, request, "answer", "reply.v1", "0" * 64, "ok", "", "An answer." * 20)


def ledger(n: int) -> Iterator[Measured]:
    """Keep `n` calls, look one up, write them as a recording, and open that."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [_call(number) for number in range(n)]
        with Ledger(folder / "calls.sqlite") as kept:
            _, cost = spent(lambda: [kept.append(row) for row in rows])
            yield _row("ledger", n, "keep all calls", cost)
            keys = iter(row.key for row in rows[:: max(1, n // 30)])
            yield _row("ledger", n, "look one up", median(lambda: kept.answered(next(keys)), 25))
            path, cost = spent(lambda: record(kept, folder))
            yield _row("ledger", n, "write the recording", cost)
        _, cost = spent(lambda: replay(path))
        yield _row("ledger", n, "open the recording", cost)
