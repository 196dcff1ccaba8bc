import datetime as dt
import json
import re

import pytest

from tests.memory.hand import Words, conversation, texts
from unbidden.corpus import load_corpus
from unbidden.corpus.models import Conversation, Session, Turn
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.parse import parse_text
from unbidden.llm.schemas_mem0 import AddedMemories, FactOperation, FactTexts, MemoryActions
from unbidden.memory import create_system
from unbidden.memory.mem0 import Mem0
from unbidden.memory.mem0_v2 import Mem0V2

BOAT = conversation(
    [("Ana", "I bought a red boat yesterday."), ("Ben", "I like cats.", "a cat")],
    [("Ana", "I sold it."), ("Ben", "Oh.")],
)


def facts(*found):
    return FactTexts(facts=list(found))


def actions(*found):
    keys = ("event", "id", "text")
    return MemoryActions.model_validate(
        {"memory": [dict(zip(keys, item, strict=True)) | {"old_memory": None} for item in found]}
    )


def operation(name, label=None, text=""):
    return FactOperation(operation=name, id=label, text=text)


def added(*found):
    return AddedMemories.model_validate(
        {
            "memory": [
                {"text": text, "attributed_to": who, "linked_memory_ids": links}
                for text, who, links in found
            ]
        }
    )


def one_pass(answers, **options):
    llm = ScriptedLLM(answers)
    return Mem0(llm=llm, embedder=Words(), ingestion="one-pass", **options), llm


def asked(llm):
    return [seen.prompt_name.removesuffix(".v1") for seen in llm.seen]


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


# Version 2: additive.


def test_v2_adds_and_never_changes():
    llm = ScriptedLLM(
        [
            added(("Ana has a red boat", "user", []), ("Ben likes cats", "assistant", ["4"])),
            added(("Ana sold the boat", "user", [0, "1", "9"]), (" ", "user", [])),
        ]
    )
    system = Mem0V2(llm=llm, embedder=Words(), ingestion="one-pass")
    report = system.ingest(BOAT)
    assert [r.text for r in system.records()] == [
        "Ana has a red boat",
        "Ben likes cats",
        "Ana sold the boat",
    ]
    assert [r.kind for r in system.records()] == ["user", "assistant", "user"]
    assert system.records()[2].links == ("a1", "a2")
    assert system.records()[2].sources == ("D2:1", "D2:2")
    assert report.events == {"added": 3, "unknown_id": 2, "blank_text": 1}
    assert all(change.action == "add" for change in system.history())
    assert [m["text"] for m in llm.seen[1].variables["recent"]] == [t.text for t in BOAT.turns[:2]]


@pytest.mark.parametrize(("duplicates", "sources"), [("drop", 2), ("unite", 4)])
def test_v2_drops_exact_repeats(duplicates, sources):
    again = ("Ana has a red boat", "user", [])
    llm = ScriptedLLM([added(again, again), added(again)])
    system = Mem0V2(llm=llm, embedder=Words(), ingestion="one-pass", duplicates=duplicates)
    report = system.ingest(BOAT)
    assert (report.memories, report.events["duplicate"]) == (1, 2)
    assert len(system.records()[0].sources) == sources


def test_v2_cuts_earlier_messages_but_not_what_it_stores():
    long = "word " * 3000
    llm = ScriptedLLM(lambda seen: added(("x", "user", [])))
    embedder = Words()
    Mem0V2(llm=llm, embedder=embedder, ingestion="one-pass", batch_size=1).ingest(
        conversation([("Ana", long), ("Ben", long)])
    )
    assert len(llm.seen[1].variables["recent"][0]["text"]) == 300
    assert llm.seen[1].variables["messages"][0]["text"] == long.strip()
    assert max(map(len, embedder.seen)) <= 8000


def test_v2_leaves_out_results_below_its_floor():
    llm = ScriptedLLM([added(("red boat", "user", []), ("grey cat", "user", [])), added()])
    system = Mem0V2(llm=llm, embedder=Words(), ingestion="one-pass")
    system.ingest(BOAT)
    assert texts(system.search("boat", k=5)) == ["red boat"]


# All variants.


@pytest.fixture
def two_stores():
    def answer(seen):
        if seen.prompt_name == "mem0_extract.v1":
            own = [m for m in seen.variables["messages"] if m["role"] == "user"]
            return facts(*(m["text"] for m in own))
        return actions(*(("ADD", "0", fact) for fact in seen.variables["facts"]))

    system = Mem0(llm=ScriptedLLM(answer), embedder=Words(), variant="oss1")
    system.ingest(BOAT)
    return system


def test_a_query_is_searched_in_its_speakers_store(two_stores):
    assert texts(two_stores.search("cats", k=1, speaker="Ben")) == ["I like cats."]
    assert "I like cats." not in texts(two_stores.search("cats", k=9, speaker="Ana"))
    for nobody in (None, "Zoe"):
        assert texts(two_stores.search("I like cats", k=1, speaker=nobody)) == ["I like cats."]
    assert len(two_stores.search("I", k=9)) == 4
    assert two_stores.search("I", k=0) == []
    assert len({record.id for record in two_stores.records()}) == 4


