"""Memory Update: which pairs are asked about, what labels do, and what a failure leaves."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.hand import Words, conversation, texts
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.schemas_baselines import NumberedDecision, NumberedDecisions, PairDecision
from unbidden.llm.schemas_summaries import SessionFacts
from unbidden.memory.baselines import MemoryUpdate
from unbidden.memory.baselines.settle import settled
from unbidden.memory.baselines.update import update_calls

TALK = conversation([("Ana", "one")], [("Ana", "two")], [("Ben", "three")])
LABELS = ["PASS", "CHANGE", "REPLACE", "APPEND", "DELETE"]
ALL_PAIRS = {"candidates": None, "per_call": "pair"}


def model(*sessions, pairs=None, numbered=None):
    """Answers summaries by session, a pair by its texts, and a list by its new text."""
    told = iter(sessions)

    def answer(seen):
        if seen.prompt_name.startswith("summarise"):
            return SessionFacts(facts=next(told))
        if seen.prompt_name == "memory_update_pair.v1":
            key = (seen.variables["old"], seen.variables["new"])
            found = (pairs or {}).get(key, "APPEND")
            return PairDecision(reason="", label=found) if found in LABELS else found
        found = (numbered or {}).get(seen.variables["new"], [])
        if not isinstance(found, list):
            return found
        return NumberedDecisions(
            decisions=[NumberedDecision(memory=n, label=label) for n, label in found]
        )

    return ScriptedLLM(answer)


def built(llm, **options):
    system = MemoryUpdate(llm=llm, embedder=Words(), **options)
    return system, system.ingest(TALK)


def asked(llm, name):
    return [s.variables for s in llm.seen if s.prompt_name == f"memory_update_{name}.v1"]


def test_as_published_each_old_sentence_meets_each_new_one():
    llm = model(["a", "b"], ["c", "d"], ["e"])
    system, report = built(llm, **ALL_PAIRS)
    assert [(p["old"], p["new"]) for p in asked(llm, "pair")] == [
        ("a", "c"), ("b", "c"), ("a", "d"), ("b", "d"),
        ("a", "e"), ("b", "e"), ("c", "e"), ("d", "e"),
    ], "none inside a session, and none in the first"  # fmt: skip
    assert texts(system.records()) == ["a", "b", "c", "d", "e"]
    assert report.events["pairs"] == report.events["append"] == 8
    assert report.failed == 0


def test_labels_are_given_on_the_pool_as_it_was_before_the_session():
    pairs = {("a", "c"): "REPLACE", ("b", "d"): "DELETE"}
    llm = model(["a", "b"], ["c", "d"], ["e"], pairs=pairs)
    system, report = built(llm, **ALL_PAIRS)
    assert len(asked(llm, "pair")) == 4 + 2, "dropped sentences are not asked about again"
    assert texts(system.records()) == ["c", "d", "e"]
    assert report.events["old_dropped"] == 2
    assert [(c.action, c.unit) for c in system.history() if c.action == "delete"] == [
        ("delete", "session 2")
    ] * 2


def test_by_default_the_nearest_old_sentences_are_asked_about_in_one_call():
    olds = [f"cat {'x ' * i}" for i in range(12)] + ["dog"]
    llm = model(olds, ["cat", "dog fur"], [], numbered={"dog fur": [(0, "REPLACE")]})
    system, report = built(llm, candidates=1)
    first, second = asked(llm, "listed")
    assert first == {"memories": [{"id": "0", "text": "cat"}], "new": "cat"}
    assert second == {"memories": [{"id": "0", "text": "dog"}], "new": "dog fur"}
    assert "dog" not in texts(system.records()) and "dog fur" in texts(system.records())
    llm = model(olds, ["cat"], [])
    _, report = built(llm)
    (call,) = asked(llm, "listed")
    assert [m["id"] for m in call["memories"]] == [str(n) for n in range(10)]
    assert report.events["pairs"] == 10


def test_numbers_follow_the_order_of_making_not_of_scores():
    llm = model(["red", "red boat"], ["red boat"], [])
    built(llm)
    assert [m["text"] for m in asked(llm, "listed")[0]["memories"]] == ["red", "red boat"]


def test_numbers_not_shown_or_named_twice_are_counted():
    numbered = {"c": [(0, "CHANGE"), (0, "PASS"), (7, "DELETE"), (-1, "PASS")]}
    system, report = built(model(["a"], ["c"], [], numbered=numbered))
    assert texts(system.records()) == ["c"]
    assert (report.events["unknown_memory"], report.events["repeated_memory"]) == (2, 1)


@pytest.mark.parametrize(
    ("label", "options", "left"),
    [
        ("PASS", {}, {"a": ("D1:1", "D2:1")}),
        ("PASS", {"inherit": False}, {"a": ("D1:1",)}),
        ("REPLACE", {}, {"c": ("D1:1", "D2:1")}),
        ("REPLACE", {"inherit": False}, {"c": ("D2:1",)}),
        ("APPEND", {}, {"a": ("D1:1",), "c": ("D2:1",)}),
        ("CHANGE", {}, {"c": ("D2:1",)}),
        ("CHANGE", {"on_change": "both"}, {"a": ("D1:1",), "c": ("D2:1",)}),
        ("CHANGE", {"on_change": "old"}, {"a": ("D1:1",)}),
        ("DELETE", {}, {"c": ("D2:1",)}),
        ("DELETE", {"on_delete": "none"}, {}),
    ],
)
@pytest.mark.parametrize("per_call", ["pair", "sentence"])
def test_what_each_label_leaves(label, options, left, per_call):
    llm = model(["a"], ["c"], [], pairs={("a", "c"): label}, numbered={"c": [(0, label)]})
    system, report = built(llm, per_call=per_call, **options)
    assert {record.text: record.sources for record in system.records()} == left
    assert report.events[label.lower()] == report.events["pairs"] == 1


@pytest.mark.parametrize(
    "bad",
    ['{"reason": "", "label": "KEEP"}', '{"label": "PASS"}', '{"reason": "", "la', "", "It is PASS",
     Outcome("refused", "no"), Outcome("truncated", "cut")],
)  # fmt: skip
def test_a_failed_pair_keeps_both_and_is_counted(bad):
    pairs = {("a", "c"): bad, ("b", "c"): "REPLACE"}
    system, report = built(model(["a", "b"], ["c"], [], pairs=pairs), **ALL_PAIRS)
    assert texts(system.records()) == ["a", "c"]
    assert report.events["decision_failed"] == report.calls["memory_update_pair.v1"].failed == 1


@pytest.mark.parametrize(
    "bad",
    ['{"decisions": [{"memory": "0", "label": "PASS"}]}', '{"decisions": [{"memory": 0}]}', "[]",
     '{"decisions": [{"memory": 0, "label": "pass"}]}', '{"decisions": [', "",
     Outcome("refused", "no"), Outcome("truncated", "cut")],
)  # fmt: skip
def test_a_failed_list_keeps_all_and_is_counted(bad):
    system, report = built(model(["a", "b"], ["c"], [], numbered={"c": bad}))
    assert texts(system.records()) == ["a", "b", "c"]
    assert report.events["decision_failed"] == report.calls["memory_update_listed.v1"].failed == 1
    assert report.events["append"] == 2


def test_a_sentence_inherits_over_one_that_was_dropped_on_the_way():
    result = settled(
        {"m1": ("D1:1",), "m2": ("D1:2",)},
        {"s1": ("D2:1",)},
        {("m1", "s1"): "REPLACE", ("m2", "s1"): "PASS"},
        on_change="new", on_delete="new", inherit=True,
    )  # fmt: skip
    assert result.kept == {"m2": ("D1:1", "D1:2", "D2:1")}
    assert (result.old_dropped, result.new_dropped, result.covered_by_none) == (1, 1, 0)


def test_labels_that_contradict_each_other_are_counted():
    circle = {("m1", "s1"): "PASS", ("m1", "s2"): "REPLACE", ("m2", "s2"): "PASS",
              ("m2", "s1"): "REPLACE"}  # fmt: skip
    result = settled(
        {"m1": ("D1:1",), "m2": ("D1:2",)}, {"s1": ("D2:1",), "s2": ("D2:2",)}, circle,
        on_change="new", on_delete="new", inherit=True,
    )  # fmt: skip
    assert result.kept == {} and result.covered_by_none == 4


labelled = st.lists(st.sampled_from(LABELS), min_size=9, max_size=9)
OLD = {f"m{i}": (f"D1:{i}",) for i in range(3)}
NEW = {f"s{i}": (f"D2:{i}",) for i in range(3)}


@given(labelled, st.randoms(use_true_random=False), st.sampled_from(["new", "both", "old"]),
       st.sampled_from(["new", "none"]), st.booleans())  # fmt: skip
def test_the_order_of_pairs_changes_nothing_and_no_source_is_made_up(
    labels, random, on_change, on_delete, inherit
):
    pairs = list(zip(itertools.product(OLD, NEW), labels, strict=True))
    options = {"on_change": on_change, "on_delete": on_delete, "inherit": inherit}
    result = settled(OLD, NEW, dict(pairs), **options)
    random.shuffle(pairs)
    assert settled(OLD, NEW, dict(pairs), **options) == result
    own = {**OLD, **NEW}
    for key, sources in result.kept.items():
        assert set(own[key]) <= set(sources) and len(set(sources)) == len(sources)
        assert sources == own[key] or inherit
    assert len(result.kept) == 6 - result.old_dropped - result.new_dropped
    if set(labels) == {"APPEND"}:
        assert result.kept == own


@given(st.lists(st.integers(0, 4), min_size=3, max_size=3), st.sampled_from([None, 1, 3]),
       st.sampled_from(["pair", "sentence"]))  # fmt: skip
def test_the_cost_is_known_before(sizes, candidates, per_call):
    sessions = [[f"fact {t} {i}" for i in range(n)] for t, n in enumerate(sizes)]
    llm = model(*sessions)
    built(llm, candidates=candidates, per_call=per_call)
    assert len(llm.seen) == 3 + update_calls(sizes, candidates=candidates, per_call=per_call)


def test_the_updated_pool_can_be_read_whole():
    system, _ = built(model(["a"], ["c"], ["e"], numbered={"c": [(0, "REPLACE")]}), form="whole")
    assert system.search("x", k=1)[0].text == "DATE: 2023-05-02\nc\nDATE: 2023-05-03\ne"


def test_options_out_of_range():
    for option in ({"candidates": 0}, {"per_call": "x"}, {"on_change": "x"}, {"on_delete": "x"}):
        with pytest.raises(ConfigError, match=r"known: |out of range"):
            MemoryUpdate(llm=ScriptedLLM([]), embedder=Words(), **option)
