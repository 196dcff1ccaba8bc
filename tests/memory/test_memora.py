import datetime as dt
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.hand import Words, conversation, texts
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.parse import parse_text
from unbidden.llm.schemas_memora import (
    CitedEntries,
    Cues,
    Entries,
    Episode,
    Episodes,
    PolicyStep,
    UpdateDecision,
)
from unbidden.memory import create_system
from unbidden.memory.memora import Memora
from unbidden.memory.memora_segments import fixed, segment_of_each
from unbidden.memory.memora_store import HarmonicStore

TALK = conversation(
    [("Ana", "I bought a red boat."), ("Ben", "Nice!", "a boat"), ("Ana", "And a cat.")],
    [("Ben", "Where is it?"), ("Ana", "I painted it blue yesterday.")],
)
ONE = conversation([("Ana", "I bought a red boat.")], [("Ana", "I painted it blue.")])


def episodes(*groups):
    return Episodes(episodes=[Episode(topic="t", indices=list(group)) for group in groups])


def entries(*pairs):
    return Entries.model_validate({"entries": [{"index": i, "value": v} for i, v in pairs]})


def cues(**found):
    results = [{"memory_index": i.replace("_", " "), "cue_indices": c} for i, c in found.items()]
    return Cues.model_validate({"results": results})


def decision(update, number=None, index=None, value=None):
    return UpdateDecision(
        should_update=update,
        best_candidate_index=number,
        updated_index=index,
        updated_value=value,
    )


def step(action, ids=(), query=None):
    return PolicyStep(reason="r", action=action, frontier_ids=list(ids), new_query=query)


def memora(answers, **options):
    llm, embedder = ScriptedLLM(answers), Words()
    return Memora(llm=llm, embedder=embedder, **options), llm, embedder


def fixed_memora(answers, **options):
    """One segment a session, no cues unless wanted."""
    return memora(answers, **({"segmentation": "fixed", "cues": False} | options))


def asked(llm):
    return [seen.prompt_name.removesuffix(".v1") for seen in llm.seen]


# Segmentation.


def test_a_session_is_cut_where_the_model_says():
    system, llm, _ = memora(
        [episodes([1, 2], [3]), entries(), entries(), episodes([1, 2]), entries()]
    )
    report = system.ingest(TALK)
    assert asked(llm) == [
        "memora_segment",
        *["memora_extract"] * 2,
        *["memora_segment", "memora_extract"],
    ]
    read = [[m["text"] for m in seen.variables["messages"]] for seen in llm.seen]
    assert read[1:3] == [["I bought a red boat.", "Nice! [image: a boat]"], ["And a cat."]]
    assert (report.units, report.failed, report.events["no_facts"]) == (3, 0, 3)
    assert [m["number"] for m in llm.seen[0].variables["messages"]] == ["1", "2", "3"]


@given(st.lists(st.lists(st.integers(-2, 12), max_size=6), max_size=6), st.integers(1, 9))
def test_no_message_is_lost_whatever_the_model_says(groups, size):
    places, repaired = segment_of_each([Episode(topic="", indices=g) for g in groups], size)
    assert len(places) == size
    claims = [number for group in groups for number in group]
    assert repaired == (sorted(claims) != list(range(1, size + 1)))
    for number in set(claims) & set(range(1, size + 1)):
        assert number in groups[places[number - 1]]


@pytest.mark.parametrize("bad", ["{", '{"episodes": [[1, 2]]}', Outcome("refused", "no")])
def test_a_failed_segmentation_makes_the_session_one_segment(bad):
    system, llm, _ = memora([bad, entries(("boat", "v")), cues(), bad, entries(), entries()])
    report = system.ingest(TALK)
    assert [len(s.variables["messages"]) for s in llm.seen if "extract" in s.prompt_name] == [3, 2]
    assert (report.units, report.failed, report.events["segmentation_failed"]) == (2, 0, 2)
    assert system.unstored(TALK.sessions[0]) == []


@pytest.mark.parametrize(("length", "units"), [(None, 2), (2, 3), (1, 5)])
def test_fixed_segments_need_no_call(length, units):
    system, llm, _ = fixed_memora(lambda seen: entries(), segment_size=length)
    assert system.ingest(TALK).units == units
    assert asked(llm) == ["memora_extract"] * units
    assert fixed(0, None) == []


def test_captions_can_be_left_out():
    system, llm, _ = fixed_memora(lambda seen: entries(), captions=False)
    system.ingest(TALK)
    assert "image" not in llm.seen[0].messages[1]["content"]


# Facts: index and value.


