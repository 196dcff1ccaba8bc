"""The memory graph: summary sentences of sessions, joined from older to newer by a relation."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from typing import TYPE_CHECKING

import networkx as nx
from networkx.utils import UnionFind

from unbidden.atomic import replacing
from unbidden.errors import DataError
from unbidden.memory.summaries import SummaryMemory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from unbidden.memory.theanine.relations import Label

_NOT_XML = re.compile(r"[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class MemoryGraph:
    """A directed graph that only grows (THEANINE section 3.1).

    Nodes carry ``text``, ``session`` (int), ``order`` (int, counting the memories as they were
    made), ``time`` (datetime or None) and ``sources`` (turn ids); edges carry ``relation`` and run
    from an earlier session to a later one, so there is no cycle. There is no way to take anything
    out again.

    Attributes
    ----------
    nx : networkx.DiGraph
        The graph itself, for algorithms and drawings; not to be changed.
    """

    def __init__(self) -> None:
        self.nx = nx.DiGraph()
        self._memories: dict[str, SummaryMemory] = {}
        self._component: dict[str, int] | None = None
        self._joined = UnionFind()

    def __len__(self) -> int:
        return len(self._memories)

    def __iter__(self) -> Iterator[SummaryMemory]:
        return iter(self._memories.values())

    def __contains__(self, memory_id: str) -> bool:
        return memory_id in self._memories

    def __getitem__(self, memory_id: str) -> SummaryMemory:
        return self._memories[memory_id]

    def add(self, memory: SummaryMemory) -> None:
        """Add a memory.

        Raises
        ------
        DataError
            If there is one of that id.
        """
        if memory.id in self._memories:
            raise DataError(
                "a memory is in the graph already",
                expected="an id of its own for each memory",
                got=memory.id,
                next_step="number the memories of a session from 1, and take in a session once",
            )
        self._memories[memory.id] = memory
        self._component = None
        self._joined.union(memory.id)  # a component of its own
        self.nx.add_node(
            memory.id,
            text=memory.text,
            session=memory.session,
            order=len(self._memories),
            time=memory.time,
            sources=memory.sources,
        )

    def link(self, old: str, new: str, relation: Label) -> None:
        """Add an edge.

        Raises
        ------
        DataError
            If it exists, if a memory is not there, or if the first is not of an earlier session.
        """
        known = old in self and new in self
        if not known or self[old].session >= self[new].session or self.nx.has_edge(old, new):
            raise DataError(
                "two memories cannot be linked",
                expected="two memories of the graph, the first of an earlier session, not linked",
                got=f"{old} to {new}",
                next_step="link each pair once, from old to new",
            )
        self.nx.add_edge(old, new, relation=relation)
        self._joined.union(old, new)
        self._component = None

    def relation(self, old: str, new: str) -> Label:
        """Return the label of an edge."""
        label: Label = self.nx.edges[old, new]["relation"]
        return label

    def edges(self) -> list[tuple[str, str, Label]]:
        """Return all edges (old, new, relation), by older memory in order of making."""
        return [(a, b, data["relation"]) for a, b, data in self.nx.edges(data=True)]

    def relations(self) -> Counter[str]:
        """Return how many edges carry each label."""
        return Counter(label for _, _, label in self.edges())

    def root(self, memory_id: str) -> str:
        """Return a memory that stands for the weak component of this one, until the next link.

        It costs nearly nothing, while `component` reads the whole graph after each change.
        """
        return str(self._joined[memory_id])

    @property
    def component(self) -> Mapping[str, int]:
        """The number of each memory's weak component; components count from their first memory."""
        if self._component is None:
            groups = list(nx.weakly_connected_components(self.nx))
            order = {name: position for position, name in enumerate(self._memories)}
            groups.sort(key=lambda group: min(order[name] for name in group))
            self._component = {name: i for i, group in enumerate(groups) for name in group}
        return self._component

    def components(self) -> list[list[str]]:
        """Return the weak components, each in order of making."""
        groups: dict[int, list[str]] = {}
        for name in self._memories:
            groups.setdefault(self.component[name], []).append(name)
        return list(groups.values())

    def before(self, session: int | None) -> MemoryGraph:
        """Return the graph as it was when a session began; None means as it is now.

        Edges only go forward and nothing is deleted, so the memories of earlier sessions and the
        edges among them are just that.
        """
        if session is None:
            return self
        earlier = MemoryGraph()
        for memory in self:
            if memory.session < session:
                earlier.add(memory)
        for old, new, label in self.edges():
            if new in earlier:
                earlier.link(old, new, label)
        return earlier

    def write_graphml(self, path: Path) -> None:
        """Write the graph as GraphML, atomically.

        Times are ISO texts ("" if unknown), source turns a JSON list as text. Characters XML cannot
        hold become U+FFFD.
        """
        plain = nx.DiGraph()
        for name, data in self.nx.nodes(data=True):
            time = data["time"]
            plain.add_node(
                _xml(name),
                text=_xml(data["text"]),
                session=data["session"],
                order=data["order"],
                time=time.isoformat() if time else "",
                sources=json.dumps(data["sources"]),
            )
        for old, new, label in self.edges():
            plain.add_edge(_xml(old), _xml(new), relation=label)
        with replacing(path) as partial:
            # Not nx.write_graphml: what that writes depends on whether lxml is installed.
            nx.write_graphml_xml(plain, str(partial), encoding="utf-8")

    @classmethod
    def read_graphml(cls, path: Path) -> MemoryGraph:
        """Return a graph that `write_graphml` wrote.

        Raises
        ------
        DataError
            If the file is no such graph.
        """
        try:
            found = nx.read_graphml(path)
            rows = sorted(found.nodes(data=True), key=lambda row: row[1]["order"])
            return cls.of(
                (_memory(name, data) for name, data in rows),
                ((a, b, data.get("relation", "")) for a, b, data in found.edges(data=True)),
            )
        except (OSError, SyntaxError, KeyError, ValueError, nx.NetworkXError) as error:
            raise DataError(
                f"{path.name} is no memory graph",
                expected="a GraphML file as `write_graphml` writes it",
                got=f"{type(error).__name__}: {str(error)[:200]}",
                next_step="export the graph again",
            ) from error

    @classmethod
    def of(
        cls, memories: Iterable[SummaryMemory], edges: Iterable[tuple[str, str, Label]] = ()
    ) -> MemoryGraph:
        """Return a graph of memories, in the order of making, and edges."""
        graph = cls()
        for memory in memories:
            graph.add(memory)
        for old, new, label in edges:
            graph.link(old, new, label)
        return graph


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def _memory(name: str, data: Mapping[str, object]) -> SummaryMemory:
    time = str(data["time"]) if data.get("time") else ""
    return SummaryMemory(
        id=name,
        text=str(data["text"]),
        session=int(str(data["session"])),
        time=dt.datetime.fromisoformat(time) if time else None,
        sources=tuple(json.loads(str(data["sources"]))),
    )
