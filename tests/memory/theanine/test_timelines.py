"""Timelines of retrieved memories: by hand, without repeats, and broken down."""

import random
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.memory.theanine.hand import all_paths, dags, drawing, layered, memory
from unbidden.errors import ConfigError
from unbidden.memory.summaries import SummaryMemory
from unbidden.memory.theanine.graph import MemoryGraph
from unbidden.memory.theanine.timelines import DrawRules, Timelines, broken_down


def drawn(names, seed=0, graph=None, **rules):
    events = Counter()
    drawer = Timelines(graph or drawing(), DrawRules(**rules))
    retrieved = [(name, 1 - i / 10) for i, name in enumerate(names)]
    return drawer.drawn(retrieved, random.Random(seed), events), events


def shown(timelines):
    return ["".join(timeline.ids) for timeline in timelines]


def test_a_timeline_says_where_it_comes_from():
    (one,), events = drawn("e")
    assert one.ids == ("a", "c", "e", "g") and one.relations == ("Cause", "Changed", "HinderedBy")
    assert (one.retrieved, one.score, one.paths, one.starts, one.fallback) == ("e", 1, 1, 1, False)
    assert one.sources == ("D1:1", "D2:1", "D3:1", "D4:1")
    assert one.text() == (
        "[Event a.] - (Cause) - [Event c.] - (Changed) - [Event e.] - (HinderedBy) - [Event g.]"
    )
    assert events == {"timelines": 1, "timelines_fallback": 0, "timelines_several_starts": 0}


def test_texts_of_one_memory_of_unlabelled_edges_and_with_dates():
    (alone,), _ = drawn("z")
    assert alone.text() == "[Event z.]" and alone.relations == ()
    assert alone.text(dates=True) == "[2023-05-02: Event z.]"
    graph = MemoryGraph.of([memory("a", 1), memory("b", 2)], [("a", "b", "")])
    (pair,), _ = drawn("a", graph=graph)
    assert pair.text() == "[Event a.] - [Event b.]"


def test_several_oldest_memories_and_the_fall_back_are_counted():
    (one,), events = drawn("d")
    assert one.ids in {("a", "d", "g"), ("b", "d", "g")} and (one.paths, one.starts) == (2, 2)
    assert events["timelines_several_starts"] == 1
    assert {shown(drawn("d", seed)[0])[0] for seed in range(20)} == {"adg", "bdg"}
    (one,), events = drawn("x")
    assert one.ids == ("x", "e", "g") and one.fallback and events["timelines_fallback"] == 1
    (one,), events = drawn("x", start_rule="any_root")
    assert one.ids == ("x", "e", "g") and not one.fallback, "no rule is broken there"


def test_two_memories_of_one_component_get_different_timelines():
    """c has aceg and acf, e has aceg alone."""
    for seed in range(20):
        first = shown(drawn("c", seed)[0])[0]
        timelines, events = drawn("ce", seed)
        assert shown(timelines) == ([first, "aceg"] if first == "acf" else ["aceg"])
        assert events["timelines_exhausted"] == (first == "aceg")
        found, events = drawn("ec", seed)
        assert shown(found) == ["aceg", "acf"], "the second draws what is left"
        assert [t.retrieved for t in found] == ["e", "c"]


def test_one_for_each_component():
    timelines, events = drawn("ezc", per="component")
    assert shown(timelines) == ["aceg", "z"] and events["components_shared"] == 1


def test_more_than_one_timeline_without_repeats():
    timelines, events = drawn("g", draws=5)
    assert sorted(shown(timelines)) == ["aceg", "adg", "bdg"]
    assert events["timelines_exhausted"] == 1 and events["timelines"] == 3
    assert len(drawn("g", draws=2)[0]) == 2


def test_the_same_seed_draws_the_same():
    assert drawn("gda", 3)[0] == drawn("gda", 3)[0]
    assert len({tuple(shown(drawn("gda", seed)[0])) for seed in range(30)}) > 3


def test_nothing_retrieved_nothing_drawn():
    assert drawn("")[0] == [] and drawn("", graph=MemoryGraph())[0] == []


@settings(deadline=None)
@given(
    dags(), st.lists(st.integers(0, 8), unique=True, max_size=4), st.integers(1, 3),
    st.sampled_from(["component_oldest", "any_root"]),
)  # fmt: skip
def test_timelines_are_different_paths_through_their_memories(dag, picks, n, rule):
    sessions, edges = dag
    graph = MemoryGraph.of(
        [memory(str(i), s) for i, s in enumerate(sessions)],
        [(str(a), str(b), "React") for a, b in edges],
    )
    picks = [str(i) for i in picks if i < len(sessions)]
    timelines, events = drawn(picks, graph=graph, draws=n, start_rule=rule)
    assert len({t.ids for t in timelines}) == len(timelines) <= n * len(picks)
    for timeline in timelines:
        path = tuple(map(int, timeline.ids))
        listed = all_paths(sessions, edges, int(timeline.retrieved), rule)
        assert path in listed and timeline.paths == len(listed)
        component = graph.components()[graph.component[timeline.retrieved]]
        oldest = min(graph[name].session for name in component)
        begins_late = timeline.memories[0].session > oldest
        assert timeline.fallback == (begins_late and rule == "component_oldest")
        assert timeline.starts == len({p[0] for p in listed})
    assert (len(timelines) < n * len(picks)) == (events["timelines_exhausted"] > 0)


def test_broken_down_timelines_are_a_plain_list_of_events():
    timelines, _ = drawn("ed", 1)
    assert shown(timelines) in (["aceg", "adg"], ["aceg", "bdg"])
    start = timelines[1].ids[0]
    events = [m.id for m, _ in broken_down(timelines)]
    assert events == [*"aceg", *(["b"] if start == "b" else []), "d"], "each once, in order"
    found = [m.id for m, _ in broken_down(timelines, random.Random(2))]
    assert sorted(found) == sorted(events) and found != events
    assert found == [m.id for m, _ in broken_down(timelines, random.Random(2))]
    assert all(timeline.ids.count(m.id) for m, timeline in broken_down(timelines))


def test_options_out_of_range():
    for option in ({"start_rule": "oldest"}, {"per": "turn"}):
        with pytest.raises(ConfigError, match="known: "):
            DrawRules(**option)
    with pytest.raises(ConfigError, match="out of range"):
        DrawRules(draws=0)


@pytest.mark.slow
def test_a_graph_of_a_hundred_thousand_memories():
    sessions, edges = layered(40, 2_500, 3, random.Random(0))
    graph = MemoryGraph.of(
        (SummaryMemory(f"m{i}", "x", session, None, ()) for i, session in enumerate(sessions)),
        ((f"m{a}", f"m{b}", "Cause") for a, b in edges),
    )
    began = time.process_time()
    drawer = Timelines(graph, DrawRules())
    passed = time.process_time() - began
    began = time.process_time()
    timelines = drawer.drawn([("m50000", 1.0)], random.Random(0))
    took = time.process_time() - began
    assert timelines[0].memories[0].session == 1 and "m50000" in timelines[0].ids
    assert timelines[0].paths > 10**9
    assert passed < 20 and took < 1, f"{passed:.2f} s for the pass, {took:.2f} s for a draw"
