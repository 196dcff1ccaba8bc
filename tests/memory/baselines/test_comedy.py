"""COMEDY: session memories, one compression for each speaker, no retriever."""

import pytest

from tests.memory.hand import Words, conversation, texts
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.schemas_baselines import Compressed
from unbidden.llm.schemas_summaries import SessionFacts
from unbidden.memory import create_system

TALK = conversation([("Ana", "A boat."), ("Ben", "Nice.")], [("Ben", "A cat.")], [("Ana", "Hi.")])
WHOLE = Compressed(person="A red boat.", relationship="Friends.", events="A  blue\ncat.")


def model(compress=WHOLE, facts=("one", "two", "three")):
    told = iter(facts)

    def answer(seen):
        if seen.prompt_name == "comedy_compress.v1":
            return compress(seen) if callable(compress) else compress
        fact = next(told)
        return fact if isinstance(fact, Outcome) else SessionFacts(facts=[fact])

    return ScriptedLLM(answer)


def built(llm, talk=TALK, **options):
    system = create_system("comedy", llm=llm, embedder=Words(), **options)
    return system, system.ingest(talk)


def asked(llm):
    return [seen.variables for seen in llm.seen if seen.prompt_name == "comedy_compress.v1"]


def test_all_sessions_are_compressed_once_for_each_speaker():
    llm = model(lambda s: Compressed(person=s.variables["about"], relationship="", events="e"))
    system, report = built(llm)
    assert [(c["about"], c["facts"], c["memory"]) for c in asked(llm)] == [
        ("Ana", ["one", "two", "three"], ""), ("Ben", ["one", "two", "three"], ""),
    ]  # fmt: skip
    assert texts(system.search("x", k=3, speaker="Ben")) == ["About Ben: Ben\nEvents: e"]
    assert len(system.search("x", k=3)) == 2 and len(system.search("x", k=1)) == 1
    assert system.search("x", k=0) == [] and len(system.search("x", k=3, speaker="Zoe")) == 2
    assert (report.units, report.memories, report.failed) == (3 + 2, 2, 0)
    assert report.events["blank_part"] == 2
    assert {count.calls for count in report.calls.values()} == {3, 2}


def test_one_memory_for_both():
    llm = model()
    system, _ = built(llm, profiles="both")
    assert [c["about"] for c in asked(llm)] == ["Ana and Ben"]
    (hit,) = system.search("x", k=3, speaker="Ben")
    assert hit.text == (
        "About Ana and Ben: A red boat.\nRelationship: Friends.\nEvents: A blue cat."
    )
    assert hit.sources == () and system.info.provenance == "none"


def test_the_whole_history_as_sources_leaves_out_lost_sessions():
    llm = model(facts=("one", Outcome("refused", "no"), "three"))
    system, report = built(llm, history_sources=True)
    assert system.search("x", k=1)[0].sources == ("D1:1", "D1:2", "D3:1")
    assert system.info.provenance == "batch" and report.failed == 1


def test_parts_are_ranked():
    system, report = built(model(), profiles="both", form="parts")
    assert texts(system.search("blue cat", k=2)) == [
        "Events: A blue cat.",
        "About Ana and Ben: A red boat.",
    ]
    assert report.memories == 3
    system, _ = built(model(), form="parts")
    assert len(system.search("x", k=9, speaker="Ana")) == 3 and len(system.search("x", k=9)) == 6


def test_long_conversations_are_compressed_in_steps():
    llm = model()
    built(llm, profiles="both", sessions_per_call=2)
    first, second = asked(llm)
    assert (first["facts"], first["memory"]) == (["one", "two"], "")
    assert second["facts"] == ["three"] and second["memory"].startswith("About Ana and Ben: A red")


@pytest.mark.parametrize(
    "bad",
    ['{"person": "p", "relationship": "r"}', '{"person": 1, "relationship": "", "events": ""}',
     '{"person": "p", "rel', "###", "", Compressed(person=" ", relationship="", events="\n"),
     Outcome("refused", "no"), Outcome("truncated", "cut")],
)  # fmt: skip
def test_a_compression_that_fails_leaves_the_sentences(bad):
    system, report = built(model(bad), profiles="both")
    assert texts(system.search("x", k=1)) == ["Events: one\ntwo\nthree"]
    assert (report.units, report.failed) == (4, 1)
    assert report.failures[0].unit == "compression about Ana and Ben, call 1"
    assert report.failures[0].turns == ("D1:1", "D1:2", "D2:1", "D3:1")


def test_a_later_compression_that_fails_loses_nothing_of_the_memory_before():
    answers = iter([WHOLE, "bad"])
    system, report = built(model(lambda seen: next(answers)), profiles="both", sessions_per_call=2)
    assert texts(system.search("x", k=1)) == [
        "About Ana and Ben: A red boat.\nRelationship: Friends.\nEvents: A blue cat.\nthree"
    ]
    assert report.failed == 1 and report.failures[0].turns == ("D3:1",)


def test_long_memories_are_counted_and_kept():
    _, report = built(model(), limit_words=3)
    assert report.events["over_limit"] == 2


def test_without_any_session_memory_nothing_is_compressed():
    lost = [Outcome("refused", "no")] * 3
    llm = model(facts=lost)
    system, report = built(llm)
    assert system.search("x", k=3) == [] and asked(llm) == []
    assert (report.units, report.failed) == (3, 3)
    system, _ = built(ScriptedLLM([]), conversation([]))
    assert system.search("x", k=3) == []


def test_a_name_is_never_a_template():
    talk = conversation([("{}", "A boat."), ("B{x}", "Nice.")], speakers=("{}", "B{x}"))
    system, _ = built(model(), talk)
    assert system.search("x", k=1, speaker="B{x}")[0].text.startswith("About B{x}: A red boat.")
    assert system.search("x", k=1, speaker="{}")[0].text.startswith("About {}: A red boat.")


def test_wrong_options():
    for option in ({"profiles": "x"}, {"form": "x"}, {"limit_words": 0}, {"sessions_per_call": 0}):
        with pytest.raises(ConfigError):
            built(ScriptedLLM([]), **option)
