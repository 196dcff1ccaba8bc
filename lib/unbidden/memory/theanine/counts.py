"""What a page reports of THEANINE beside its results: sizes, rates and losses."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unbidden.memory.theanine.graph import MemoryGraph

SEARCH_EVENTS = {
    "timelines": "timelines drawn",
    "timelines_fallback": "timelines that no oldest memory of their component leads to",
    "timelines_several_starts": "timelines with several memories to begin at",
    "timelines_exhausted": "memories without a timeline that was not drawn already",
    "components_shared": "memories left to another one of their component",
    "refinements_failed": "texts not rewritten because the call failed",
}
"""Counters of searches, and what a note calls them."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of one conversation's graph, and of all searches since the system was made.

    Attributes
    ----------
    memories, edges, components, largest_component : int
    relations : mapping of str to int
        Edges by label; "" is an edge made without a model.
    pairs, asked, saved : int
        Pairs of a new memory and a candidate; those a model was asked about; those early stop
        spared.
    related, unrelated, unknown, failed : int
        What the model said of the pairs asked: a relation, none, no label, no usable reply.
    unknown_labels : mapping of str to int
        What it said instead of a label.
    timelines, fallback, several_starts, exhausted, refinements_failed : int
        See `SEARCH_EVENTS`.
    """

    memories: int
    edges: int
    components: int
    largest_component: int
    relations: Mapping[str, int]
    pairs: int
    asked: int
    saved: int
    related: int
    unrelated: int
    unknown: int
    failed: int
    unknown_labels: Mapping[str, int]
    timelines: int
    fallback: int
    several_starts: int
    exhausted: int
    refinements_failed: int

    @property
    def unknown_rate(self) -> float | None:
        """Share of unknown labels among the replies that could be read; None without any."""
        read = self.related + self.unrelated + self.unknown
        return self.unknown / read if read else None

    @property
    def fallback_rate(self) -> float | None:
        """Share of timelines that began at the stated fall-back; None if none was drawn."""
        return self.fallback / self.timelines if self.timelines else None


def counts(
    graph: MemoryGraph,
    written: Mapping[str, int],
    searched: Mapping[str, int],
    unknown_labels: Mapping[str, int],
) -> Counts:
    """Return the counts of a graph from the events of its ingestion and of searches."""
    components = graph.components()
    return Counts(
        memories=len(graph),
        edges=len(graph.edges()),
        components=len(components),
        largest_component=max(map(len, components), default=0),
        relations=dict(graph.relations()),
        pairs=written.get("pairs", 0),
        asked=written.get("pairs_asked", 0),
        saved=written.get("pairs_saved", 0),
        related=written.get("relations_found", 0),
        unrelated=written.get("relations_none", 0),
        unknown=written.get("relations_unknown", 0),
        failed=written.get("relations_failed", 0),
        unknown_labels=dict(Counter(unknown_labels).most_common()),
        timelines=searched.get("timelines", 0),
        fallback=searched.get("timelines_fallback", 0),
        several_starts=searched.get("timelines_several_starts", 0),
        exhausted=searched.get("timelines_exhausted", 0),
        refinements_failed=searched.get("refinements_failed", 0),
    )
