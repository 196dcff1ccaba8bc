"""MemoChat: blocks of lines, topics by ranges, and a choice by the model, page by page."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.hand import Words, conversation, texts
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.schemas_baselines import ChosenNumbers, Memo, MemoTopic
from unbidden.memory.baselines import MemoChat
from unbidden.memory.baselines.memo import NOTO, blocks, entries, session_lines
from unbidden.memory.protocol import ExplainsFailures

TALK = conversation(
    [("Ana", "I bought a boat.", "a boat"), ("Ben", "Nice."), ("Ana", "And a cat."), ("Ben", "Oh")],
    [("Ben", "It's cold.")],
)
LINES = session_lines(TALK.sessions[0], captions=False)


def topics(*ranges):
    return [
        MemoTopic(topic=name, summary=f"They speak of {name}.", start=start, end=end)
        for name, start, end in ranges
    ]


def model(choose=(1,), write=None):
    """Cuts each block in two topics named by their first words; chooses as told."""

    def answer(seen):
        if seen.prompt_name == "memochat_choose.v1":
            found = choose(seen) if callable(choose) else choose
            return ChosenNumbers(numbers=list(found)) if isinstance(found, (tuple, list)) else found
        if write is not None:
            return write(seen) if callable(write) else write
        count = len(seen.variables["lines"])
        half = max(count // 2, 1)
        first = seen.variables["lines"][0]["text"].split()[-1]
        return Memo(
            topics=topics((first, 1, half), *([("rest", half + 1, count)] if count > half else []))
        )

    return ScriptedLLM(answer)


def built(llm, talk=TALK, **options):
    system = MemoChat(llm=llm, embedder=Words(), **options)
    return system, system.ingest(talk)


def asked(llm, name):
    return [seen for seen in llm.seen if seen.prompt_name == f"memochat_{name}.v1"]


def test_a_memo_holds_topic_summary_and_what_was_said():
    llm = model()
    system, report = built(llm)
    assert [seen.messages[1]["content"] for seen in asked(llm, "write")] == [
        "1. Ana: I bought a boat. [image: a boat]\n2. Ben: Nice.\n3. Ana: And a cat.\n4. Ben: Oh",
        "1. Ben: It's cold.",
    ]
    first, rest, cold = system.records()
    assert rest.text == "rest: They speak of rest.\nAna: And a cat.\nBen: Oh"
    assert (first.sources, rest.sources, cold.sources) == (
        ("D1:1", "D1:2"), ("D1:3", "D1:4"), ("D2:1",),
    )  # fmt: skip
    assert (first.index_text, cold.time) == ("a boat]. They speak of a boat].".replace("a b", "b"),
                                             TALK.sessions[1].when)  # fmt: skip
    assert (report.units, report.memories, report.failed) == (2, 3, 0)


def test_the_model_chooses_and_its_order_is_the_ranking():
    llm = model(choose=(3, 1, 3, 9, 0, -1))
    system, report = built(llm)
    hits = system.search("cold boat", k=5)
    assert [hit.sources for hit in hits] == [("D2:1",), ("D1:1", "D1:2")]
    assert [hit.score for hit in hits] == [2.0, 1.0]
    (call,) = asked(llm, "choose")
    assert call.variables["most"] == "5" and call.variables["options"][2].startswith("cold.")
    assert system.search_events["unknown number"] == 3
    assert len(system.search("x", k=1)) == 1 and system.search("x", k=0) == []
    assert system.embedder.seen == [], "nothing is embedded"
    assert system.calls.counts["memochat_choose.v1"].calls == 2
    assert report.calls["memochat_write.v1"].calls == 2


def test_what_happened_in_searches_is_counted_over_all_conversations():
    system, _ = built(model(choose=()))
    for _ in range(2):
        system.search("cold", k=2)
        system.ingest(TALK)
    assert system.search_events["no topic chosen"] == 2


def test_nothing_chosen_is_nothing_found_or_filled_up_by_nearness():
    system, _ = built(model(choose=()))
    assert system.search("cold", k=2) == [] and system.search_failure is None
    assert system.search_events["no topic chosen"] == 1
    padded, _ = built(model(choose=(2,)), pad="embedding")
    assert [hit.sources for hit in padded.search("of cold", k=2)] == [("D1:3", "D1:4"), ("D2:1",)]


@pytest.mark.parametrize(
    "bad", ['{"numbers": ["1"]}', '{"numbers": 1}', '{"numbers": [1', "1#2", "{}", "",
            Outcome("refused", "no"), Outcome("truncated", "cut")],
)  # fmt: skip
def test_a_choice_that_fails_is_counted_and_nothing_is_made_up(bad):
    system, _ = built(model(choose=lambda seen: bad))
    assert system.search("boat", k=2) == []
    assert system.search_events["choice failed"] == 1
    assert system.search_events["no topic chosen"] == 0
    assert isinstance(system, ExplainsFailures) and system.search_failure
    assert system.search("boat", k=0) == [] and system.search_failure is None
    padded, _ = built(model(choose=lambda seen: bad), pad="embedding")
    assert len(padded.search("boat", k=2)) == 2 and padded.search_failure is None


GOOD = '[{"topic": "t", "summary": "s", "start": 1, "end": 4}]'


@pytest.mark.parametrize(
    "bad",
    [GOOD, f'{{"topics": {GOOD[:-1]}', GOOD.join(('{"topics": ', "}")).replace("1", '"1"'), "{}",
     "", Outcome("refused", "no"), Outcome("truncated", "cut")],
)  # fmt: skip
def test_a_block_that_cannot_be_written_keeps_its_lines_out_of_reach_and_is_a_failed_unit(bad):
    system, report = built(
        model(write=lambda s: bad if len(s.variables["lines"]) == 4 else Memo(topics=[]))
    )
    first, second = system.records()
    assert {first.kind, second.kind} == {"noto"}
    assert first.sources == ("D1:1", "D1:2", "D1:3", "D1:4")
    assert (report.units, report.failed) == (2, 1)
    assert report.failures[0].unit == "lines D1:1 to D1:4"
    assert report.failures[0].turns == first.sources and report.failures[0].reason
    assert report.events["lines_in_no_topic"] == 1, "the other block named none: no failure"
    assert system.search("boat", k=3) == [] and asked(system.calls._llm, "choose") == []


def cut(*ranges):
    events = Counter()
    found = entries(topics(*ranges), LINES, events)
    return [(e.topic, [LINES.index(line) + 1 for line in e.lines]) for e in found], +events


def test_ranges_are_repaired_and_counted():
    assert cut(("a", 1, 2), ("b", 3, 4)) == ([("a", [1, 2]), ("b", [3, 4])], {})
    assert cut(("a", 4, 1))[1] == {"ranges_repaired": 1}
    assert cut(("a", 0, 9)) == ([("a", [1, 2, 3, 4])], {"ranges_repaired": 1})
    assert cut(("a", 5, 7)) == (
        [(NOTO, [1, 2, 3, 4])], {"ranges_outside": 1, "lines_in_no_topic": 4},
    )  # fmt: skip
    assert cut(("a", 1, 3), ("b", 3, 3)) == (
        [("a", [1, 2, 3]), ("b", [3]), (NOTO, [4])],
        {"lines_in_two_topics": 1, "lines_in_no_topic": 1},
    )
    assert cut(("noto", 1, 1), ("a", 2, 4))[0] == [("a", [2, 3, 4]), (NOTO, [1])]
    blank = [MemoTopic(topic=" ", summary="", start=1, end=4)]
    events = Counter()
    assert [e.topic for e in entries(blank, LINES, events)] == [NOTO]
    assert events["blank_topics"] == 1


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(-2, 7), st.integers(-2, 7)), max_size=4)
)
def test_no_line_is_ever_lost(ranges):
    found, _ = cut(*ranges)
    assert {n for _, lines in found for n in lines} == {1, 2, 3, 4}
    assert all(lines == list(range(lines[0], lines[-1] + 1)) for t, lines in found if t != NOTO)


@given(st.integers(1, 6) | st.none(), st.integers(1, 9) | st.none(), st.booleans())
def test_every_line_is_in_one_block(size, words, cross):
    lines = [line for s in TALK.sessions for line in session_lines(s, captions=True)]
    found = blocks(lines, size=size, max_words=words, cross_session=cross)
    assert [line for block in found for line in block] == lines
    for block in found:
        assert size is None or len(block) <= size
        assert words is None or sum(len(x.text.split()) for x in block[:-1]) <= words
        assert cross or len({line.session for line in block}) == 1
    if size is words is None and cross:
        assert len(found) == 1


def test_the_published_block_is_eight_new_lines_and_theanine_writes_one_memo():
    talk = conversation([("Ana", f"line {i}") for i in range(20)], [("Ben", "more")])
    for options, sizes in (
        ({}, [8, 8, 4, 1]),
        ({"write_lines": None, "max_words": None, "cross_session": True}, [21]),
        ({"write_lines": None}, [20, 1]),
        ({"write_lines": None, "max_words": 9}, [5, 5, 5, 5, 1]),
    ):
        llm = model()
        built(llm, talk, **options)
        assert [len(seen.variables["lines"]) for seen in asked(llm, "write")] == sizes


def paged(choose, k, page=2):
    talk = conversation(*[[("Ana", f"word{i}")] for i in range(5)])
    llm = model(choose=choose)
    system, _ = built(llm, talk, page=page)
    hits = system.search("q", k=k)
    return [hit.sources[0] for hit in hits], len(asked(llm, "choose")), +system.search_events


def test_many_topics_are_chosen_page_by_page():
    found, calls, events = paged(lambda seen: [len(seen.variables["options"])], k=1)
    assert (found, calls) == (["D5:1"], 3 + 2 + 1)
    assert events == {"chosen over several pages": 2}
    found, calls, events = paged(lambda seen: [2, 1], k=2)
    assert events["pages not narrowed down"] == 1
    assert (found, calls) == (["D2:1", "D1:1"], 3)
    only = lambda seen: [1] if "word2" in seen.variables["options"][0] else []  # noqa: E731
    assert paged(only, k=3)[:2] == (["D3:1"], 3), "one winner needs no second round"
    assert paged(lambda seen: [2, 1], k=2, page=5)[1] == 1


def test_a_failed_page_costs_its_own_topics_only():
    def choose(seen):
        return "no" if "word0" in seen.variables["options"][0] else [1]

    found, _, events = paged(choose, k=2)
    assert found == ["D3:1"] and events["choice failed"] == 1


def test_an_empty_conversation_and_wrong_options():
    system, report = built(ScriptedLLM([]), conversation([]))
    assert system.search("x", k=1) == [] and (report.units, report.memories) == (0, 0)
    assert texts(system.search("x", k=3)) == []
    for option in ({"pad": "x"}, {"write_lines": 0}, {"max_words": 0}, {"page": 0}):
        with pytest.raises(ConfigError):
            built(ScriptedLLM([]), **option)
