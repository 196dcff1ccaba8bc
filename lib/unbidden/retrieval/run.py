"""Running every query against every system, one conversation at a time."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from unbidden.errors import ConfigError, DataError, NotRecorded
from unbidden.memory.protocol import (
    AsksWhileSearching,
    CountsSearches,
    ExplainsFailures,
    PreparesTexts,
)
from unbidden.memory.registry import create_system
from unbidden.retrieval.contract import check_found, checked, naming, refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from unbidden.corpus.models import Conversation, Corpus
    from unbidden.memory.protocol import (
        CallCount,
        IngestReport,
        MemorySystem,
        Retrieved,
        SystemInfo,
    )
    from unbidden.queries.build import Query


NOT_RECORDED = "the model calls of this conversation are not on record"


@dataclass(frozen=True, slots=True)
class Rules:
    """When a system's store of a conversation is not scored.

    Attributes
    ----------
    max_failed : float
        Largest share of units that may have failed.
    unrecorded : {"error", "unscored"}
        Where calls are replayed and are not on record: stop, or go on without the conversation.
    """

    max_failed: float = 0.05
    unrecorded: Literal["error", "unscored"] = "error"


STRICT = Rules()


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
    refused : dict of str to str
        Conversations whose store is not fit to be scored, with the reason.
    search_calls : mapping of str to CallCount
        Model calls made while searching, by prompt name; those of storing are in `ingests`.
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
    refused: Mapping[str, str] = field(default_factory=dict)
    search_calls: Mapping[str, CallCount] = field(default_factory=dict)
    failures: Mapping[int, str] = field(default_factory=dict)

    def unfit(self, position: int) -> str | None:
        """Return why what was found for a query, by position, is no measurement, or None."""
        return self.refused.get(self.queries[position].conversation) or self.failures.get(position)

    @property
    def not_run(self) -> list[str]:
        """The refused conversations that were not stored: their model calls are not on record."""
        return [key for key, reason in self.refused.items() if reason == NOT_RECORDED]

    @property
    def lost(self) -> list[str]:
        """The refused conversations that were stored, with too much of them lost."""
        return [key for key in self.refused if key not in self.not_run]


def retrieve(
    corpus: Corpus,
    queries: Sequence[Query],
    systems: Sequence[str],
    *,
    depth: int,
    rules: Rules = STRICT,
    per_system: Mapping[str, Mapping[str, object]] | None = None,
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
    rules : Rules
        When a conversation is refused, so that its queries are unscored.
    per_system : mapping of str to mapping, optional
        Options of one system, by its name; an unknown one is an error.
    **options
        Passed to each system that takes them (protocol, embedder, llm, ...).

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
    rankings = []
    for name in systems:
        own = (per_system or {}).get(name, {})
        system = checked(name, create_system(name, own=own, **options))
        rankings.append(_run_system(name, system, corpus, queries, depth, rules))
    return rankings


def _run_system(
    name: str,
    system: MemorySystem,
    corpus: Corpus,
    queries: Sequence[Query],
    depth: int,
    rules: Rules,
) -> Rankings:
    hits: list[list[Retrieved]] = []
    ingests: dict[str, IngestReport] = {}
    refused: dict[str, str] = {}
    failures: dict[int, str] = {}
    with _unrecorded(rules, refused, {query.conversation for query in queries}):
        if isinstance(system, PreparesTexts):
            texts = list(dict.fromkeys(query.text for query in queries))
            system.prepare(corpus.conversations, texts)
    for key, group in groupby(queries, key=lambda query: query.conversation):
        asked = list(group)
        found: list[list[Retrieved]] = [[] for _ in asked]
        if key not in refused:
            with _unrecorded(rules, refused, {key}):
                ingests[key], found, failed = _run_conversation(
                    name, system, corpus.conversation(key), asked, depth
                )
                failures |= {len(hits) + i: reason for i, reason in failed.items()}
                if reason := refusal(ingests[key], rules.max_failed):
                    refused[key] = reason
        hits += found
    notes = [*_notes(ingests, depth, corpus), *_short(hits, depth)]
    notes += [f"{key}: {reason}" for key, reason in refused.items()]
    if isinstance(system, CountsSearches):
        notes += [f"searches: {event} ({n})" for event, n in system.search_events.items() if n]
    calls = dict(system.search_calls) if isinstance(system, AsksWhileSearching) else {}
    return Rankings(
        name, system.info, depth, queries, hits, ingests, tuple(notes), refused, calls, failures
    )


@contextmanager
def _unrecorded(rules: Rules, refused: dict[str, str], keys: Iterable[str]) -> Iterator[None]:
    """Refuse conversations whose model calls are not on record, if the run may go on without."""
    try:
        yield
    except NotRecorded:
        if rules.unrecorded == "error":
            raise
        refused.update(dict.fromkeys(keys, NOT_RECORDED))


def _run_conversation(
    name: str,
    system: MemorySystem,
    conversation: Conversation,
    queries: Sequence[Query],
    depth: int,
) -> tuple[IngestReport, list[list[Retrieved]], dict[int, str]]:
    """Return the report, the memories of each query, and why some could not be searched for."""
    with naming(name, f"taking in {conversation.id}"):
        report = system.ingest(conversation)
    hits: list[list[Retrieved]] = []
    failures: dict[int, str] = {}
    explains: ExplainsFailures | None = None
    for query in queries:
        with naming(name, f"searching for {query.id} ({query.style})"):
            found = list(system.search(query.text, k=depth, speaker=query.speaker))
            check_found(name, query, found, depth, conversation.turn_ids)
        if not hits:  # not before the first search, which may be what sets the attribute
            explains = system if isinstance(system, ExplainsFailures) else None
        if explains is not None and (reason := explains.search_failure):
            failures[len(hits)] = reason
        hits.append(found)
    return report, hits, failures


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
