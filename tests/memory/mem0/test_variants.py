"""mem0: the additive version, and what holds for every variant."""

import json

import pytest

from tests.memory.hand import Words, conversation, texts
from tests.memory.mem0.script import BOAT, actions, added, facts, one_pass, operation
from unbidden.corpus import load_corpus
from unbidden.corpus.models import Conversation, Session, Turn
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.parse import parse_text
from unbidden.llm.schemas_mem0 import AddedMemories, FactOperation, FactTexts, MemoryActions
from unbidden.memory import create_system
from unbidden.memory.mem0 import Mem0
from unbidden.memory.mem0.v2 import Mem0V2

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
