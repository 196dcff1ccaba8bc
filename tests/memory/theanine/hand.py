"""Small graphs that can be checked on paper, and random ones."""

import datetime as dt

from hypothesis import strategies as st

from unbidden.memory.summaries import SummaryMemory
from unbidden.memory.theanine.graph import MemoryGraph


def memory(name, session, text=None, sources=None):
    """A memory called `name`; session n is on day n of May 2023."""
    return SummaryMemory(
        name, text or f"Event {name}.", session, dt.datetime(2023, 5, session, 13, 0),
        (f"D{session}:1",) if sources is None else sources,
    )  # fmt: skip


def drawing():
    """Return the graph all worked examples use.

    ::

        session 1   session 2   session 3   session 4

            a ---------> c ---------> e ---------> g
            |            |            ^            ^
            |            `--> f       |            |
            |                 (s3)    |            |
            `---------> d ------------|------------'
            b --------> d             |
                        x ------------'
                        z   (alone)

    The relations stand in the code below.
    """
    nodes = {"a": 1, "b": 1, "c": 2, "d": 2, "x": 2, "z": 2, "e": 3, "f": 3, "g": 4}
    edges = ["a c Cause", "a d Want", "b d React", "c e Changed", "c f Reason", "x e SameTopic",
             "e g HinderedBy", "d g Cause"]  # fmt: skip
    return MemoryGraph.of(
        [memory(name, session) for name, session in nodes.items()],
        [tuple(edge.split()) for edge in edges],
    )


@st.composite
def dags(draw, max_nodes=9):
    """Sessions of some memories in order of time, and edges to later sessions."""
    sessions = sorted(draw(st.lists(st.integers(1, 5), min_size=1, max_size=max_nodes)))
    pairs = [
        (old, new)
        for old in range(len(sessions))
        for new in range(old + 1, len(sessions))
        if sessions[old] < sessions[new]
    ]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return sessions, edges


def all_paths(sessions, edges, node, rule):
    """List the paths through a node by the words of the paper, without counting anything."""
    before = {i: [a for a, b in edges if b == i] for i in range(len(sessions))}
    after = {i: [b for a, b in edges if a == i] for i in range(len(sessions))}

    def walks(step, at):
        if not step[at]:
            return [[at]]
        return [[at, *rest] for to in step[at] for rest in walks(step, to)]

    pasts = [walk[::-1] for walk in walks(before, node)]
    component, waiting = {node}, [node]
    while waiting:
        at = waiting.pop()
        for to in {*before[at], *after[at]} - component:
            component.add(to)
            waiting.append(to)
    if rule == "component_oldest":
        oldest = min(sessions[i] for i in component)
        from_oldest = [past for past in pasts if sessions[past[0]] == oldest]
        earliest = min(sessions[past[0]] for past in pasts)
        pasts = from_oldest or [past for past in pasts if sessions[past[0]] == earliest]
    return {tuple([*past, *future[1:]]) for past in pasts for future in walks(after, node)}


def listed(edges, nodes):
    """List all paths from any root through each node, as the released code does."""
    before, after = {}, {}
    for old, new in edges:
        before.setdefault(new, []).append(old)
        after.setdefault(old, []).append(new)

    def walks(steps, node):
        waiting, done = [[node]], []
        while waiting:
            walk = waiting.pop()
            more = [[*walk, to] for to in steps.get(walk[-1], [])]
            done += [] if more else [walk]
            waiting += more
        return done

    return {
        node: {
            tuple([*past[::-1], *future[1:]])
            for past in walks(before, node)
            for future in walks(after, node)
        }
        for node in nodes
    }


def layered(layers, width, fan, generator):
    """Sessions and edges of a graph in layers: each node has `fan` predecessors one layer up."""
    sessions = [layer for layer in range(1, layers + 1) for _ in range(width)]
    edges = [
        (old, new)
        for new in range(width, layers * width)
        for start in [(new // width - 1) * width]
        for old in generator.sample(range(start, start + width), fan)
    ]
    return sessions, edges
