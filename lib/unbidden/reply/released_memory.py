"""The memories released for THEANINE, and the top 6 its retriever listed for each turn.

The release holds, for 200 episodes of each data set, the sentences the summariser wrote after each
of the five sessions, and for the first 50 the six memories of sessions 1 to 4 that
text-embedding-3-small ranked first for the talk so far (reference, section 6.3). Graph edges are
not in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.corpus.jsonfile import read_json
from unbidden.errors import DataError
from unbidden.reply.published import DATASETS, Dataset, release_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LISTED = 6
"""Memories the release lists for each query."""


@dataclass(frozen=True, slots=True)
class EpisodeQueries:
    """The memories of one episode, and the queries put to them.

    Attributes
    ----------
    conversation : str
        The episode's id in its data set.
    memories : mapping of str to str
        Memory id to text, sessions 1 to 4, in the release's order.
    queries : mapping of str to str
        Turn id to the talk so far, speakers named, one line a turn.
    listed : mapping of str to tuple of str
        Turn id to the released ranking of six memory ids, best first.
    """

    conversation: str
    memories: Mapping[str, str]
    queries: Mapping[str, str]
    listed: Mapping[str, tuple[str, ...]]


def released_memories(dataset: Dataset) -> dict[str, dict[str, str]]:
    """Return the memories of 200 episodes of a data set: episode id to memory id to text.

    A memory id is ``s<session>-m<number>``; sessions 1 to 5 are there. The first 50 episodes are
    those replied to, in the order of their turn ids ``e0`` to ``e49``.
    """
    value, _ = read_json(release_files(dataset)["summary"])
    return {str(item["dataID"]): dict(item["summary"]) for item in value}


def memories_per_session(datasets: Sequence[Dataset] = DATASETS) -> pd.DataFrame:
    """Return how many memories the release's summariser wrote for a session.

    Returns
    -------
    DataFrame
        Columns ``dataset, session, episodes, memories, mean, least, most``.
    """
    rows = [
        (dataset, _session(key), episode)
        for dataset in datasets
        for episode, memories in released_memories(dataset).items()
        for key in memories
    ]
    frame = pd.DataFrame(rows, columns=["dataset", "session", "episode"])
    each = frame.groupby(["dataset", "session", "episode"], sort=False).size().rename("size")
    counts = each.groupby(["dataset", "session"], sort=False).agg(
        ["count", "sum", "mean", "min", "max"]
    )
    counts.columns = ["episodes", "memories", "mean", "least", "most"]
    return counts.reset_index()


def _session(memory_id: str) -> int:
    return int(memory_id.partition("-")[0].removeprefix("s"))


def released_queries(dataset: Dataset, *, last: int | None = None) -> list[EpisodeQueries]:
    """Return the queries of each of the 50 episodes with their pools and released rankings.

    Parameters
    ----------
    last : int, optional
        Ask with the last so many lines of the talk only; the release's own query is all of it.

    Raises
    ------
    DataError
        If a listed memory is not, word for word, in its episode's pool.
    """
    pools = list(released_memories(dataset).items())
    path = release_files(dataset)["msc-retrieval"]
    value, _ = read_json(path)
    by_episode: dict[int, dict[str, Any]] = {}
    for key, record in value.items():
        by_episode.setdefault(int(key.partition("-")[0].removeprefix("e")), {})[key] = record
    found = []
    for number, records in sorted(by_episode.items()):
        conversation, memories = pools[number]
        pool = {key: text for key, text in memories.items() if _session(key) < 5}
        ordered = sorted(records, key=lambda key: int(key.rpartition("-t")[2]))
        found.append(
            EpisodeQueries(
                conversation,
                pool,
                {key: _query(records[key], last) for key in ordered},
                {key: _ranking(records[key], pool, f"{path.name} {key}") for key in ordered},
            )
        )
    return found


def _query(record: Mapping[str, Any], last: int | None) -> str:
    lines: list[str] = record["current_dialogue"]
    return "\n".join(lines[-last:] if last else lines)


def _ranking(record: Mapping[str, Any], pool: Mapping[str, str], where: str) -> tuple[str, ...]:
    listed = [next(iter(item.items())) for item in record["retrieved_memory"]]
    if len(listed) != LISTED or any(pool.get(key) != text for key, text in listed):
        raise DataError(
            f"THEANINE's release: {where} lists other memories than its episode has",
            expected=f"{LISTED} memories, word for word from the summary file",
            got=", ".join(key for key, _ in listed)[:200],
            next_step="run `unbidden data get theanine`",
        )
    return tuple(key for key, _ in listed)
