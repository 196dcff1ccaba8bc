from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unbidden.corpus import Conversation, Question, load_corpus
from unbidden.errors import ConfigError
from unbidden.queries.clusters import cap_groups, mine_groups, mine_pairs

IDS = ["D1:1", "D1:2", "D1:3", "D2:1"]
EVIDENCE = st.lists(st.lists(st.sampled_from(IDS), max_size=3, unique=True), max_size=7)


def _conversation(evidence, name="c"):
    questions = [Question(i, f"q{i}", 1, tuple(ids), "a") for i, ids in enumerate(evidence)]
    return Conversation(name, ("A", "B"), (), tuple(questions))


def _by_the_papers_words(evidence, size):
    """The rule as written: every combination, tested one condition after the other."""
    kept = []
    named = [(i, set(ids)) for i, ids in enumerate(evidence) if ids]
    for combination in combinations(named, size):
        sets = [ids for _, ids in combination]
        if all(ids == sets[0] for ids in sets):
            continue
        if any(a != b and not a & b for a, b in combinations(sets, 2)):
            continue
        if len(set.union(*sets)) < 2:
            continue
        kept.append(tuple(i for i, _ in combination))
    return kept


@settings(deadline=None)
@given(EVIDENCE)
def test_groups_follow_the_papers_rule(evidence):
    conversation = _conversation(evidence)
    for size in (2, 3):
        groups = mine_groups(conversation, size)
        assert [group.members for group in groups] == _by_the_papers_words(evidence, size)
        for group in groups:
            sets = [set(evidence[i]) for i in group.members]
            assert group.gold == set.union(*sets)
            assert group.nested == any(all(a <= b for a in sets) for b in sets)
    assert mine_groups(conversation, 2) == mine_pairs(conversation)


def test_an_equal_pair_is_allowed_inside_a_triple():
    (group,) = mine_groups(_conversation([["D1:1"], ["D1:1"], ["D1:1", "D1:2"]]), 3)
    assert group.members == (0, 1, 2)
    assert group.nested
    assert not mine_groups(_conversation([["D1:1"]] * 3), 3)
    chain = _conversation([["D1:1", "D1:2"], ["D1:2", "D1:3"], ["D1:3", "D1:1"]])
    assert [group.nested for group in mine_groups(chain, 3)] == [False]
    with pytest.raises(ConfigError, match="size"):
        mine_groups(chain, 4)


@settings(deadline=None)
@given(st.integers(1, 30), st.integers(0, 5))
def test_a_cap_draws_the_same_sample_again(cap, seed):
    evidence = [["D1:1"]] * 3 + [["D1:1", "D1:2"]] * 5
    one, two = (mine_pairs(_conversation(evidence, name)) for name in ("one", "two"))
    kept = cap_groups([*one, *two], cap, seed=seed)
    assert kept == cap_groups([*one, *two], cap, seed=seed)
    # Another conversation more or less changes nothing.
    assert [g for g in kept if g.conversation == "two"] == cap_groups(two, cap, seed=seed)
    assert Counter(g.conversation for g in kept) == dict.fromkeys(("one", "two"), min(cap, 15))
    assert kept == [g for g in (*one, *two) if g in kept]


def test_conversations_are_drawn_apart():
    evidence = [["D1:1"]] * 3 + [["D1:1", "D1:2"]] * 5
    one, two = (cap_groups(mine_pairs(_conversation(evidence, n)), 5, seed=1) for n in "ab")
    assert [group.members for group in one] != [group.members for group in two]


def test_a_cap_draws_not_simply_the_first():
    pairs = mine_pairs(_conversation([["D1:1"]] * 3 + [["D1:1", "D1:2"]] * 5))
    assert any(cap_groups(pairs, 5, seed=seed) != pairs[:5] for seed in range(5))
    with pytest.raises(ConfigError, match="cap"):
        cap_groups(pairs, 0, seed=1)


@pytest.mark.realdata
def test_locomo(real_data):
    corpus = load_corpus("locomo")
    pairs = [pair for item in corpus.conversations for pair in mine_pairs(item)]
    assert len(pairs) == 1_069
    assert sum(pair.nested for pair in pairs) / len(pairs) == pytest.approx(0.72, abs=0.005)
    capped = cap_groups(pairs, 30, seed=1)
    assert len(capped) == 300

    def questions(groups):
        return {(group.conversation, member) for group in groups for member in group.members}

    first = [
        pair
        for item in corpus.conversations
        for pair in [pair for pair in pairs if pair.conversation == item.id][:30]
    ]
    assert len(questions(capped)) > len(questions(first))
    released = {cluster.members for cluster in corpus.clusters}
    assert released == {p.members for p in mine_pairs(corpus.conversation("conv-26"))}
    assert len(released) == 73
