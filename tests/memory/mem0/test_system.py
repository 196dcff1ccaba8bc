import datetime as dt
import json
import re

import pytest

from tests.memory.hand import Words, conversation, texts
from tests.memory.mem0.script import BOAT, actions, added, asked, facts, one_pass, operation
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.memory.mem0 import Mem0
from unbidden.memory.mem0.v2 import Mem0V2

# The releases up to 1.0: two calls per batch.


def test_roles_are_mirrored_and_each_store_gets_everything():
    llm = ScriptedLLM(lambda seen: facts())
    Mem0(llm=llm, embedder=Words(), variant="oss1").ingest(BOAT)
    roles = [[(m["role"], m["name"]) for m in seen.variables["messages"]] for seen in llm.seen]
    ana = [("user", "Ana"), ("assistant", "Ben")]
    ben = [("assistant", "Ana"), ("user", "Ben")]
    assert roles == [ana, ana, ben, ben]
    assert asked(llm) == ["mem0_extract"] * 4  # no facts, so no second call
    shown = llm.seen[0].messages[1]["content"]
    assert "user: Ana: I bought a red boat yesterday." in shown
    assert "assistant: Ben: I like cats." in shown


def test_one_pass_makes_everyone_a_user_and_pays_once():
    system, llm = one_pass(lambda seen: facts(), variant="oss1")
    system.ingest(BOAT)
    assert [m["role"] for seen in llm.seen for m in seen.variables["messages"]] == ["user"] * 4


@pytest.mark.parametrize(("size", "calls"), [(1, 4), (2, 2), (3, 2), (None, 2)])
def test_batches_never_span_sessions(size, calls):
    system, llm = one_pass(lambda seen: facts(), variant="oss1", batch_size=size)
    report = system.ingest(BOAT)
    assert (len(llm.seen), report.units, report.events["no_facts"]) == (calls, calls, calls)


@pytest.mark.parametrize("make", [Mem0, Mem0V2])
def test_the_observation_date_is_the_sessions_and_never_todays(make):
    def answer(seen):
        if seen.prompt_name == "mem0_summary.v1":
            return "summary"
        return added() if make is Mem0V2 else facts()

    llm = ScriptedLLM(answer)
    make(llm=llm, embedder=Words()).ingest(BOAT)
    for seen in llm.seen:
        content = json.dumps(seen.messages)
        assert "2023-05-01, a Monday" in content or "2023-05-02, a Tuesday" in content
        assert str(dt.date.today().year) not in re.sub("2023", "", content)


def test_captions_are_left_out_unless_wanted():
    for captions in (False, True):
        system, llm = one_pass(lambda seen: facts(), variant="oss1", captions=captions)
        system.ingest(BOAT)
        assert ("[image: a cat]" in llm.seen[0].messages[1]["content"]) is captions


def test_update_keeps_the_old_ids_in_the_union():
    system, llm = one_pass(
        [
            facts("Ana has a red boat", "Ben likes cats"),
            actions(("ADD", "0", "Ana has a red boat"), ("ADD", "1", "Ben likes cats")),
            facts("Ana sold the red boat"),
            actions(("UPDATE", "0", "Ana had a red boat and sold it"), ("NONE", "1", "")),
        ],
        variant="oss1",
    )
    report = system.ingest(BOAT)
    best = system.search("Ana red boat", k=1)[0]
    assert best.text == "Ana had a red boat and sold it"
    assert best.sources == ("D1:1", "D1:2", "D2:1", "D2:2")
    assert best.time == dt.datetime(2023, 5, 2, 13)
    assert report.events == {"added": 2, "updated": 1, "kept": 1}
    assert report.memories == 2 and report.failed == 0
    # Labels are small integers in order of making; the first call saw no memory at all.
    assert llm.seen[1].variables["memories"] == []
    assert llm.seen[3].variables["memories"] == [
        {"id": "0", "text": "Ana has a red boat"},
        {"id": "1", "text": "Ben likes cats"},
    ]
    change = system.history()[2]
    assert (change.action, change.before.text) == ("update", "Ana has a red boat")
    assert change.unit == "session 2, messages 1-2"


def test_delete_removes_the_memory_and_its_ids():
    system, _ = one_pass(
        [
            facts("Ana has a boat"),
            actions(("ADD", "0", "Ana has a boat")),
            facts("Ana has no boat"),
            actions(("DELETE", 0, "Ana has a boat"), ("ADD", "1", "Ana has no boat")),
        ],
        variant="oss1",
    )
    report = system.ingest(BOAT)
    assert [(hit.text, hit.sources) for hit in system.search("boat", k=5)] == [
        ("Ana has no boat", ("D2:1", "D2:2"))
    ]
    assert report.events == {"added": 2, "deleted": 1}
    assert [change.action for change in system.history()] == ["add", "delete", "add"]
    assert [turn.id for turn in system.unstored(BOAT.sessions[0])] == ["D1:1", "D1:2"]


@pytest.mark.parametrize("unknown_id", ["drop", "add"])
def test_an_id_that_was_not_shown_is_counted_and_never_applied(unknown_id):
    system, _ = one_pass(
        [
            facts("a", "b"),
            actions(
                ("UPDATE", "7", "new words"), ("DELETE", "x", "y"), ("ADD", "0", " "),
            ),
            facts(),
        ],
        variant="oss1",
        unknown_id=unknown_id,
    )  # fmt: skip
    report = system.ingest(BOAT)
    assert report.events["unknown_id"] == 2
    assert report.events["blank_text"] == 1
    assert texts(system.search("new words", k=3)) == (["new words"] if unknown_id == "add" else [])