def test_index_is_embedded_and_the_value_never():
    value = "Ana bought a boat, a red one, on 1 May 2023, from a man called Rui."
    system, _, embedder = memora(
        [
            entries(("Ana boat purchase", value)),
            cues(Ana_boat_purchase=["Ana vehicles"]),
            entries(("Ana boat purchase details", "Ana painted it.")),
            cues(),
            decision(True, 0, "Ana boat", value + " She painted it."),
            cues(Ana_boat=["Ana paint"]),
        ],
        segmentation="fixed",
    )
    system.ingest(ONE)
    hits = system.search("Ana boat", k=3)
    assert texts(hits) == [value + " She painted it."]
    assert not any("red one" in text or "painted" in text for text in embedder.seen)
    assert {"Ana boat purchase", "Ana boat purchase details", "Ana boat"} <= set(embedder.seen)


def test_prompts_carry_the_sessions_date_and_never_todays():
    system, llm, _ = fixed_memora(lambda seen: entries())
    system.ingest(TALK)
    assert "Date: 2023-05-02, a Tuesday" in llm.seen[1].messages[1]["content"]
    assert str(dt.date.today().year) not in json.dumps([s.messages for s in llm.seen])


@pytest.mark.parametrize("bad", ["{", '{"entries": ["a"]}', '{"entries": [{"index": "a"}]}', "[]"])
def test_a_malformed_extraction_is_a_counted_loss(bad):
    system, _, _ = fixed_memora([bad, entries(("blue boat", "It is blue."), (" ", "x"), ("y", ""))])
    report = system.ingest(TALK)
    assert (report.units, report.failed, report.memories) == (2, 1, 1)
    assert report.failures[0].turns == ("D1:1", "D1:2", "D1:3")
    assert report.events["blank_entry"] == 2
    assert len(system.unstored(TALK.sessions[0])) == 3


def test_cited_sources_are_checked_and_fall_back_to_the_segment():
    found = [
        ("a boat", ["D1:1", "[D1:3]"]),
        ("b cat", ["D9:9"]),
        ("c none", []),
    ]
    answer = {"entries": [{"index": i, "value": "v", "turns": t} for i, t in found]}
    system, llm, _ = fixed_memora([json.dumps(answer), '{"entries": []}'], sources="cited")
    report = system.ingest(TALK)
    assert [r.sources for r in system.records()] == [
        ("D1:1", "D1:3"), ("D1:1", "D1:2", "D1:3"), ("D1:1", "D1:2", "D1:3"),
    ]  # fmt: skip
    assert (report.events["unknown_id"], report.events["uncited"]) == (1, 2)
    assert "[D1:1] Ana: I bought" in llm.seen[0].messages[1]["content"]
    assert (system.info.provenance, Memora.info.provenance) == ("cited", "batch")


# Cues.


def test_cues_lead_to_entries_and_are_shared():
    system, _, _ = memora(
        [
            entries(("red boat", "V1"), ("tabby", "V2")),
            cues(red_boat=["sea trips"], tabby=["sea trips", "red boat"], other=["x"]),
            entries(),
        ],
        segmentation="fixed",
    )
    report = system.ingest(ONE)
    assert texts(system.search("sea trips", k=5)) == ["V1", "V2"]
    assert report.events["unmatched_cues"] == 1
    # "red boat" is an entry's index already, so it does not become a cue of the other.
    assert [cue.text for cue in system.store.cues] == ["sea trips"]
    assert report.memories == 2


@pytest.mark.parametrize("bad", ["{", '{"results": [{"cue_indices": []}]}', Outcome("timeout", "")])
def test_without_cues_an_entry_is_still_found_by_its_index(bad):
    system, _, _ = memora([entries(("red boat", "V1")), bad, entries()], segmentation="fixed")
    report = system.ingest(ONE)
    assert (report.failed, report.events["cues_failed"]) == (0, 1)
    assert report.calls["memora_cues.v1"].failed == 1
    assert texts(system.search("red boat", k=5)) == ["V1"]


def test_unlinking_prunes_cues_that_lead_nowhere():
    store = HarmonicStore(Words())
    a = store.entries.add("A", ["D1:1"], kind="fact", index_text="a")
    b = store.entries.add("B", ["D1:1"], kind="fact", index_text="b")
    assert store.link(a.id, ["x", "y", "a", "x"]) == 2
    store.link(b.id, ["y"])
    assert store.neighbours([a]) == [b]
    store.unlink(a.id)
    assert [(cue.text, cue.links) for cue in store.cues] == [("y", (b.id,))]
    assert store.neighbours([a]) == []


# Updates.


