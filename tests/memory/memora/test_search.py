"""Memora: search, the policy loop, other forms and options."""

import json

import pytest

from tests.memory.hand import Words, texts
from tests.memory.memora.script import ONE, cues, entries, memora, step
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.parse import parse_text
from unbidden.llm.schemas_memora import (
    CitedEntries,
    Cues,
    Entries,
    Episodes,
    PolicyStep,
    UpdateDecision,
)
from unbidden.memory import create_system
from unbidden.memory.memora import Memora
from unbidden.memory.memora.store import HarmonicStore

# Search.


def test_fusion_by_hand():
    store = HarmonicStore(Words())
    a, b, c = (
        store.entries.add(text, ["D1:1"], kind="fact", index_text=index)
        for text, index in (("A", "red boat"), ("B", "red boat car bike"), ("C", "tabby"))
    )
    store.link(b.id, ["red boat trip"])
    store.link(c.id, ["red boat trip"])
    found = store.search("red boat", k=10, cue_k=10, floor=0.4, weights=(2.0, 1.0), constant=60.0)
    # By index: A (cosine 1), B (0.71). By cue: B, C. C's own index shares no word with the query.
    assert [(record.text, score) for record, score in found] == [
        ("B", pytest.approx(2 / 62 + 1 / 61)),
        ("A", pytest.approx(2 / 61)),
        ("C", pytest.approx(1 / 62)),
    ]
    only = store.search("red boat", k=10, cue_k=0, floor=0.4, weights=(2.0, 1.0), constant=60.0)
    assert [record.text for record, _ in only] == ["A", "B"]
    high = store.search("red boat", k=10, cue_k=10, floor=0.8, weights=(2.0, 1.0), constant=60.0)
    assert [record.id for record, _ in high] == [a.id, b.id, c.id]


def test_one_empty_leg_leaves_the_other():
    system, _, _ = memora(
        [entries(("tabby", "V1")), cues(tabby=["sea trips"]), entries()], segmentation="fixed"
    )
    system.ingest(ONE)
    assert texts(system.search("sea trips", k=5)) == ["V1"]
    assert texts(system.search("tabby", k=5)) == ["V1"]
    assert system.search("quantum", k=5) == system.search("tabby", k=0) == []


@pytest.fixture
def linked():
    """Three entries; the first two share a cue with each other, the third stands alone."""

    def make(*steps, **options):
        system, llm, _ = memora(
            [
                entries(("red boat", "V1 " + "x" * 200), ("tabby", "V2"), ("bakery", "V3")),
                cues(red_boat=["summer plans"], tabby=["summer plans"]),
                entries(),
                *steps,
            ],
            segmentation="fixed",
            policy="prompted",
            **options,
        )
        system.ingest(ONE)
        return system, llm

    return make


def test_policy_expands_asks_again_and_stops(linked):
    system, llm = linked(step("EXPAND", [0]), step("RE_QUERY", query="bakery"), step("STOP"))
    hits = system.search("red boat", k=5)
    assert [hit.text[:2] for hit in hits] == ["V1", "V2", "V3"]
    assert [hit.score for hit in hits] == [3, 2, 1]
    first, second, third = (seen.variables for seen in llm.seen[3:])
    assert [e["index"] for e in first["frontier"]] == ["tabby"]
    assert len(first["working"][0]["value"]) == 150
    assert second["frontier"] == [] and second["trace"] == ["EXPAND tabby"]
    assert (third["query"], third["step"]) == ("bakery", "3")
    assert system.search_events == {"policy_steps": 3}


def test_policy_steps_are_counted_over_all_conversations(linked):
    system, _ = linked(step("STOP"), entries(), entries(), step("STOP"))
    system.search("red boat", k=5)
    system.ingest(ONE)
    system.search("red boat", k=5)
    assert system.search_events == {"policy_steps": 2}


@pytest.mark.parametrize(
    ("answer", "event"),
    [
        (step("EXPAND", [9]), "policy_invalid"),
        (step("EXPAND"), "policy_invalid"),
        (step("RE_QUERY", query=" "), "policy_invalid"),
        ("{", "policy_failed"),
        (Outcome("refused", "no"), "policy_failed"),
    ],
)
def test_policy_ends_at_the_first_invalid_step(linked, answer, event):
    system, llm = linked(answer)
    assert len(system.search("red boat", k=5)) == 1
    assert system.search_events[event] == 1
    assert system.calls.counts["memora_policy.v1"].calls == 1
    assert len(llm.seen) == 4


def test_policy_takes_at_most_five_steps_and_returns_at_most_k(linked):
    system, _ = linked(*[step("RE_QUERY", query="bakery")] * 5)
    assert len(system.search("red boat", k=1)) == 1
    assert system.search_events["policy_steps"] == 5


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (Episodes, {"episodes": [{"topic": "t", "indices": ["1"]}]}),
        (Entries, {"entries": [{"index": "a", "value": 3}]}),
        (CitedEntries, {"entries": [{"index": "a", "value": "b", "turns": "D1:1"}]}),
        (Cues, {"results": [{"memory_index": "a", "cue_indices": "b"}]}),
        (UpdateDecision, {"should_update": True}),
        (PolicyStep, {"reason": "", "action": "GO", "frontier_ids": [], "new_query": None}),
    ],
)
def test_other_forms_are_refused(schema, value):
    assert parse_text(json.dumps(value), schema)[0] == "schema_mismatch"


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("segmentation", "topic"),
        ("sources", "exact"),
        ("duplicate_index", "keep"),
        ("policy", "grpo"),
        ("segment_size", 0),
    ],
)
def test_options_out_of_range_are_named(option, value):
    with pytest.raises(ConfigError, match=option):
        Memora(llm=ScriptedLLM([]), embedder=Words(), **{option: value})


def test_it_is_registered_and_explains_a_missing_model():
    assert isinstance(create_system("memora", llm=ScriptedLLM([]), embedder=Words()), Memora)
    with pytest.raises(ConfigError, match="option `llm`"):
        create_system("memora")