@pytest.mark.parametrize(
    ("reply", "lost"),
    [
        (actions(), 2),
        (actions(("ADD", "0", "a")), 1),
        (actions(("ADD", "0", "a"), ("NONE", "1", "b")), 0),
        (actions(("ADD", "0", "a"), ("ADD", "1", " "), ("UPDATE", "7", "b")), 1),
        (actions(*[("NONE", "0", "old")] * 3), 0),
    ],
)
def test_facts_the_update_reply_leaves_out_are_counted(reply, lost):
    system, _ = one_pass([facts("a", "b"), reply, facts()], variant="oss1")
    assert system.ingest(BOAT).events.get("facts_without_action", 0) == lost


def test_a_failed_update_is_no_fact_left_out():
    system, _ = one_pass([facts("a"), Outcome("refused", "no"), facts()], variant="oss1")
    report = system.ingest(BOAT)
    assert (report.failed, report.events.get("facts_without_action", 0)) == (1, 0)


def test_a_memory_deleted_in_the_same_reply_is_not_updated_after():
    system, _ = one_pass(
        [
            facts("boat"),
            actions(("ADD", "0", "boat")),
            facts("boat"),
            actions(("DELETE", "0", "boat"), ("UPDATE", "0", "ship")),
        ],
        variant="oss1",
    )
    report = system.ingest(BOAT)
    assert report.memories == 0
    assert report.events["unknown_id"] == 1


def test_each_fact_brings_its_five_nearest_and_each_memory_is_shown_once():
    first = [f"topic{i} word" for i in range(9)]
    system, llm = one_pass(
        [
            facts(*first),
            actions(*(("ADD", "0", text) for text in first)),
            facts("topic8 word", "topic7 word"),
            actions(),
        ],
        variant="oss1",
    )
    system.ingest(BOAT)
    # By hand: all share "word", so ties go to the older; each fact's own topic is its nearest.
    shown = [memory["text"] for memory in llm.seen[3].variables["memories"]]
    assert shown == [f"topic{i} word" for i in (0, 1, 2, 3, 7, 8)]


# The paper: a summary, a window of ten messages, one operation per fact.


def test_paper_extraction_reads_summary_and_window():
    talk = conversation([("Ana", f"m{i}") for i in range(1, 13)], [("Ben", "end")])
    system, llm = one_pass(
        lambda seen: "They talk." if seen.prompt_name == "mem0_summary.v1" else facts()
    )
    system.ingest(talk)
    extractions = [seen for seen in llm.seen if seen.prompt_name == "mem0_extract_context.v1"]
    window = [[m["text"] for m in seen.variables["recent"]] for seen in extractions]
    assert window[0] == [] and window[1] == ["m1", "m2"]
    assert window[-1] == [f"m{i}" for i in range(3, 13)]
    assert [seen.variables["summary"] for seen in extractions] == [""] * 6 + ["They talk."]
    summaries = [seen for seen in llm.seen if seen.prompt_name == "mem0_summary.v1"]
    assert len(summaries) == 2 and summaries[1].variables["summary"] == "They talk."
    assert len(summaries[0].variables["messages"]) == 12


def test_paper_chooses_one_operation_for_each_fact():
    system, llm = one_pass(
        [
            facts("Ana has a boat", "Ana owns a boat", "The boat is red"),
            operation("NOOP"),
            operation("UPDATE", 0, "Ana has a red boat"),
            "summary",
            facts("Ana has no boat"),
            operation("DELETE", "0"),
            "summary",
        ]
    )
    report = system.ingest(BOAT)
    # The first fact met an empty store and was added without a call; the third sees the first.
    assert asked(llm)[:4] == ["mem0_extract_context", *["mem0_operation"] * 2, "mem0_summary"]
    assert llm.seen[2].variables["memories"] == [{"id": "0", "text": "Ana has a boat"}]
    assert report.events == {"added": 1, "kept": 1, "updated": 1, "deleted": 1}
    assert report.memories == 0


def test_paper_shows_ten_neighbours():
    many = [f"fact {i}" for i in range(13)]
    llm = ScriptedLLM(
        lambda seen: (
            {
                "mem0_extract_context.v1": facts(*many),
                "mem0_summary.v1": "s",
            }.get(seen.prompt_name)
            or operation("ADD", None, seen.variables["fact"])
        )
    )
    Mem0(llm=llm, embedder=Words(), ingestion="one-pass").ingest(conversation([("Ana", "x")]))
    shown = [len(s.variables["memories"]) for s in llm.seen if s.prompt_name == "mem0_operation.v1"]
    assert shown == [*range(1, 10), 10, 10, 10]


def test_paper_in_mirrored_stores_asks_about_the_owner():
    llm = ScriptedLLM(lambda s: "s" if s.prompt_name == "mem0_summary.v1" else facts())
    Mem0(llm=llm, embedder=Words()).ingest(BOAT)
    about = [s.variables["about"] for s in llm.seen if s.prompt_name == "mem0_extract_context.v1"]
    assert about == ["Ana", "Ana", "Ben", "Ben"]


def test_a_failed_summary_keeps_the_earlier_and_loses_no_turn():
    system, _ = one_pass([facts(), "first", facts(), Outcome("refused", "no")])
    report = system.ingest(BOAT)
    assert report.failed == 0 and report.events["summary_failed"] == 1
    assert report.calls["mem0_summary.v1"].failed == 1
