"""Phase II-1: the timelines of retrieved memories (THEANINE section 3.3, Algorithm 2, Eq. 9)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.errors import ConfigError
from unbidden.memory.records import united
from unbidden.memory.theanine.paths import START_RULES, StartRule, path_counts
from unbidden.memory.units import one_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

    from unbidden.corpus.models import TurnId
    from unbidden.memory.summaries import SummaryMemory
    from unbidden.memory.theanine.graph import MemoryGraph
    from unbidden.memory.theanine.paths import Path
    from unbidden.memory.theanine.relations import Label

Per = Literal["memory", "component"]
PER: tuple[Per, ...] = get_args(Per)


@dataclass(frozen=True, slots=True)
class DrawRules:
    """Which timelines are drawn.

    Attributes
    ----------
    start_rule : {"component_oldest", "any_root"}
        Where a timeline begins; see `unbidden.memory.theanine.paths.PathCounts`.
    draws : int
        Timelines for each memory or component; n = 1 in the paper.
    per : {"memory", "component"}
        Draw for each retrieved memory (the paper's text and its code), or for each component that
        holds one, through the best of them (Algorithm 2 as printed).

    Raises
    ------
    ConfigError
        If a value is unknown or out of range.
    """

    start_rule: StartRule = "component_oldest"
    draws: int = 1
    per: Per = "memory"

    def __post_init__(self) -> None:
        one_of("start_rule", self.start_rule, START_RULES)
        one_of("per", self.per, PER)
        if self.draws < 1:
            raise ConfigError(
                "`draws` is out of range",
                expected="1 or more for each memory or component (1 in the paper)",
                got=str(self.draws),
            )


@dataclass(frozen=True, slots=True)
class Timeline:
    """A path through the memory graph.

    Attributes
    ----------
    memories : tuple of SummaryMemory
        Oldest first.
    relations : tuple of str
        Labels between them, one fewer.
    retrieved : str
        Id of the memory it was drawn for.
    score : float
        That memory's cosine with the query.
    paths : int
        How many timelines there were to draw from.
    starts : int
        Memories at which they begin.
    fallback : bool
        Whether none of the component's oldest memories leads to the retrieved one, so that it
        begins at an earliest ancestor (possible with ``start_rule="component_oldest"`` only).
    """

    memories: tuple[SummaryMemory, ...]
    relations: tuple[Label, ...]
    retrieved: str
    score: float
    paths: int = 1
    starts: int = 1
    fallback: bool = False

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its memories."""
        return tuple(memory.id for memory in self.memories)

    @property
    def sources(self) -> tuple[TurnId, ...]:
        """The source turns of all its memories."""
        return united(*(memory.sources for memory in self.memories))

    def text(self, *, dates: bool = False) -> str:
        """Return it as THEANINE writes it: events in brackets, relations between them.

        Parameters
        ----------
        dates : bool
            Begin each event with the day of its session; the paper shows the order only.
        """
        parts = []
        for label, memory in zip(("", *self.relations), self.memories, strict=True):
            parts += [f"({label})"] if label else []
            parts.append(f"[{event_text(memory, dates=dates)}]")
        return " - ".join(parts)


def event_text(memory: SummaryMemory, *, dates: bool = False) -> str:
    """Return a memory's text, after the day of its session if wanted and known."""
    return f"{memory.time:%Y-%m-%d}: {memory.text}" if dates and memory.time else memory.text


class Timelines:
    """Draws timelines from one graph; paths are counted once.

    Parameters
    ----------
    graph : MemoryGraph
        What may be seen: the graph before the current session.
    """

    def __init__(self, graph: MemoryGraph, rules: DrawRules) -> None:
        self.graph, self.rules = graph, rules
        self._ids, self._counts = path_counts(graph, rules.start_rule)
        self._place = {name: i for i, name in enumerate(self._ids)}
        self._oldest: dict[int, int] = {}
        for memory in graph:
            number = graph.component[memory.id]
            self._oldest[number] = min(memory.session, self._oldest.get(number, memory.session))

    def total(self, memory_id: str) -> int:
        """Return how many timelines lead through a memory."""
        return self._counts.total(self._place[memory_id])

    def drawn(
        self,
        retrieved: Iterable[tuple[str, float]],
        generator: Random,
        events: Counter[str] | None = None,
    ) -> list[Timeline]:
        """Return timelines of retrieved memories, no two the same, in their order.

        A timeline is drawn uniformly among those not yet drawn in this turn; a memory all of whose
        timelines are drawn adds nothing, as in the released code. Memories have their turn in the
        order given, best first; the released code takes those of later sessions first.

        Parameters
        ----------
        retrieved : iterable of (memory id, score)
            Best first.
        events : Counter, optional
            Takes ``timelines``, ``timelines_fallback``, ``timelines_several_starts``,
            ``timelines_exhausted`` (a draw that found none left) and ``components_shared``
            (memories left out because their component had its turn).
        """
        events = Counter() if events is None else events
        taken: list[Path] = []
        found: list[Timeline] = []
        seen: set[int] = set()
        for name, score in retrieved:
            if self.rules.per == "component" and self.graph.component[name] in seen:
                events["components_shared"] += 1
                continue
            seen.add(self.graph.component[name])
            for _ in range(self.rules.draws):
                path = self._counts.draw(self._place[name], generator, taken)
                if path is None:
                    events["timelines_exhausted"] += 1
                    break
                taken.append(path)
                found.append(self._timeline(path, name, score))
        events["timelines"] += len(found)
        events["timelines_fallback"] += sum(timeline.fallback for timeline in found)
        events["timelines_several_starts"] += sum(timeline.starts > 1 for timeline in found)
        return found

    def _timeline(self, path: Path, name: str, score: float) -> Timeline:
        ids = [self._ids[i] for i in path]
        node, graph = self._place[name], self.graph
        return Timeline(
            memories=tuple(graph[one] for one in ids),
            relations=tuple(graph.relation(a, b) for a, b in pairwise(ids)),
            retrieved=name,
            score=score,
            paths=self._counts.total(node),
            starts=len(self._counts.starts(node)),
            fallback=self.rules.start_rule == "component_oldest"
            and self._counts.first_session[node] > self._oldest[graph.component[name]],
        )


def broken_down(
    timelines: Sequence[Timeline], generator: Random | None = None
) -> list[tuple[SummaryMemory, Timeline]]:
    """Return the events of timelines one by one, each once, with the first timeline it is in.

    This is the ablation "Broken Down, Shuffled Timeline" (Table 2), whose events are shown like a
    plain list of memories. The paper breaks and shuffles in one; here the two can be told apart.

    Parameters
    ----------
    generator : Random, optional
        Shuffles the events; without it they stand timeline by timeline, oldest first.
    """
    first: dict[str, tuple[SummaryMemory, Timeline]] = {}
    for timeline in timelines:
        for memory in timeline.memories:
            first.setdefault(memory.id, (memory, timeline))
    events = list(first.values())
    if generator is not None:
        generator.shuffle(events)
    return events
