"""Algorithm 1: which earlier memories a new one is linked to, and how many calls it takes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.memory.theanine.hand import drawing, memory
from unbidden.errors import ConfigError
from unbidden.memory.theanine.linking import Candidate, LinkRules, links_of_session


class Model:
    """Answers by pair from a table, and remembers what it was asked, round by round."""

    def __init__(self, **labels):
        self.labels, self.rounds = labels, []

    def __call__(self, pairs):
        self.rounds.append([pair.old.id + pair.new.id for pair in pairs])
        return [self.labels.get(pair.old.id + pair.new.id) for pair in pairs]


def linked(model, new, candidates, graph=None, **rules):
    """Link memories of session 5; candidates are names, most similar first."""
    graph = graph or drawing()
    found = [
        (memory(name, 5), [Candidate(graph[old], 1 - i / 10) for i, old in enumerate(olds)])
        for name, olds in zip(new, candidates, strict=True)
    ]
    links = links_of_session(found, graph.component, LinkRules(**rules), model)
    return [f"{link.old}{link.new} {link.relation}" for link in links]


def test_one_link_from_the_latest_related_memory_of_each_component():
    """c, e and z are related to n; c and e hang together (see the drawing), z is alone."""
    everything = {"cn": "Cause", "en": "Want", "zn": "React"}
    model = Model(**everything)
    assert linked(model, "n", ["cze"]) == ["zn React", "en Want"]
    assert model.rounds == [["en", "zn"]], "c is spared: it is older and of e's component"
    model = Model(**everything)
    assert linked(model, "n", ["cze"], early_stop=False) == ["zn React", "en Want"]
    assert model.rounds == [["en", "cn", "zn"]]


def test_an_unrelated_latest_memory_passes_the_turn_to_the_next():
    model = Model(cn="Cause")
    assert linked(model, "n", ["ace"]) == ["cn Cause"]
    assert model.rounds == [["en"], ["cn"]], "a, older still, is spared"
    model = Model()
    assert linked(model, "n", ["ace"]) == []
    assert model.rounds == [["en"], ["cn"], ["an"]]


def test_the_released_code_links_every_related_memory():
    model = Model(cn="Cause", en="Want")
    assert linked(model, "n", ["cez"], link_rule="all_related") == ["cn Cause", "en Want"]
    assert [sorted(r) for r in model.rounds] == [["cn", "en", "zn"]], "nothing to be saved"


def test_ties_in_time_go_to_the_more_similar_or_are_kept():
    """d and c are both of session 2 and of one component; d is more similar; a is older."""
    everything = {"cn": "Cause", "dn": "Want", "an": "React"}
    model = Model(**everything)
    assert linked(model, "n", ["dca"]) == ["dn Want"]
    assert model.rounds == [["dn"]]
    model = Model(**everything)
    assert linked(model, "n", ["dca"], keep_ties=True) == ["dn Want", "cn Cause"]
    assert model.rounds == [["dn", "cn"]]
    model = Model(cn="Cause", an="React")
    assert linked(model, "n", ["dca"], keep_ties=True) == ["cn Cause"]
    model = Model(an="React")
    assert linked(model, "n", ["dca"], keep_ties=True) == ["an React"]
    assert model.rounds == [["dn", "cn"], ["an"]]


def test_new_memories_of_a_session_do_not_join_each_other_s_components():
    """m joins z and e, but n, asked in the same session, still sees two components."""
    model = Model(zm="Want", em="Want", zn="Want", en="Want")
    assert linked(model, "mn", ["ze", "ze"]) == ["zm Want", "em Want", "zn Want", "en Want"]
    assert model.rounds == [["em", "zm", "en", "zn"]], "and all are asked in one round"


def test_without_relations_every_candidate_counts_and_no_model_is_asked():
    model = Model()
    assert linked(model, "n", ["cze"], relations=False) == ["zn ", "en "]
    links = linked(model, "n", ["cze"], relations=False, link_rule="all_related")
    assert links == ["cn ", "zn ", "en "]
    assert linked(model, "n", ["dca"], relations=False, keep_ties=True) == ["dn ", "cn "]
    assert model.rounds == []


def test_no_candidates_no_links():
    assert linked(Model(), "n", [""]) == []
    assert links_of_session([], {}, LinkRules(), Model()) == []


def test_options_out_of_range():
    with pytest.raises(ConfigError, match="latest_per_component"):
        LinkRules(link_rule="latest")
    with pytest.raises(ConfigError, match="out of range"):
        LinkRules(candidates=0)


cases = st.tuples(
    st.lists(st.lists(st.sampled_from("abcdxzefg"), unique=True, max_size=5), max_size=3),
    st.sets(st.tuples(st.sampled_from("abcdxzefg"), st.integers(0, 2))),
    st.booleans(),
)


@settings(deadline=None)
@given(cases)
def test_early_stop_saves_calls_and_changes_nothing(case):
    candidates, related, ties = case
    names = "lmn"[: len(candidates)]
    labels = {old + "lmn"[i]: "Cause" for old, i in related}
    model, thorough = Model(**labels), Model(**labels)
    found = linked(model, names, candidates, keep_ties=ties)
    assert found == linked(thorough, names, candidates, keep_ties=ties, early_stop=False)
    asked = [pair for batch in model.rounds for pair in batch]
    assert len(asked) == len(set(asked)) <= sum(map(len, candidates))
    assert len(thorough.rounds) <= 1
    assert sum(map(len, thorough.rounds)) == sum(map(len, candidates))


@settings(deadline=None)
@given(cases)
def test_links_are_those_of_algorithm_1(case):
    """Written out: for each component touched by related candidates, its latest one."""
    candidates, related, ties = case
    names = "lmn"[: len(candidates)]
    graph, expected = drawing(), set()
    for i, olds in enumerate(candidates):
        star = [old for old in olds if (old, i) in related]
        for component in graph.components():
            touched = [old for old in star if old in component]
            latest = max((graph[old].session for old in touched), default=0)
            best = [old for old in touched if graph[old].session == latest]
            expected |= {f"{old}{names[i]} Want" for old in (best if ties else best[:1])}
    labels = {old + "lmn"[i]: "Want" for old, i in related}
    found = linked(Model(**labels), names, candidates, keep_ties=ties)
    assert set(found) == expected and len(found) == len(expected)
    every = linked(Model(**labels), names, candidates, link_rule="all_related")
    assert len(every) == sum((o, i) in related for i, olds in enumerate(candidates) for o in olds)
