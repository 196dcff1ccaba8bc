"""RSum-LLM: the memory is folded session by session; a lost session leaves the one before."""

import pytest

from tests.memory.hand import Words, conversation, texts
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.memory import create_system

TALK = conversation(
    [("Ana", "I bought a boat.", "a boat"), ("Ben", "Nice.")], [("Ben", "A cat.")], [("Ana", "Hi")]
)
MEMORIES = ("Ana has a boat.", "Ana has a boat. Ben has a cat.", "Ana sails.\nBen has a cat!")


def built(answers=MEMORIES, talk=TALK, **options):
    llm = ScriptedLLM(answers)
    system = create_system("rsum", llm=llm, embedder=Words(), **options)
    return system, system.ingest(talk), llm


def test_each_memory_is_written_from_the_one_before_and_the_session():
    system, report, llm = built()
    assert [s.variables["memory"] for s in llm.seen] == ["", MEMORIES[0], MEMORIES[1]]
    first, second, _ = (seen.messages[1]["content"] for seen in llm.seen)
    assert "Memory so far:\nEmpty\n" in first and "At most 20 sentences." in first
    assert first.endswith("Next session:\nAna: I bought a boat. [image: a boat]\nBen: Nice.")
    assert "Memory so far:\nAna has a boat.\n" in second and second.endswith("Ben: A cat.")
    (hit,) = system.search("anything", k=5)
    assert hit.text == "Ana sails. Ben has a cat!", "line breaks become blanks"
    assert (report.units, report.memories, report.failed) == (3, 1, 0)
    assert [change.action for change in system.history()] == ["add", "update", "update"]


def test_recall_is_not_available_unless_the_whole_history_is_asked_for():
    system, _, _ = built()
    assert system.info.provenance == "none" and system.search("x", k=1)[0].sources == ()
    system, _, _ = built(history_sources=True)
    assert system.info.provenance == "batch"
    assert system.search("x", k=1)[0].sources == ("D1:1", "D1:2", "D2:1", "D3:1")


@pytest.mark.parametrize(
    "bad",
    ["", " \n", "Empty.", "New memory:", Outcome("refused", "no"), Outcome("truncated", "cut"),
     Outcome("empty", "no text")],
)  # fmt: skip
def test_a_session_that_fails_keeps_the_memory_before(bad):
    system, report, llm = built([MEMORIES[0], bad, "Ana sails."])
    assert llm.seen[2].variables["memory"] == MEMORIES[0]
    assert texts(system.search("x", k=1)) == ["Ana sails."]
    assert (report.failed, report.failures[0].unit, report.failures[0].turns) == (
        1, "session 2", ("D2:1",),
    )  # fmt: skip
    assert report.failures[0].reason
    assert system.unstored(TALK.sessions[1]) == list(TALK.sessions[1].turns)


def test_a_first_session_that_fails_leaves_nothing_made_up():
    system, report, _ = built([Outcome("refused", "no")] * 3)
    assert system.search("x", k=3) == [] and (report.memories, report.failed) == (0, 3)


def test_too_many_sentences_are_counted_and_kept():
    system, report, llm = built(["A. B. C.", "A.", "A! B? C."], max_sentences=2)
    assert report.events["over_limit"] == 2 and "At most 2 sentences" in str(llm.seen[0].messages)
    assert system.search("x", k=1)[0].text == "A! B? C."


def test_focus_and_dates():
    _, _, llm = built(focus="all", dates=True)
    assert {seen.prompt_name for seen in llm.seen} == {"rsum_fold_all.v1"}
    assert "Next session (2023-05-01, a Monday):" in llm.seen[0].messages[1]["content"]


def test_sentences_are_ranked():
    system, report, _ = built(["A red boat.", "x", "A red boat. A blue cat. No!"], form="sentences")
    assert texts(system.search("blue cat", k=2)) == ["A blue cat.", "A red boat."]
    assert report.memories == 3 and system.search("cat", k=1)[0].sources == ()


def test_an_empty_conversation_and_wrong_options():
    system, report, llm = built([], conversation([]))
    assert system.search("x", k=1) == [] and report.events["empty_session"] == 1
    system.prepare([TALK], ["x"])
    assert llm.seen == [] and system.embedder.seen == []
    for option in ({"focus": "x"}, {"form": "x"}, {"max_sentences": 0}):
        with pytest.raises(ConfigError):
            built([], **option)
