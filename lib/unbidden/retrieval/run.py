"""Running every query against every system, one conversation at a time."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from unbidden.errors import ConfigError, DataError
from unbidden.memory.protocol import CountsSearches, PreparesTexts
from unbidden.memory.registry import create_system

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Corpus
    from unbidden.memory.protocol import IngestReport, MemorySystem, Retrieved, SystemInfo
    from unbidden.queries.build import Query


@dataclass(frozen=True, slots=True)
class Rankings:
    """What one system returned.

    Attributes
    ----------
    hits : list of list of Retrieved
        Memories for each query, best first, in the order of `queries`.
    ingests : dict of str to IngestReport
        By conversation: each was taken in once.
    notes : tuple of str
        Warnings to print beside the numbers.
    """

    system: str
    info: SystemInfo
    depth: int
    queries: Sequence[Query]
    hits: list[list[Retrieved]]
    ingests: dict[str, IngestReport]
    notes: tuple[str, ...] = ()


def retrieve(
    corpus: Corpus,
    queries: Sequence[Query],
    systems: Sequence[str],
    *,
    depth: int,
    **options: object,
) -> list[Rankings]:
    """Return the rankings of each system over all queries.

    Parameters
    ----------
    queries : sequence of Query
        Grouped by conversation, as `build_queries` returns them.
    systems : sequence of str
        Registry names, or ``package.module:Class``.
    depth : int
        Memories asked for per query: the largest K that will be scored.
    **options
        Passed to each system that takes them (protocol, embedder, ...).

    Raises
    ------
    ConfigError
        If `depth` is not positive, `systems` repeats a name, or a name is unknown.
    DataError
        If a system breaks the protocol (returns more than K memories, or unknown turn ids).
    """
    if depth < 1:
        raise ConfigError(
            "K is out of range",
            expected="1 or more memories",
            got=str(depth),
            next_step="set `top_k` and `ks` to positive numbers",
        )
    if len(set(systems)) != len(systems) or not systems:
        raise ConfigError(
            "`systems` names none or one twice", expected="different names", got=str(list(systems))
        )
    return [
        _run_system(name, create_system(name, **options), corpus, queries, depth)
        for name in systems
    ]


def _run_system(
    name: str, system: MemorySystem, corpus: Corpus, queries: Sequence[Query], depth: int
) -> Rankings:
    if isinstance(system, PreparesTexts):
        system.prepare(corpus.conversations, list(dict.fromkeys(query.text for query in queries)))
    hits: list[list[Retrieved]] = []
    ingests: dict[str, IngestReport] = {}
    for conversation_id, group in groupby(queries, key=lambda query: query.conversation):
        conversation = corpus.conversation(conversation_id)
        ingests[conversation_id] = system.ingest(conversation)
        for query in group:
            found = system.search(query.text, k=depth, speaker=query.speaker)
            _check(name, query, found, depth, conversation.turn_ids)
            hits.append(found)
    notes = [*_notes(ingests, depth, corpus), *_short(hits, depth)]
    if isinstance(system, CountsSearches):
        notes += [f"searches: {event} ({n})" for event, n in system.search_events.items() if n]
    return Rankings(name, system.info, depth, queries, hits, ingests, tuple(notes))


def _check(
    name: str, query: Query, found: list[Retrieved], depth: int, known: frozenset[object]
) -> None:
    """Stop at the first break of the protocol, which would give wrong numbers in silence."""
    if len(found) > depth:
        problem, got = f"at most {depth} memories", f"{len(found)}"
    elif unknown := {source for hit in found for source in hit.sources} - known:
        problem, got = "source ids of turns of the conversation", f"{sorted(map(str, unknown))[:5]}"
    else:
        return
    raise DataError(
        f"system {name!r} broke the memory protocol on query {query.id} ({query.style})",
        expected=problem,
        got=got,
        next_step="correct its `search`; see the guide, 'Add a memory system'",
    )


def _notes(ingests: dict[str, IngestReport], depth: int, corpus: Corpus) -> list[str]:
    notes = []
    small = [key for key, report in ingests.items() if 0 < report.memories <= depth]
    if small:
        notes.append(
            f"K = {depth} is at least the number of memories held of {', '.join(small[:5])}"
            f"{' and others' if len(small) > 5 else ''}: everything is returned there"
        )
    failed = sum(report.failed for report in ingests.values())
    if failed:
        units = sum(report.units for report in ingests.values())
        notes.append(f"{failed} of {units} units were lost, in whole or in part, while ingesting")
    unasked = len(corpus.conversations) - len(ingests)
    if unasked:
        notes.append(f"{unasked} conversations have no query in these styles")
    return notes


def _short(hits: list[list[Retrieved]], depth: int) -> list[str]:
    short = sum(len(found) < depth for found in hits)
    if not short:
        return []
    nothing = sum(not found for found in hits)
    return [
        f"{short} of {len(hits)} queries brought fewer than {depth} memories to mind, "
        f"{nothing} of them none"
    ]
