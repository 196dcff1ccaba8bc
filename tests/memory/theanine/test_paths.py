"""Counting, numbering and drawing paths: by hand, against a listing, and at size."""

import random
import time
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from tests.memory.theanine.hand import all_paths, dags, drawing, layered, listed
from unbidden.errors import DataError
from unbidden.memory.theanine.paths import START_RULES, PathCounts, path_counts

RULES = pytest.mark.parametrize("rule", START_RULES)


def by_hand(rule, node):
    ids, counts = path_counts(drawing(), rule)
    place = ids.index(node)
    paths = [counts.unrank(place, i) for i in range(counts.total(place))]
    return {"".join(ids[i] for i in path) for path in paths}


@pytest.mark.parametrize(
    ("node", "oldest", "more_with_any_root"),
    [
        ("a", {"aceg", "acf", "adg"}, set()),  # the start itself: no past
        ("g", {"aceg", "adg", "bdg"}, {"xeg"}),  # the end itself: no future
        ("d", {"adg", "bdg"}, set()),  # two oldest memories lead to it
        ("b", {"bdg"}, set()),  # a oldest memory, but not the one of the others
        ("c", {"aceg", "acf"}, set()),
        ("e", {"aceg"}, {"xeg"}),  # x is a root, but not an oldest memory
        ("x", {"xeg"}, set()),  # no oldest memory leads to x: it begins at x
        ("z", {"z"}, set()),  # alone
    ],
)
def test_timelines_of_the_drawing(node, oldest, more_with_any_root):
    assert by_hand("component_oldest", node) == oldest
    assert by_hand("any_root", node) == oldest | more_with_any_root


def test_starts_of_the_drawing():
    ids, counts = path_counts(drawing(), "component_oldest")
    found = {name: "".join(ids[i] for i in counts.starts(ids.index(name))) for name in ids}
    assert found == {"a": "a", "b": "b", "c": "a", "d": "ab", "x": "x", "z": "z", "e": "a",
                     "f": "a", "g": "ab"}  # fmt: skip
    ids, counts = path_counts(drawing(), "any_root")
    assert [ids[i] for i in counts.starts(ids.index("g"))] == ["a", "b", "x"]


@RULES
@settings(deadline=None)
@given(dag=dags())
def test_counts_and_numbers_agree_with_a_listing(rule, dag):
    sessions, edges = dag
    counts = PathCounts(sessions, edges, rule)
    for node in range(len(sessions)):
        expected = all_paths(sessions, edges, node, rule)
        assert counts.total(node) == len(expected)
        found = [counts.unrank(node, number) for number in range(counts.total(node))]
        assert set(found) == expected and len(set(found)) == len(found)
        assert [counts.rank(node, path) for path in found] == list(range(len(found)))
        assert {path[0] for path in expected} == set(counts.starts(node))


@RULES
@settings(deadline=None)
@given(dag=dags(), seed=st.integers(0, 99))
def test_each_draw_is_a_path_from_a_start_through_the_node_to_a_sink(rule, dag, seed):
    sessions, edges = dag
    counts = PathCounts(sessions, edges, rule)
    node = seed % len(sessions)
    path = counts.draw(node, random.Random(seed))
    assert node in path and set(pairwise(path)) <= set(edges)
    assert not [e for e in edges if e[1] == path[0]], "nothing leads to its start"
    assert not [e for e in edges if e[0] == path[-1]], "nothing follows its end"
    assert all(sessions[a] < sessions[b] for a, b in pairwise(path))


@settings(deadline=None)
@given(dag=dags(), seed=st.integers(0, 99), others=st.lists(st.integers(0, 10**6), max_size=4))
def test_drawing_until_nothing_is_left_gives_each_path_once(dag, seed, others):
    sessions, edges = dag
    counts = PathCounts(sessions, edges)
    node, generator = seed % len(sessions), random.Random(seed)
    # Paths of other nodes may or may not be paths of this one.
    taken = [counts.draw(i % len(sessions), random.Random(i)) for i in others]
    before = set(taken)
    while (path := counts.draw(node, generator, taken)) is not None:
        assert path not in taken
        taken.append(path)
    assert set(taken) - before == all_paths(sessions, edges, node, "component_oldest") - before


