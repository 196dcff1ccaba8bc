"""THEANINE's graphs for the switches: those on record, and those of released memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unbidden.errors import NotRecorded
from unbidden.memory.summaries import SummaryMemory
from unbidden.memory.theanine import Theanine
from unbidden.retrieval import Rankings, Rules, retrieve

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from unbidden.reply.released_memory import EpisodeQueries
    from unbidden.report.faults.base import Context

ASKED = {"dialogues": "none"}
"""How the recorded graphs were made."""


def graphs_on_record(context: Context) -> Iterator[tuple[str, Theanine]]:
    """Yield the graph of each conversation on record.

    Raises
    ------
    NotRecorded
        If there is none.
    """
    found, missing = 0, None
    for talk in context.corpus.conversations:
        try:
            system = graph_of(context, talk.id)
        except NotRecorded as error:
            missing = error
            continue
        found += 1
        yield talk.id, system
    if missing is not None and not found:
        raise missing


def graph_of(context: Context, conversation: str, **options: Any) -> Theanine:
    """Return the graph of one conversation, linked as recorded but for `options`."""
    system = Theanine(llm=context.llm, embedder=context.config.embedder, **{**ASKED, **options})
    system.ingest(context.corpus.conversation(conversation))
    return system


def graph_of_released(context: Context, episode: EpisodeQueries, **options: Any) -> Theanine:
    """Return a graph of released memories, linked by nearness alone: no model is asked."""
    system = Theanine(
        llm=context.llm,
        embedder=context.config.embedder,
        relations=False,
        seed=context.config.seed,
        **{**ASKED, **options},
    )
    memories = [
        SummaryMemory(key, text, int(key.partition("-")[0][1:]), None, ())
        for key, text in episode.memories.items()
    ]
    system.ingest_memories(memories)
    return system


def searched(context: Context, name: str, options: Mapping[str, Any], *, depth: int) -> Rankings:
    """Return what a system finds with these options for all queries.

    Raises
    ------
    NotRecorded
        If its calls are on record for no conversation.
    """
    [ranking] = retrieve(
        context.corpus,
        context.queries(),
        [name],
        depth=depth,
        rules=Rules(unrecorded="unscored"),
        per_system={name: options},
        llm=context.llm,
        embedder=context.config.embedder,
    )
    if not ranking.ingests:
        raise NotRecorded(f"no conversation of {name} is on record with {dict(options)}")
    return ranking
