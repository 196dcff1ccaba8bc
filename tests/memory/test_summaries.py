"""Session summaries: one call each, clean sentences, honest sources, every loss counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.hand import conversation
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.schemas_summaries import CitedFact, CitedFacts, SessionFacts
from unbidden.memory.calls import CountedCalls
from unbidden.memory.modelled import IngestLog
from unbidden.memory.summaries import SummaryMemory, dialogue_sessions, summarise

TALK = conversation(
    [("Ana", "I bought a boat.", "a red boat"), ("Ben", "Nice.")], [("Ben", "I have a cat.")]
)
ONE = SessionFacts(facts=["Ana has a boat."])


def summarised(answers, sessions=TALK.sessions, **options):
    llm = ScriptedLLM(answers)
    log = IngestLog()
    calls = CountedCalls(llm)
    memories = summarise(sessions, calls, log, **options)
    return memories, log.report(len(memories), calls.counts), llm


def test_one_call_for_each_session_and_one_memory_for_each_sentence():
    two = SessionFacts(facts=["Ben has a cat.", "Ben is well."])
    memories, report, llm = summarised([ONE, two])
    first, second = (session.when for session in TALK.sessions)
    assert memories == [
        SummaryMemory("s1-m1", "Ana has a boat.", 1, first, ("D1:1", "D1:2")),
        SummaryMemory("s2-m1", "Ben has a cat.", 2, second, ("D2:1",)),
        SummaryMemory("s2-m2", "Ben is well.", 2, second, ("D2:1",)),
    ]
    assert (report.units, report.memories, report.failed) == (2, 3, 0)
    assert report.calls["summarise_session.v1"].calls == len(llm.seen) == 2
    user = llm.seen[0].messages[1]["content"]
    assert user == (
        "Date: 2023-05-01, a Monday\nAna: I bought a boat. [image: a red boat]\nBen: Nice."
    )
    _, _, plain = summarised([ONE, two], captions=False, dates=False)
    assert plain.seen[0].messages[1]["content"] == "Ana: I bought a boat.\nBen: Nice."


def test_plain_dialogues_have_no_date_and_locomo_ids():
    sessions = dialogue_sessions([[("Nurse", "Hello"), ("Parent", "Hi")], [("Nurse", "Again")]])
    memories, _, llm = summarised([ONE, ONE], sessions)
    assert [(m.id, m.time, m.sources) for m in memories] == [
        ("s1-m1", None, ("D1:1", "D1:2")),
        ("s2-m1", None, ("D2:1",)),
    ]
    assert llm.seen[0].messages[1]["content"] == "Nurse: Hello\nParent: Hi"


def test_blank_numbered_and_repeated_lines_are_cleaned_and_counted():
    facts = SessionFacts(facts=["1. A is.", " ", "12) B is.", "- A is.", "", "3 cats live there."])
    memories, report, _ = summarised([facts, SessionFacts(facts=[])])
    assert [(m.id, m.text) for m in memories] == [
        ("s1-m1", "A is."), ("s1-m2", "B is."), ("s1-m3", "3 cats live there."),
    ]  # fmt: skip
    assert report.events["blank_facts"] == 2
    assert report.events["repeated_facts"] == report.events["no_facts"] == 1


def test_a_session_without_turns_is_not_asked():
    memories, report, llm = summarised([ONE], dialogue_sessions([[], [("Ana", "x")]]))
    assert [m.id for m in memories] == ["s2-m1"] and len(llm.seen) == 1
    assert (report.units, report.events["empty_session"], report.failed) == (2, 1, 0)
    assert summarised([], [])[0] == []


def test_cited_lines_become_turns_and_unknown_ones_are_counted():
    cited = CitedFacts(
        facts=[CitedFact(text="x", lines=[2, 2, 9, 0]), CitedFact(text="y", lines=[-1]),
               CitedFact(text="x", lines=[1])]
    )  # fmt: skip
    memories, report, llm = summarised([cited, CitedFacts(facts=[])], sources="cited")
    assert [(m.text, m.sources) for m in memories] == [
        ("x", ("D1:1", "D1:2")), ("y", ("D1:1", "D1:2")),
    ]  # fmt: skip
    assert (report.events["unknown_line"], report.events["uncited"]) == (3, 1)
    assert llm.seen[0].messages[1]["content"].splitlines()[2] == "2. Ben: Nice."


@given(st.lists(st.lists(st.integers(-3, 6), max_size=5), max_size=4))
def test_cited_sources_are_turns_of_the_session_in_order(lines):
    facts = CitedFacts(facts=[CitedFact(text=f"f{i}", lines=n) for i, n in enumerate(lines)])
    memories, _, _ = summarised([facts], TALK.sessions[:1], sources="cited")
    assert len(memories) == len(lines)
    for memory in memories:
        assert memory.sources in [("D1:1",), ("D1:2",), ("D1:1", "D1:2")]


@pytest.mark.parametrize(
    ("sources", "bad"),
    [
        *(("batch", bad) for bad in ('{"facts": [1]}', '{"facts": "x"}', "[]", "{}", "1. Ana is.")),
        *(("cited", bad) for bad in ('{"facts": ["x"]}', '{"facts": [{"text": "x"}]}',
                                     '{"facts": [{"text": "x", "lines": ["1"]}]}')),
        *((sources, bad) for sources in ("batch", "cited") for bad in (
            '{"facts": [', "", Outcome("refused", "no"), Outcome("truncated", "cut"))),
    ],
)  # fmt: skip
def test_a_session_that_cannot_be_summarised_is_a_failed_unit(sources, bad):
    good = {"batch": ONE, "cited": CitedFacts(facts=[CitedFact(text="x", lines=[1])])}[sources]
    memories, report, _ = summarised([bad, good], sources=sources)
    assert [m.id for m in memories] == ["s2-m1"]
    assert (report.units, report.failed) == (2, 1)
    assert report.failures[0].unit == "session 1"
    assert report.failures[0].turns == ("D1:1", "D1:2") and report.failures[0].reason


def test_unknown_kind_of_sources():
    with pytest.raises(ConfigError, match="unknown sources"):
        summarised([], sources="exact")