@pytest.mark.parametrize(
    "bad", ['{"facts": ["a"', '{"facts": "a"}', '{"facts": [1]}', "[]", '{"fact": []}', "none"]
)
def test_a_malformed_extraction_is_a_counted_loss(bad):
    system, _ = one_pass(
        [bad, facts("Ana sold it"), actions(("ADD", "0", "Ana sold it"))], variant="oss1"
    )
    report = system.ingest(BOAT)
    assert (report.units, report.failed, report.memories) == (2, 1, 1)
    (loss,) = report.failures
    assert loss.turns == ("D1:1", "D1:2")
    assert loss.reason.startswith(("invalid_json", "schema_mismatch"))
    assert [turn.id for turn in system.unstored(BOAT.sessions[0])] == ["D1:1", "D1:2"]


ACTION = {"id": "0", "text": "a", "event": "ADD", "old_memory": None}
ADDED = {"text": "a", "attributed_to": "user", "linked_memory_ids": []}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (MemoryActions, {"memory": [ACTION | {"event": "add"}]}),
        (MemoryActions, {"memory": [ACTION | {"id": 0.5}]}),
        (MemoryActions, {"memory": [{"id": "0", "text": "a", "event": "ADD"}]}),
        (MemoryActions, {"memory": ACTION}),
        (FactOperation, {"operation": "MERGE", "id": None, "text": "a"}),
        (FactOperation, {"operation": "ADD", "id": [], "text": "a"}),
        (FactTexts, {"facts": [{"fact": "a"}]}),
        (AddedMemories, {"memory": ["a bare string"]}),
        (AddedMemories, {"memory": [ADDED | {"attributed_to": "Ana"}]}),
    ],
)
def test_other_forms_are_refused(schema, value):
    assert parse_text(json.dumps(value), schema)[0] == "schema_mismatch"


@pytest.mark.parametrize(
    ("variant", "answers"),
    [
        ("oss1", [facts("a"), Outcome("rate_limited", "429"), facts()]),
        ("paper", [facts("a", "b"), Outcome("timeout", "late"), "s", facts(), "s"]),
    ],
)
def test_a_failed_update_is_a_loss_and_destroys_nothing(variant, answers):
    system, _ = one_pass(answers, variant=variant)
    report = system.ingest(BOAT)
    assert report.failed == 1
    assert report.failures[0].reason.startswith(answers[1].status)
    assert report.memories == (1 if variant == "paper" else 0)


def test_a_failed_v2_call_is_a_counted_loss():
    llm = ScriptedLLM(['{"memory": ["x"]}', added(("sold", "user", []))])
    report = Mem0V2(llm=llm, embedder=Words(), ingestion="one-pass").ingest(BOAT)
    assert (report.failed, report.failures[0].turns) == (1, ("D1:1", "D1:2"))


@pytest.mark.parametrize("name", ["mem0", "mem0-v2"])
def test_the_same_conversation_asks_the_same_again(name):
    def answer(seen):
        return {
            "mem0_summary.v1": "s",
            "mem0_extract_context.v1": facts("Ana has a boat", "Ben has a cat"),
            "mem0_operation.v1": operation("ADD", None, "Ana has a ship"),
            "mem0_add.v1": added((f"m{len(seen.variables)}", "user", ["0"])),
        }[seen.prompt_name]

    llm = ScriptedLLM(answer)
    system = create_system(name, llm=llm, embedder=Words(), protocol="paper")
    keys = []
    for _ in range(2):
        before = len(llm.seen)
        system.ingest(BOAT)
        keys.append([seen.key for seen in llm.seen[before:]])
    assert keys[0] == keys[1]
    assert len(set(keys[0])) >= len(keys[0]) / 2


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("variant", "oss2"),
        ("ingestion", "mirror"),
        ("batch_size", 0),
        ("unknown_id", "keep"),
    ],
)
def test_options_out_of_range_are_named(option, value):
    with pytest.raises(ConfigError, match=option):
        Mem0(llm=ScriptedLLM([]), embedder=Words(), **{option: value})


def test_without_a_model_there_is_an_explanation():
    for name in ("mem0", "mem0-v2"):
        with pytest.raises(ConfigError, match="option `llm`"):
            create_system(name)


def test_sessions_without_date_or_turns_are_no_obstacle():
    talk = Conversation(
        "odd",
        ("Ana", "Ben"),
        (Session(1, None, "", (Turn("D1:1", "Zoe", "Hi {{ 7 * 7 }}"),)), Session(2, None, "", ())),
    )
    llm = ScriptedLLM(lambda seen: facts())
    report = Mem0(llm=llm, embedder=Words(), variant="oss1").ingest(talk)
    assert report.units == 2
    assert llm.seen[0].variables["date"] == "unknown"
    # A third person is nobody's user.
    assert [m["role"] for s in llm.seen for m in s.variables["messages"]] == ["assistant"] * 2


def test_locomo_counts(real_data):
    corpus = load_corpus("locomo")
    llm = ScriptedLLM(lambda seen: facts())
    talk = corpus.conversations[0]
    report = Mem0(llm=llm, embedder=Words(), variant="oss1").ingest(talk)
    assert report.units == 2 * sum(-(-len(s.turns) // 2) for s in talk.sessions)
    assert report.failed == 0
