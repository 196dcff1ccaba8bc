"""The memory graph of one conversation as a drawing: time from left to right, relation by colour.

It is SVG inside the page: resting on a memory shows its whole text, and print keeps it sharp. The
relation of an edge is told by colour and by dash, so that it can be read without colours.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from unbidden.memory.theanine.relations import RELATIONS
from unbidden.report.figures.looks import FAINT, INK, PAPER, RELATION_COLOURS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unbidden.memory.summaries import SummaryMemory
    from unbidden.memory.theanine.graph import MemoryGraph

_DASHES = ("", "6 3", "2 3", "8 3 2 3", "", "6 3", "2 3")
_COLUMN, _ROW, _TOP, _LEFT = 190, 26, 64, 24
_LABEL = 24  # characters of a memory beside its dot


@dataclass(frozen=True, slots=True)
class GraphView:
    """A memory graph that a notebook shows.

    Attributes
    ----------
    title : str
        What it is of, for people and for screen readers.
    """

    graph: MemoryGraph
    title: str

    def _repr_html_(self) -> str:
        return f'<div class="unbidden-graph">{self.svg()}</div>'

    def __repr__(self) -> str:
        return f"{self.title}: {len(self.graph)} memories, {len(self.graph.edges())} links"

    def svg(self) -> str:
        """Return the drawing."""
        columns = {
            session: list(group)
            for session, group in groupby(
                sorted(self.graph, key=lambda memory: memory.session),
                key=lambda memory: memory.session,
            )
        }
        places = _places(columns)
        width = _LEFT + _COLUMN * max(1, len(columns))
        height = _TOP + _ROW * max(map(len, columns.values()), default=1) + 10
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" '
            f'aria-label="{html.escape(self._told(), quote=True)}" font-family="sans-serif">',
            f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
            *self._legend(),
            *(
                f'<text x="{_LEFT + i * _COLUMN}" y="{_TOP - 18}" font-size="11" '
                f'font-weight="bold" fill="{INK}">session {session}</text>'
                for i, session in enumerate(columns)
            ),
            *self._edges(places),
            *(_dot(memory, *places[memory.id]) for memory in self.graph),
            "</svg>",
        ]
        return "".join(parts)

    def _told(self) -> str:
        counts = self.graph.relations()
        named = ", ".join(f"{name or 'unnamed'} {n}" for name, n in counts.most_common())
        return f"{self!r}. Relations: {named or 'none'}."

    def _legend(self) -> list[str]:
        present = [name for name in RELATIONS if self.graph.relations().get(name)]
        return [
            f'<line x1="{_LEFT + i * 110}" y1="14" x2="{_LEFT + i * 110 + 24}" y2="14" '
            f'{_stroke(name)} stroke-width="2"/><text x="{_LEFT + i * 110 + 30}" y="18" '
            f'font-size="11" fill="{INK}">{html.escape(name)}</text>'
            for i, name in enumerate(present)
        ]

    def _edges(self, places: Mapping[str, tuple[int, int]]) -> list[str]:
        drawn = []
        for old, new, relation in self.graph.edges():
            (x1, y1), (x2, y2) = places[old], places[new]
            bend = (x2 - x1) / 2
            told = f"{self.graph[old].text} — {relation or 'linked'} → {self.graph[new].text}"
            drawn.append(
                f'<path d="M{x1},{y1} C{x1 + bend:.0f},{y1} {x2 - bend:.0f},{y2} {x2},{y2}" '
                f'fill="none" {_stroke(relation)} stroke-width="1.6" opacity="0.85">'
                f"<title>{html.escape(told)}</title></path>"
            )
        return drawn


def _places(columns: Mapping[int, list[SummaryMemory]]) -> dict[str, tuple[int, int]]:
    """Return the place of each memory's dot."""
    return {
        memory.id: (_LEFT + i * _COLUMN, _TOP + j * _ROW)
        for i, memories in enumerate(columns.values())
        for j, memory in enumerate(memories)
    }


def _dot(memory: SummaryMemory, x: int, y: int) -> str:
    short = memory.text if len(memory.text) <= _LABEL else memory.text[: _LABEL - 1] + "…"
    return (
        f"<g><title>{html.escape(f'{memory.id}: {memory.text}')}</title>"
        f'<circle cx="{x}" cy="{y}" r="5" fill="{INK}"/>'
        f'<text x="{x + 9}" y="{y - 5}" font-size="10" fill="{INK}" stroke="{PAPER}" '
        f'stroke-width="3" paint-order="stroke">{html.escape(short)}</text>'
        "</g>"
    )


def _stroke(relation: str) -> str:
    if relation not in RELATIONS:
        return f'stroke="{FAINT}"'
    i = RELATIONS.index(relation)
    dash = f' stroke-dasharray="{_DASHES[i]}"' if _DASHES[i] else ""
    return f'stroke="{RELATION_COLOURS[i]}"{dash}'