def test_a_merge_unites_sources_and_keeps_history():
    system, llm, _ = fixed_memora(
        [
            entries(("Ana red boat", "Ana has a red boat.")),
            entries(("Ana red boat", "dropped"), ("Ana red boat paint", "Ana painted it blue.")),
            decision(True, 0, "Ana boat", "Ana has a red boat and painted it blue."),
        ]
    )
    report = system.ingest(ONE)
    (record,) = system.records()
    assert record.text == "Ana has a red boat and painted it blue."
    assert (record.index_text, record.sources) == ("Ana boat", ("D1:1", "D2:1"))
    assert record.time == dt.datetime(2023, 5, 2, 13)
    assert report.events["merged"] == report.events["duplicate_index"] == 1
    assert [change.action for change in system.history()] == ["add", "update"]
    assert system.history()[1].before.text == "Ana has a red boat."
    shown = llm.seen[-1].variables["candidates"]
    assert shown == [
        {
            "number": "0",
            "index": "Ana red boat",
            "value": "Ana has a red boat.",
            "date": "2023-05-01",
        }
    ]


@pytest.mark.parametrize(
    ("answer", "event"),
    [
        (decision(False), None),
        (decision(True, 7, "i", "v"), "invalid_update"),
        (decision(True, None, "i", "v"), "invalid_update"),
        (decision(True, 0, "i", " "), "invalid_update"),
        ("{", "update_failed"),
        ('{"should_update": "yes"}', "update_failed"),
    ],
)
def test_what_is_not_merged_is_added(answer, event):
    system, _, _ = fixed_memora(
        [entries(("red boat", "V1")), entries(("red boats boat", "V2")), answer],
        update_threshold=0.5,
    )
    report = system.ingest(ONE)
    assert [r.text for r in system.records()] == ["V1", "V2"]
    assert report.failed == 0
    assert report.events.get(event, 0) == (event is not None)


def test_the_threshold_decides_whether_the_model_is_asked():
    # By hand: "red boat" and "red car" share one of two words, so their cosine is 0.5.
    for threshold, calls in ((0.5, 1), (0.51, 0), (2.0, 0)):
        system, llm, _ = fixed_memora(
            lambda seen: (
                decision(False)
                if seen.prompt_name == "memora_update.v1"
                else entries(("red boat", "V1"))
                if "bought" in seen.messages[1]["content"]
                else entries(("red car", "V2"))
            ),
            update_threshold=threshold,
        )
        system.ingest(ONE)
        assert asked(llm).count("memora_update") == calls


def test_facts_of_one_segment_may_be_kept_apart():
    pair = entries(("red boat", "V1"), ("red boat sale", "V2"))
    for same, calls in ((True, 1), (False, 0)):
        system, llm, _ = fixed_memora(
            [pair, *[decision(False)] * calls, entries()], same_segment=same
        )
        assert system.ingest(ONE).memories == 2
        assert asked(llm).count("memora_update") == calls


@pytest.mark.parametrize(
    ("policy", "found"),
    [
        ("drop", [("boat", "V1", ("D1:1",))]),
        ("update", [("boat", "V1 V2", ("D1:1", "D2:1"))]),
        ("suffix", [("boat", "V1", ("D1:1",)), ("boat (2)", "V2", ("D2:1",))]),
    ],
)
def test_a_taken_index(policy, found):
    system, _, _ = fixed_memora(
        [entries(("boat", "V1")), entries(("boat", "V2"))],
        duplicate_index=policy,
        update_threshold=2.0,
    )
    report = system.ingest(ONE)
    assert [(r.index_text, r.text, r.sources) for r in system.records()] == found
    assert report.events["duplicate_index"] == 1


def test_a_merged_index_never_takes_another_entrys():
    system, _, _ = fixed_memora(
        [
            entries(("tabby", "V1"), ("red boat", "V2")),
            entries(("red boat sale", "V3")),
            decision(True, 0, "tabby", "V2 and V3"),
        ],
        same_segment=False,
    )
    system.ingest(ONE)
    assert [r.index_text for r in system.records()] == ["tabby", "tabby (2)"]


def test_a_merge_makes_new_cues_and_drops_the_old():
    system, _, _ = memora(
        [
            entries(("red boat", "V1")),
            cues(red_boat=["old cue"]),
            entries(("red boat sale", "V2")),
            cues(red_boat_sale=["ignored cue"]),
            decision(True, 0, "boat story", "V12"),
            cues(boat_story=["new cue"]),
        ],
        segmentation="fixed",
    )
    system.ingest(ONE)
    assert [(cue.text, cue.links) for cue in system.store.cues] == [("new cue", ("m1",))]


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
