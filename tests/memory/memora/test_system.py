import datetime as dt
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.hand import Words, texts
from tests.memory.memora.script import (
    ONE,
    TALK,
    asked,
    cues,
    decision,
    entries,
    episodes,
    fixed_memora,
    memora,
)
from unbidden.llm import Outcome
from unbidden.llm.schemas_memora import (
    Episode,
)
from unbidden.memory.memora import Memora
from unbidden.memory.memora.segments import fixed, segment_of_each
from unbidden.memory.memora.store import HarmonicStore

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


@pytest.mark.parametrize(
    ("groups", "segments", "repaired", "mixed"),
    [
        (([1, 2], [3]), [("D1:1", "D1:2"), ("D1:3",)], 0, 0),
        (([3], [1, 2]), [("D1:1", "D1:2"), ("D1:3",)], 0, 0),
        (([1, 3], [2]), [("D1:1", "D1:3"), ("D1:2",)], 0, 1),
        (([1, 3],), [("D1:1", "D1:2", "D1:3")], 1, 0),
    ],
)
def test_segments_whose_messages_interleave_are_kept_and_counted(groups, segments, repaired, mixed):
    system, llm, _ = memora([episodes(*groups), *[entries()] * len(segments), "{", entries()])
    events = system.ingest(TALK).events
    read = [s.variables["messages"] for s in llm.seen if s.prompt_name == "memora_extract.v1"]
    assert [tuple(m["id"] for m in found) for found in read[:-1]] == segments
    assert (events["segmentation_repaired"], events["segmentation_interleaved"]) == (
        repaired,
        mixed,
    )


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
