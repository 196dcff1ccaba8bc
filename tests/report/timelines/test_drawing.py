"""The drawing of a memory graph."""

import re
from xml.etree import ElementTree

import pytest

from unbidden.memory.summaries import SummaryMemory
from unbidden.memory.theanine.graph import MemoryGraph
from unbidden.memory.theanine.relations import RELATIONS
from unbidden.report.timelines.drawing import GraphView


def graph(*texts):
    """Build a chain of memories, one a session, linked by the relations in turn."""
    made = MemoryGraph()
    for i, text in enumerate(texts, start=1):
        made.add(SummaryMemory(f"s{i}-m1", text, i, None, ()))
        if i > 1:
            made.link(f"s{i - 1}-m1", f"s{i}-m1", RELATIONS[(i - 2) % len(RELATIONS)])
    return made


def test_it_is_xml_with_every_memory_and_link_to_be_read():
    view = GraphView(graph(*(f"memory {i}" for i in range(9))), "hand")
    root = ElementTree.fromstring(view.svg())
    titles = [item.text for item in root.iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) == 9 + 8
    assert "9 memories, 8 links" in root.get("aria-label")
    strokes = {
        (path.get("stroke"), path.get("stroke-dasharray"))
        for path in root.iter("{http://www.w3.org/2000/svg}path")
    }
    assert len(strokes) == len(RELATIONS), "each relation has a look of its own"


def test_time_goes_from_left_to_right():
    root = ElementTree.fromstring(GraphView(graph("a", "b", "c"), "hand").svg())
    x = [int(dot.get("cx")) for dot in root.iter("{http://www.w3.org/2000/svg}circle")]
    assert x == sorted(x)
    assert len(set(x)) == 3


@pytest.mark.parametrize("bad", ["<script>alert(1)</script>", '"><img src=x onerror=y>', "a & b"])
def test_conversation_text_is_text(bad):
    shown = GraphView(graph(bad, bad), bad)._repr_html_()
    assert "<script" not in shown
    assert "<img" not in shown
    ElementTree.fromstring(re.search(r"<svg.*</svg>", shown, re.DOTALL).group())


def test_an_empty_graph_can_be_drawn():
    assert "<svg" in GraphView(MemoryGraph(), "nothing").svg()