def fork():
    """Return a graph whose paths a step-by-step walk does not draw evenly.

    From node 0 one branch (1) has a single end, the other (2) fans out to 7::

        0 --> 1 --> 3
        `---> 2 --> 4 5 6 7 8 9 10
    """
    return [1, 2, 2, *[3] * 8], [(0, 1), (0, 2), (1, 3), *((2, i) for i in range(4, 11))]


def evenness(draw, paths, times):
    seen = Counter(draw() for _ in range(times))
    assert set(seen) <= paths
    return chisquare([seen[path] for path in sorted(paths)]).pvalue


def test_draws_are_uniform():
    sessions, edges = fork()
    counts, generator = PathCounts(sessions, edges), random.Random(11)
    paths = all_paths(sessions, edges, 0, "component_oldest")
    assert len(paths) == 8
    assert evenness(lambda: counts.draw(0, generator), paths, 4000) > 0.01
    first = next(iter(sorted(paths)))
    assert evenness(lambda: counts.draw(0, generator, [first]), paths - {first}, 4000) > 0.01

    def step_by_step():
        path = [0]
        while after := [b for a, b in edges if a == path[-1]]:
            path.append(generator.choice(after))
        return tuple(path)

    assert evenness(step_by_step, paths, 4000) < 1e-9, "this test sees an uneven draw"


@RULES
def test_draws_are_uniform_over_past_and_future(rule):
    sessions, edges = layered(5, 6, 3, random.Random(3))
    counts, generator = PathCounts(sessions, edges, rule), random.Random(5)
    paths = all_paths(sessions, edges, 14, rule)
    assert len(paths) > 10
    assert evenness(lambda: counts.draw(14, generator), paths, 400 * len(paths)) > 0.01


def test_counts_beyond_every_float_stay_exact():
    """1,200 layers of 2 memories, all joined: 2 ** 1199 paths through a first memory."""
    layers = 1200
    sessions = [layer for layer in range(layers) for _ in range(2)]
    edges = [(2 * i + a, 2 * i + 2 + b) for i in range(layers - 1) for a in (0, 1) for b in (0, 1)]
    counts = PathCounts(sessions, edges)
    assert counts.total(0) == 2 ** (layers - 1)
    last = counts.unrank(0, counts.total(0) - 1)
    assert last == (0, *range(3, 2 * layers, 2)) and counts.rank(0, last) == counts.total(0) - 1
    seen = Counter(counts.draw(0, random.Random(i))[1] for i in range(300))
    assert 110 < seen[2] < 190, "both branches come"
    assert counts.bits() < 2 * 2 * layers * layers


def test_disorder_is_refused():
    with pytest.raises(DataError, match="not earlier"):
        PathCounts([1, 1], [(0, 1)])
    with pytest.raises(DataError, match="order of time"):
        PathCounts([2, 1], [])


def test_a_thousand_memories_against_a_listing():
    """The released code lists all past and all future walks; compared with it in this run."""
    sessions, edges = layered(10, 100, 3, random.Random(0))
    began = time.process_time()
    counts = PathCounts(sessions, edges)
    mine = {node: counts.total(node) for node in (450, 550, 999)}
    drawn = {node: counts.draw(node, random.Random(1)) for node in mine}
    ours = time.process_time() - began
    began = time.process_time()
    paths = listed(edges, mine)
    reference = time.process_time() - began
    assert mine == {node: len(found) for node, found in paths.items()}
    assert min(mine.values()) > 5000
    assert all(drawn[node] in paths[node] for node in mine)
    assert {counts.unrank(550, i) for i in range(mine[550])} == paths[550]
    assert ours * 2 < reference, f"{ours:.3f} s against {reference:.3f} s of listing"


@pytest.mark.slow
@pytest.mark.parametrize(("layers", "width"), [(10, 10_000), (1_000, 100)])
def test_a_hundred_thousand_memories(layers, width):
    sessions, edges = layered(layers, width, 3, random.Random(0))
    assert len(sessions) == 100_000 and len(edges) >= 270_000
    began = time.process_time()
    counts = PathCounts(sessions, edges)
    passed = time.process_time() - began
    middle = len(sessions) // 2
    began = time.process_time()
    path, starts = counts.draw(middle, random.Random(1)), counts.starts(middle)
    drawn = time.process_time() - began
    assert middle in path and path[0] in starts
    assert passed < 10 and drawn < 1, f"{passed:.2f} s for the pass, {drawn:.2f} s for a draw"
    assert counts.bits() / 8e6 < 40, "megabytes of integers"
