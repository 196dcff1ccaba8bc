"""A retrieval run in pieces: one conversation and one system are one unit of work.

Pieces may be made by other processes or machines, in any order, and again after a failure. Merged,
they are the table that one process would have written, byte for byte (provided vectors come from
one cache: a text encoded alone may differ in its last bits from one encoded in a batch).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from unbidden.atomic import replacing
from unbidden.config import run_folder, without_paths
from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError, DataError
from unbidden.llm.session import open_llm
from unbidden.memory.presets import all_options, needs_model
from unbidden.queries.build import build_queries
from unbidden.retrieval import Rules, retrieve, score_rankings, text_recall_items

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from unbidden.config import RetrievalConfig
    from unbidden.corpus.models import Corpus

_KEY = b"unbidden"
"""Of the file's metadata: what the piece was made from."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One unit of work; files are named by its number, since ids are a data set's text."""

    number: int
    conversation: str
    system: str


def shards(config: RetrievalConfig) -> list[Shard]:
    """Return the units of work of a run, by system, then conversation in the corpus's order."""
    corpus = load_corpus(config.dataset, conversations=config.conversations)
    pairs = [(c.id, system) for system in config.systems for c in corpus.conversations]
    return [Shard(i, conversation, system) for i, (conversation, system) in enumerate(pairs)]


def shard_path(config: RetrievalConfig, number: int) -> Path:
    """Return where a piece is written."""
    return _folder(config) / f"{number:05d}.parquet"


def merged_path(config: RetrievalConfig) -> Path:
    """Return where the merged table is written."""
    return _folder(config) / "items.parquet"


def _folder(config: RetrievalConfig) -> Path:
    return run_folder(config.run, f"{config.chapter}-shards")


def retrieval_items(config: RetrievalConfig, systems: Sequence[str]) -> pd.DataFrame:
    """Return the items of a run, as the retrieval chapter makes them, for some systems."""
    corpus = load_corpus(config.dataset, conversations=config.conversations)
    return _items(config, corpus, systems)


def _items(config: RetrievalConfig, corpus: Corpus, systems: Sequence[str]) -> pd.DataFrame:
    queries = build_queries(
        corpus, styles=config.styles, evidence=config.evidence, limit=config.limit
    )
    options: dict[str, Any] = {"protocol": config.protocol, "embedder": config.embedder}
    llm = open_llm(config) if any(needs_model(name) for name in systems) else None
    try:
        rankings = retrieve(
            corpus,
            queries,
            systems,
            depth=config.depth,
            rules=Rules(max_failed=config.max_failed, unrecorded="unscored"),
            per_system=all_options(systems, config.settings, config.system_options),
            **options,
            llm=llm,
        )
    finally:
        if llm is not None:
            llm.close()
    scored = score_rankings(
        corpus.name,
        rankings,
        ks=config.all_ks,
        turn_budgets=config.turn_budgets,
        token_budgets=config.token_budgets,
        condition=config.protocol,
    )
    words = text_recall_items(corpus, rankings, ks=[config.top_k], condition=config.protocol)
    return pd.concat([scored, words], ignore_index=True)


def run_shard(config: RetrievalConfig, number: int) -> Path:
    """Make one piece and return its file, which appears whole.

    Raises
    ------
    ConfigError
        If there is no piece of that number.
    """
    every = shards(config)
    if not 0 <= number < len(every):
        raise ConfigError(
            f"there is no piece {number}",
            expected=f"0 to {len(every) - 1}: {len(config.systems)} systems, each with "
            f"{len(every) // len(config.systems)} conversations",
            next_step="`unbidden shards list` shows them",
        )
    one = every[number]
    corpus = load_corpus(config.dataset, conversations=[one.conversation])
    path = shard_path(config, number)
    write_items(path, _items(config, corpus, [one.system]), _identity(config, one))
    return path


def merge_shards(config: RetrievalConfig) -> Path:
    """Write the table one process would have written, and return its file.

    Raises
    ------
    DataError
        If a piece is missing, damaged, or made with other parameters or data.
    """
    every = shards(config)
    frames = [_read(config, one) for one in every]
    place = {name: i for i, name in enumerate(config.systems)}
    rows = pd.concat(frames, ignore_index=True)
    # One process goes by kind of value (words last), system, metric and K, then query.
    metrics = {
        pair: i
        for i, pair in enumerate(
            dict.fromkeys(zip(frames[0]["metric"], frames[0]["k"], strict=True))
        )
    }
    order = pd.DataFrame(
        {
            "words": rows["metric"].eq("text_recall"),
            "system": rows["system"].map(place),
            "metric": [metrics[pair] for pair in zip(rows["metric"], rows["k"], strict=True)],
        }
    )
    ranked = order.sort_values(["words", "system", "metric"], kind="stable").index
    path = merged_path(config)
    write_items(path, rows.loc[ranked].reset_index(drop=True), b"")
    return path


def write_items(path: Path, frame: pd.DataFrame, identity: bytes) -> None:
    """Write items as Parquet, atomically, with what they were made from in the metadata."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), _KEY: identity})
    with replacing(path) as partial:
        pq.write_table(table, partial, compression="zstd")


def _identity(config: RetrievalConfig, one: Shard) -> bytes:
    """Return a digest of all that a piece depends on."""
    corpus = load_corpus(config.dataset, conversations=[one.conversation])
    made_from = {
        "parameters": without_paths(config.model_dump(mode="json", exclude={"run"})),
        "conversation": one.conversation,
        "system": one.system,
        "data": [file.sha256 for file in corpus.sources],
    }
    return hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest().encode()


def _read(config: RetrievalConfig, one: Shard) -> pd.DataFrame:
    path = shard_path(config, one.number)
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise DataError(
            f"the piece {one.number} ({one.system} on {one.conversation!r}) cannot be read",
            expected=f"a Parquet file {path.name} in {path.parent.name}",
            got=f"{type(error).__name__}: {str(error)[:200]}",
            next_step=f"`unbidden shards run {one.number}` with the same parameters",
        ) from error
    if (table.schema.metadata or {}).get(_KEY) != _identity(config, one):
        raise DataError(
            f"the piece {one.number} ({one.system} on {one.conversation!r}) is of another run",
            expected="a piece made with these parameters from this data",
            next_step=f"`unbidden shards run {one.number}` with the same parameters",
        )
    frame: pd.DataFrame = table.to_pandas()
    return frame
