"""Running every query against every system, one conversation at a time."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, get_args

from unbidden.errors import ConfigError, DataError, UnbiddenError
from unbidden.memory.protocol import (
    CountsSearches,
    ExplainsFailures,
    PreparesTexts,
    Provenance,
    SystemInfo,
)
from unbidden.memory.registry import create_system

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from unbidden.corpus.models import Corpus
    from unbidden.memory.protocol import IngestReport, MemorySystem, Retrieved
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
    failures : mapping of int to str
        Reasons why queries, by position, could not be searched for; they are unscored.
    """

    system: str
    info: SystemInfo
    depth: int
    queries: Sequence[Query]
    hits: list[list[Retrieved]]
    ingests: dict[str, IngestReport]
    notes: tuple[str, ...] = ()
    failures: Mapping[int, str] = field(default_factory=dict)


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
    if not queries:
        raise DataError(
            "there is no query to ask",
            expected="at least one question, or a rewrite in one of the styles",
            got=f"{len(corpus.conversations)} conversations of {corpus.name}",
            next_step="check `styles`, `conversations` and the data set (`unbidden data check`)",
        )
    return [
        _run_system(name, _checked(name, create_system(name, **options)), corpus, queries, depth)
        for name in systems
    ]


def _checked(name: str, system: MemorySystem) -> MemorySystem:
    """Return a system that has the protocol's parts, before any work is done with it."""
    info = getattr(system, "info", None)
    known = get_args(Provenance)
    lacking = [part for part in ("ingest", "search") if not callable(getattr(system, part, None))]
    if not isinstance(info, SystemInfo):
        lacking.append("info (a SystemInfo)")
    elif info.provenance not in known:
        lacking.append(f"a provenance among {', '.join(known)}")
    if lacking:
        raise ConfigError(
            f"{name!r} is no memory system",
            expected="`info`, `ingest` and `search`, as in the guide, 'Add a memory system'",
            got=f"without {', '.join(lacking)}",
            next_step="add what it lacks",
        )
    return system


@contextmanager
def _naming(name: str, doing: str) -> Iterator[None]:
    """Say which system failed at what, whatever it raises."""
    try:
        yield
    except UnbiddenError:
        raise
    except Exception as error:
        raise DataError(
            f"system {name!r} failed {doing}",
            got=f"{type(error).__name__}: {str(error)[:300]}",
            next_step="correct the system; the traceback above names the line",
        ) from error


def _run_system(
    name: str, system: MemorySystem, corpus: Corpus, queries: Sequence[Query], depth: int
) -> Rankings:
    if isinstance(system, PreparesTexts):
        system.prepare(corpus.conversations, list(dict.fromkeys(query.text for query in queries)))
    hits: list[list[Retrieved]] = []
    failures: dict[int, str] = {}
    ingests: dict[str, IngestReport] = {}
    for conversation_id, group in groupby(queries, key=lambda query: query.conversation):
        conversation = corpus.conversation(conversation_id)
        with _naming(name, f"taking in {conversation_id}"):
            ingests[conversation_id] = system.ingest(conversation)
        for query in group:
            with _naming(name, f"searching for {query.id} ({query.style})"):
                found = list(system.search(query.text, k=depth, speaker=query.speaker))
                _check(name, query, found, depth, conversation.turn_ids)
            if isinstance(system, ExplainsFailures) and (reason := system.search_failure):
                failures[len(hits)] = reason
            hits.append(found)
    notes = [*_notes(ingests, depth, corpus), *_short(hits, depth)]
    if isinstance(system, CountsSearches):
        notes += [f"searches: {event} ({n})" for event, n in system.search_events.items() if n]
    return Rankings(name, system.info, depth, queries, hits, ingests, tuple(notes), failures)


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
