"""Session summaries read by similarity, whole, or from the end."""

import pytest

from tests.memory.hand import Words, conversation, texts
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.schemas_summaries import CitedFact, CitedFacts, SessionFacts
from unbidden.memory import create_system

TALK = conversation(
    [("Ana", "I bought a red boat."), ("Ben", "I have a cat.")], [("Ana", "The boat is blue.")]
)
FACTS = (
    SessionFacts(facts=["Ana has a red boat", "Ben has a cat"]),
    SessionFacts(facts=["Ana has a blue boat"]),
)


def built(name, answers=FACTS, **options):
    llm = ScriptedLLM(answers)
    system = create_system(name, llm=llm, embedder=Words(), **options)
    return system, system.ingest(TALK), llm


def test_one_call_a_session_and_the_nearest_sentences():
    system, report, llm = built("msc-retrieval")
    hits = system.search("red boat", k=2)
    assert texts(hits) == ["Ana has a red boat", "Ana has a blue boat"]
    assert hits[0].sources == ("D1:1", "D1:2") and hits[0].time == TALK.sessions[0].when
    assert hits[0].score > hits[1].score and len(system.search("boat", k=6)) == 3
    assert [seen.prompt_name for seen in llm.seen] == ["summarise_session.v1"] * 2
    assert (report.units, report.memories, report.failed) == (2, 3, 0)
    assert [record.index_text for record in system.records()] == texts(system.records())


def test_all_memories_are_one_text_under_their_dates():
    system, report, llm = built("all-memories")
    (hit,) = system.search("cat", k=1)
    assert hit.text == (
        "DATE: 2023-05-01\nAna has a red boat\nBen has a cat\nDATE: 2023-05-02\nAna has a blue boat"
    )
    assert hit.sources == ("D1:1", "D1:2", "D2:1") and hit.time is None
    assert system.search("else", k=9) == [hit] and system.search("x", k=0) == []
    assert report.memories == 3 and len(llm.seen) == 2
    system.prepare([TALK], ["cat"])
    assert system.embedder.seen == [], "nothing is embedded"


def test_the_last_memories():
    system, _, _ = built("all-memories", form="latest")
    assert texts(system.search("cat", k=2)) == ["Ana has a blue boat", "Ben has a cat"]


def test_cited_turns_change_what_a_table_says_of_the_system():
    cited = [CitedFacts(facts=[CitedFact(text="Ben has a cat", lines=[2])]), CitedFacts(facts=[])]
    for name in ("msc-retrieval", "all-memories"):
        system, report, _ = built(name, cited, sources="cited")
        assert system.search("cat", k=1)[0].sources == ("D1:2",)
        assert system.info.provenance == "cited" and report.events["no_facts"] == 1
        assert type(system).info.provenance == "batch"


@pytest.mark.parametrize("name", ["msc-retrieval", "all-memories", "memory-update"])
@pytest.mark.parametrize(
    "bad", ['{"facts": [', "[]", "", Outcome("refused", "no"), Outcome("truncated", "cut")]
)
def test_a_lost_session_is_a_failed_unit_and_the_rest_stands(name, bad):
    system, report, _ = built(name, [bad, FACTS[1]])
    assert texts(system.records()) == ["Ana has a blue boat"]
    assert (report.units, report.failed) == (2, 1)
    assert report.failures[0].turns == ("D1:1", "D1:2")
    assert report.calls["summarise_session.v1"].failed == 1
    assert [turn.id for turn in system.unstored(TALK.sessions[0])] == ["D1:1", "D1:2"]


@pytest.mark.parametrize("name", ["msc-retrieval", "all-memories", "memory-update"])
def test_an_empty_conversation_finds_nothing(name):
    system = create_system(name, llm=ScriptedLLM([]), embedder=Words())
    report = system.ingest(conversation([]))
    assert system.search("x", k=3) == []
    assert (report.memories, report.events["empty_session"]) == (0, 1)


def test_unknown_options():
    for option in ({"form": "x"}, {"sources": "exact"}):
        with pytest.raises(ConfigError, match="known: "):
            built("msc-retrieval", **option)
