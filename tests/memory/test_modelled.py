import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.hand import Words, conversation, texts
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.outcome import Usage
from unbidden.memory.calls import CountedCalls
from unbidden.memory.modelled import ModelledSystem
from unbidden.memory.protocol import CallCount, Failure, PreparesTexts, SystemInfo
from unbidden.memory.records import RecordStore, united

REPLY = {"speaker": "Ana", "memories": [], "message": "m"}
ids = st.lists(st.sampled_from(["D1:1", "D1:2", "D2:1", "D3:7"]))


class OneEach(ModelledSystem):
    """Keeps the model's words about each turn."""

    info = SystemInfo("one-each", "none", True, "exact", "Apache-2.0")

    def build(self, conversation):
        self.store = RecordStore(self.embedder)
        for session in conversation.sessions:
            for turn in session.turns:
                self.log.units += 1
                outcome = self.calls.ask("reply.v1", REPLY | {"message": turn.text})
                if outcome.ok:
                    self.store.add(outcome.value, [turn.id], kind="note", time=session.when)
                else:
                    self.log.fail(turn.id, outcome, [turn.id])

    def stores(self):
        return [self.store]

    def search(self, query, *, k, speaker=None):
        return [record.retrieved(score) for record, score in self.store.search(query, k)]


@given(ids, ids)
def test_union_keeps_all_once_in_order(a, b):
    both = united(a, b)
    assert set(both) == {*a, *b}
    assert len(both) == len(set(both))
    assert both[: len(set(a))] == united(a)


def test_a_missing_model_is_explained():
    with pytest.raises(ConfigError, match=r"needs a model[\s\S]*option `llm`"):
        OneEach(llm=None, embedder=Words())
    with pytest.raises(ConfigError, match="`attempts` is out of range"):
        OneEach(llm=ScriptedLLM([]), embedder=Words(), attempts=0)


def test_report_counts_units_failures_and_calls():
    talk = conversation([("Ana", "a boat"), ("Ben", "a cat")], [("Ana", "a car")])
    answers = [
        Outcome("ok", value="boat", usage=Usage(7, 2), seconds=0.5),
        Outcome("refused", "no"),
        Outcome("ok", value="car"),
    ]
    system = OneEach(llm=ScriptedLLM(answers), embedder=Words())
    report = system.ingest(talk)
    assert (report.units, report.memories, report.failed) == (3, 2, 1)
    assert report.failures == (Failure("D1:2", "refused: no", ("D1:2",)),)
    assert report.calls == {
        "reply.v1": CallCount(
            3, failed=1, lost=1, input_tokens=7, output_tokens=2, uncounted=2, seconds=0.5
        )
    }
    assert [turn.id for turn in system.unstored(talk.sessions[0])] == ["D1:2"]
    assert [s.record.text for s in system.stored(talk.sessions[1])] == ["car"]


def test_only_malformed_replies_are_asked_again_with_a_new_repeat():
    talk = conversation([("Ana", "x"), ("Ben", "y")])
    llm = ScriptedLLM([Outcome("empty", "no text"), "words", Outcome("refused", "no")])
    report = OneEach(llm=llm, embedder=Words(), attempts=2).ingest(talk)
    assert [seen.repeat for seen in llm.seen] == [0, 1, 0]
    assert (report.memories, report.failed, report.calls["reply.v1"].calls) == (1, 1, 3)
    count = report.calls["reply.v1"]
    assert (count.calls, count.failed, count.lost, count.asked) == (3, 2, 1, 2)


def test_answers_with_a_list_as_long_as_allowed_are_counted():
    calls = CountedCalls(
        ScriptedLLM([json.dumps({"facts": ["a"] * count}) for count in (11, 12, 13)])
    )
    for _ in range(3):
        assert calls.ask("anchormem_facts.v1", {"chunk": "c", "resolve_dates": ""}).ok
    assert calls.counts["anchormem_facts.v1"].full == 2


def test_each_ingestion_starts_empty():
    system = OneEach(llm=ScriptedLLM(["one", "two"]), embedder=Words())
    system.ingest(conversation([("Ana", "x")]))
    report = system.ingest(conversation([("Ana", "y")]))
    assert (report.units, report.memories, report.calls["reply.v1"].calls) == (1, 1, 1)
    assert texts(system.search("one two", k=5)) == ["two"]


def test_queries_can_be_encoded_ahead():
    system = OneEach(llm=ScriptedLLM([]), embedder=(embedder := Words()))
    assert isinstance(system, PreparesTexts)
    system.prepare([], ["one", "two"])
    system.prepare([], [])
    assert embedder.seen == ["one", "two"]


def test_search_is_exact_stable_and_bounded():
    store = RecordStore(Words())
    for text in ("red boat", "blue boat", "red boat", "cat"):
        store.add(text, ["D1:1"], kind="fact")
    found = store.search("red boat", 10)
    assert [record.id for record, _ in found] == ["m1", "m3", "m2", "m4"]
    assert [score for _, score in found] == pytest.approx([1, 1, 0.5, 0], abs=1e-4)
    assert len(store.search("red boat", 10, floor=0.4)) == 3
    assert store.search("red", 0) == RecordStore(Words()).search("red", 3) == []
    only = store.search("red boat", 1, among=lambda record: record.id == "m4")
    assert [record.id for record, _ in only] == ["m4"]


def test_update_unites_sources_and_re_embeds_delete_removes():
    store = RecordStore(Words())
    first = store.add("red boat", ["D1:1", "D1:2"], kind="fact")
    store.search("red", 1)
    store.unit = "session 2"
    second = store.update(first.id, text="blue ship", sources=["D2:1", "D1:2"])
    assert second.sources == ("D1:1", "D1:2", "D2:1")
    assert (second.id, second.order, second.index_text) == (first.id, 1, "blue ship")
    assert store.search("blue ship", 1)[0][1] == pytest.approx(1, abs=1e-4)
    store.delete(first.id)
    assert len(store) == 0 and store.search("blue", 1) == []
    assert [change.action for change in store.history] == ["add", "update", "delete"]
    assert store.history[1].before == first and store.history[2].unit == "session 2"
    with pytest.raises(KeyError):
        store.update("m9", text="x")
    # An id is never given twice, so an old reference cannot come to mean something else.
    assert store.add("new", ["D1:1"], kind="fact").id == "m2"


def test_an_index_text_of_its_own_outlives_a_new_text():
    store = RecordStore(Words())
    record = store.add("the value", ["D1:1"], kind="fact", index_text="the key")
    assert store.update(record.id, text="another value").index_text == "the key"
    assert store.update(record.id, index_text="new key").text == "another value"
