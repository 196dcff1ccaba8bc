"""The memory graph: it only grows, forward; components; export and return."""

import datetime as dt
import string

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.memory.theanine.hand import dags, drawing, memory
from unbidden.errors import DataError
from unbidden.memory.summaries import SummaryMemory
from unbidden.memory.theanine.graph import MemoryGraph


def test_nodes_and_edges_carry_what_the_paper_s_memories_have():
    graph = drawing()
    assert graph.nx.nodes["e"] == {
        "text": "Event e.", "session": 3, "order": 7, "time": dt.datetime(2023, 5, 3, 13),
        "sources": ("D3:1",),
    }  # fmt: skip
    assert graph.nx.edges["c", "e"] == {"relation": "Changed"}
    assert graph.relation("d", "g") == "Cause" and graph.relations()["Cause"] == 2
    assert len(graph) == 9 and "z" in graph and graph["z"].session == 2


def test_components_count_from_the_first_memory():
    graph = drawing()
    assert graph.components() == [["a", "b", "c", "d", "x", "e", "f", "g"], ["z"]]
    assert graph.component["b"] == 0 and graph.component["z"] == 1
    graph.add(memory("n", 5))
    assert graph.component["n"] == 2
    graph.link("z", "n", "Want")
    assert graph.component["n"] == graph.component["z"] == 1


@pytest.mark.parametrize("pair", ["e a", "a b", "a a", "a c", "a q", "q a"])
def test_edges_run_once_and_forward_between_known_memories(pair):
    graph = drawing()
    with pytest.raises(DataError, match="cannot be linked"):
        graph.link(*pair.split(), "Cause")
    assert graph.edges() == drawing().edges()


def test_a_memory_comes_once_and_nothing_can_be_taken_out():
    graph = drawing()
    with pytest.raises(DataError, match="in the graph already"):
        graph.add(memory("a", 9))
    assert graph["a"].session == 1
    assert not [name for name in dir(graph) if "remove" in name or "delete" in name]


def test_the_graph_before_a_session_is_what_it_was_then():
    graph = drawing()
    assert [m.id for m in graph.before(3)] == ["a", "b", "c", "d", "x", "z"]
    assert graph.before(3).components() == [["a", "b", "c", "d"], ["x"], ["z"]]
    assert graph.before(4).nx.out_degree("e") == 0, "a later memory is no future yet"
    assert len(graph.before(1)) == 0 and graph.before(None) is graph
    assert graph.before(5).edges() == graph.edges()


@settings(deadline=None)
@given(dags(), st.integers(1, 6))
def test_growing_in_time_gives_every_earlier_graph(dag, session):
    sessions, edges = dag
    graph = MemoryGraph.of(
        [memory(f"m{i}", s) for i, s in enumerate(sessions)],
        [(f"m{a}", f"m{b}", "") for a, b in edges],
    )
    assert nx.is_directed_acyclic_graph(graph.nx)
    earlier = graph.before(session)
    grown = [e for e in graph.edges() if graph[e[1]].session < session]
    assert earlier.edges() == grown
    for old, new, _ in graph.edges():
        assert graph.component[old] == graph.component[new]
    roots = {name: graph.root(name) for name in graph.component}
    assert len(set(roots.values())) == len(graph.components())
    assert len({*zip(graph.component.values(), roots.values(), strict=True)}) == len(
        graph.components()
    )
    assert sorted(graph.component.values())[0] == 0
    assert len(graph.components()) == nx.number_weakly_connected_components(graph.nx)


def same(one, two):
    return list(one) == list(two) and one.edges() == two.edges()


def test_graphml_and_back(tmp_path):
    graph, path = drawing(), tmp_path / "graph.graphml"
    graph.write_graphml(path)
    found = MemoryGraph.read_graphml(path)
    assert list(found) == list(graph)
    assert sorted(found.edges()) == sorted(graph.edges())
    assert [p.name for p in tmp_path.iterdir()] == ["graph.graphml"], "no partial file is left"
    read = nx.read_graphml(path)
    assert read.nodes["a"]["sources"] == '["D1:1"]' and read.nodes["a"]["session"] == 1
    before = path.read_bytes()
    graph.write_graphml(path)
    assert path.read_bytes() == before


printable = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1)
turn_ids = st.text(string.ascii_letters + string.digits + ':"&<', min_size=1)


@settings(deadline=None)
@given(printable, st.lists(turn_ids, unique=True), st.none() | st.datetimes())
def test_any_text_survives_export(tmp_path_factory, text, sources, time):
    path = tmp_path_factory.mktemp("g") / "g.graphml"
    graph = MemoryGraph.of(
        [SummaryMemory("s1-m1", text, 1, time, tuple(sources)), memory("s12-m3", 12)],
        [("s1-m1", "s12-m3", "SameTopic")],
    )
    graph.write_graphml(path)
    kept = text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
    found = MemoryGraph.read_graphml(path)
    assert found["s1-m1"] == SummaryMemory("s1-m1", kept, 1, time, tuple(sources))
    assert found.edges() == graph.edges()


def test_what_xml_cannot_hold_is_replaced(tmp_path):
    graph = MemoryGraph.of([memory("a", 1, "<b>&\x00\x1b\r\nend")])
    graph.write_graphml(tmp_path / "g.graphml")
    assert MemoryGraph.read_graphml(tmp_path / "g.graphml")["a"].text == "<b>&\ufffd\ufffd\nend"


def test_an_empty_graph_and_unlabelled_edges_survive(tmp_path):
    path = tmp_path / "g.graphml"
    MemoryGraph().write_graphml(path)
    assert len(MemoryGraph.read_graphml(path)) == 0
    graph = MemoryGraph.of([memory("a", 1), memory("b", 2)], [("a", "b", "")])
    graph.write_graphml(path)
    assert same(MemoryGraph.read_graphml(path), graph)


@pytest.mark.parametrize("text", ["", "no xml", "<graphml/>", "<a><b></a>"])
def test_another_file_is_refused(tmp_path, text):
    (tmp_path / "bad.graphml").write_text(text)
    with pytest.raises(DataError, match="no memory graph"):
        MemoryGraph.read_graphml(tmp_path / "bad.graphml")
    with pytest.raises(DataError, match="no memory graph"):
        MemoryGraph.read_graphml(tmp_path / "missing.graphml")
