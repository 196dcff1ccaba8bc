"""Retrieving memories from a written graph, and turning their timelines into search results."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from unbidden.memory.protocol import Retrieved
from unbidden.memory.records import united
from unbidden.memory.theanine.timelines import Timelines, broken_down, event_text

if TYPE_CHECKING:
    import datetime as dt
    from collections import Counter
    from collections.abc import Iterable, Sequence

    from unbidden.memory.summaries import SummaryMemory
    from unbidden.memory.theanine.refining import Refined
    from unbidden.memory.theanine.timelines import DrawRules, Timeline
    from unbidden.memory.theanine.writing import Writer


class Reader:
    """Draws timelines for a text from a graph that does not grow any more.

    Parameters
    ----------
    seed : int
        With the session and the text it decides every draw, whatever was drawn before.
    events : Counter
        See `unbidden.memory.theanine.timelines.Timelines.drawn`.
    """

    def __init__(self, writer: Writer, rules: DrawRules, seed: int, events: Counter[str]) -> None:
        self._writer, self._rules, self._seed, self._events = writer, rules, seed, events
        self._drawers: dict[int | None, Timelines] = {}

    def timelines(self, text: str, session: int | None, k: int) -> list[Timeline]:
        """Return the timelines of the `k` memories nearest to a text, by nearness.

        Parameters
        ----------
        session : int or None
            Only memories of earlier sessions, and the graph among them, are seen; None sees all.
        """
        found = self._writer.store.search(
            text,
            k,
            among=lambda record: session is None or self._memory(record.id).session < session,
        )
        if session not in self._drawers:
            graph = self._writer.graph.before(session)
            self._drawers[session] = Timelines(graph, self._rules)
        retrieved = [(self._memory(record.id).id, score) for record, score in found]
        generator = Random(f"{self._seed}\0{session}\0{text}")
        return self._drawers[session].drawn(retrieved, generator, self._events)

    def _memory(self, record_id: str) -> SummaryMemory:
        return self._writer.memories[record_id]

    def shuffler(self, text: str) -> Random:
        """Return the generator that shuffles the events found for a text."""
        return Random(f"{self._seed}\0shuffle\0{text}")


def timeline_hits(refined: Iterable[Refined]) -> list[Retrieved]:
    """Return each text as a result, with the turns of all its timelines."""
    return [
        Retrieved(
            one.text,
            united(*(timeline.sources for timeline in one.timelines)),
            max(timeline.score for timeline in one.timelines),
            _common_time(memory for timeline in one.timelines for memory in timeline.memories),
        )
        for one in refined
    ]


def event_hits(
    timelines: Sequence[Timeline], k: int, shuffler: Random | None, *, dates: bool
) -> list[Retrieved]:
    """Return the first `k` events of timelines as results, shuffled if wanted.

    An event has the score of the first timeline it is in.
    """
    chosen = broken_down(timelines)[:k]
    if shuffler is not None:
        shuffler.shuffle(chosen)
    return [
        Retrieved(event_text(memory, dates=dates), memory.sources, timeline.score, memory.time)
        for memory, timeline in chosen
    ]


def _common_time(memories: Iterable[SummaryMemory]) -> dt.datetime | None:
    times = {memory.time for memory in memories}
    return times.pop() if len(times) == 1 else None
