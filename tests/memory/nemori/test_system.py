"""Nemori step by step: flush, parting, episodes, merging, statements, reading; failed calls."""

import datetime as dt
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.hand import Words, conversation, texts
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.schemas_notes import (
    EpisodeText,
    MergeDecision,
    MessageGroup,
    Segmentation,
    Statements,
)
from unbidden.memory.nemori import Nemori
from unbidden.memory.nemori.messages import Group, long_enough, parted, session_messages
from unbidden.memory.presets import system_options

TALK = conversation(
    [("Ana", "red boat"), ("Ben", "blue boat"), ("Ana", "green cat", "a cat"), ("Ben", "fine")],
    [("Ben", "hello")],
    [("Ana", "red boat sold"), ("Ben", "to whom")],
)
NEW = MergeDecision(decision="new", merge_target_id=None, reason="")
CALLS = ("segment", "episode", "merge_check", "merge", "predict", "compare", "extract")


def part(*groups):
    return Segmentation(
        episodes=[MessageGroup(indices=list(numbers), topic=topic) for numbers, topic in groups]
    )


def episode(seen):
    said = " ".join(m["text"] for m in seen.variables["messages"])
    return EpisodeText(title=f"About {said}", content=f"They spoke: {said}.", timestamp="")


def model(**answers):
    """Answers by the middle part of the prompt's name; a function gets the call."""
    default = {
        "segment": part(([1, 2], "boats"), ([3, 4], "cat")),
        "episode": episode,
        "merge_check": NEW,
        "merge": EpisodeText(title="Whole", content="All of it.", timestamp="2023-05-01T09:30:00"),
        "predict": "They talk about boats.",
        "compare": Statements(statements=["Ana sells boats"]),
        "extract": lambda seen: Statements(statements=[f"Known from {seen.variables['title']}"]),
    } | answers

    def answer(seen):
        found = default[seen.prompt_name.removeprefix("nemori_").removesuffix(".v1")]
        return found(seen) if callable(found) else found

    return ScriptedLLM(answer)


def built(llm, talk=TALK, **options):
    system = Nemori(llm=llm, embedder=Words(), **options)
    return system, system.ingest(talk)


def asked(llm, name):
    return [seen.variables for seen in llm.seen if seen.prompt_name == f"nemori_{name}.v1"]


def sources(store):
    return [record.sources for record in store]


PLAIN = {"merge": False, "semantic": False}


def test_each_session_is_flushed_at_its_end():
    llm = model()
    system, report = built(llm, **PLAIN)
    episodes, statements = system.stores()
    assert sources(episodes) == [("D1:1", "D1:2", "D1:3", "D1:4"), ("D2:1",), ("D3:1", "D3:2")]
    assert len(statements) == 0
    assert len(asked(llm, "segment")) == 0, "fewer than 20 messages are one group"
    assert len(asked(llm, "episode")) == 2, "one message is kept as it stands"
    assert (report.units, report.memories, report.failed) == (3 + 3, 3, 0)
    assert all(system.unstored(session) == [] for session in TALK.sessions)
    assert [record.time for record in episodes] == [s.when for s in TALK.sessions]


def test_long_sessions_are_parted_into_episodes_that_may_interleave():
    llm = model(segment=part(([1, 3], "one"), ([4, 2], "two")))
    system, _ = built(llm, segment_min=4, **PLAIN)
    assert sources(system.stores()[0])[:2] == [("D1:1", "D1:3"), ("D1:2", "D1:4")]
    (call,) = asked(llm, "segment")
    assert call["messages"][2] == {
        "number": 3, "time": "1:00 pm on 1 May, 2023", "speaker": "Ana",
        "text": "green cat [Image: a cat]",
    }  # fmt: skip
    assert [seen["topic"] for seen in asked(llm, "episode")] == ["one", "two", ""]


def test_blocks_are_parted_by_themselves():
    llm = model(segment=part(([1, 2], "x")))
    system, _ = built(llm, segment_min=2, segment_block=2, **PLAIN)
    assert [len(seen["messages"]) for seen in asked(llm, "segment")] == [2, 2, 2]
    assert sources(system.stores()[0])[:2] == [("D1:1", "D1:2"), ("D1:3", "D1:4")]


@pytest.mark.parametrize("options", [{}, {"merge": False, "prediction_correction": False}])
def test_the_same_requests_come_in_the_same_order_each_once(options):
    runs = []
    for _ in range(2):
        llm = model()
        built(llm, segment_min=4, **options)
        runs.append([seen.key for seen in llm.seen])
    assert runs[0] == runs[1]
    assert len(set(runs[0])) == len(runs[0])


BLOCK = session_messages(TALK.sessions[0], 0)


def cut(*groups, uncovered="attach"):
    events = Counter()
    found, lost = parted(BLOCK, [(g, "") for g in groups], uncovered, events)
    return [[m.position + 1 for m in group.messages] for group in found], len(lost), events


def test_groups_are_cleaned_and_no_message_is_lost():
    groups, lost, events = cut([2, 1, 2, 9, 0, -1])
    assert (groups, lost) == ([[1, 2, 3, 4]], 0)
    assert events["numbers_out_of_range"] == 3 and events["messages_in_no_episode"] == 2
    assert cut([1], [4])[0] == [[1, 2], [3, 4]], "the nearest group takes what was forgotten"
    assert cut([1, 2], [2, 3, 4])[2]["messages_in_two_episodes"] == 1
    assert cut()[0] == cut([], [7])[0] == [[1, 2, 3, 4]], "no usable group: all is one"
    assert cut([1, 2], uncovered="drop")[:2] == ([[1, 2]], 2)


@given(st.lists(st.lists(st.integers(-2, 7), max_size=5), max_size=4), st.integers(1, 5))
def test_no_message_is_ever_lost(groups, minimum):
    found, lost = parted(BLOCK, [(g, "") for g in groups], "attach", Counter())
    kept, short = long_enough(found, minimum, "attach", Counter())
    assert lost == short == []
    assert {m for group in kept for m in group.messages} == set(BLOCK)
    for group in kept:
        assert list(group.messages) == sorted(set(group.messages), key=lambda m: m.position)


def test_short_groups_join_their_neighbours_or_are_lost_as_in_the_original():
    short = [Group(tuple(BLOCK[:1])), Group(tuple(BLOCK[1:]))]
    events = Counter()
    (whole,), lost = long_enough(short, 2, "attach", events)
    assert (len(whole.messages), lost, events["short_groups"]) == (4, [], 1)
    system, report = built(model(), uncovered="drop", **PLAIN)
    assert len(system.stores()[0]) == 2
    assert report.failures[0].turns == ("D2:1",) and "lost" in report.failures[0].reason
    assert [turn.id for turn in system.unstored(TALK.sessions[1])] == ["D2:1"]
    llm = model()
    built(llm, episode_min=1, **PLAIN)
    assert len(asked(llm, "episode")) == 3


@pytest.mark.parametrize(
    "bad",
    ['{"episodes": [{"indices": ["3"], "topic": "x"}]}', '{"episodes": [{"indices": [1]', "[]",
     "{}", "", Outcome("filtered", "cut")],
)  # fmt: skip
def test_a_session_that_cannot_be_parted_is_one_episode(bad):
    system, report = built(model(segment=bad), segment_min=4, **PLAIN)
    assert sources(system.stores()[0])[0] == ("D1:1", "D1:2", "D1:3", "D1:4")
    assert report.failed == 1 and report.failures[0].turns == ("D1:1", "D1:2", "D1:3", "D1:4")


@pytest.mark.parametrize(
    "bad",
    ['{"title": "t", "content": "c"}', '{"title": " ", "content": "c", "timestamp": ""}',
     '{"title": "t", "con', "words", Outcome("timeout", "slow")],
)  # fmt: skip
def test_an_episode_that_cannot_be_told_keeps_every_message_and_can_be_found(bad):
    llm = model(episode=bad)
    system, report = built(llm)
    first = next(iter(system.stores()[0]))
    assert first.text == (
        "[2023-05-01 13:00] Ana: red boat\nBen: blue boat\nAna: green cat [Image: a cat]\nBen: fine"
    )
    assert first.index_text.startswith("Conversation (4 messages) Ana: red boat")
    assert report.failed == 2 and report.events["raw_episodes"] == 3
    assert system.search("green cat", k=1)[0].sources == ("D1:1", "D1:2", "D1:3", "D1:4")
    assert asked(llm, "merge_check") == [], "raw episodes take no part in merging"
    assert len(asked(llm, "extract")) == 3, "and are read directly"


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2022-01-02T10:00:00Z", dt.datetime(2022, 1, 2, 10)),
        ("in May", dt.datetime(2023, 5, 1, 13)),
    ],
)
def test_times_are_the_model_s_or_the_session_s_never_now(text, time):
    llm = model(episode=EpisodeText(title="t", content="c", timestamp=text))
    system, report = built(llm, **PLAIN)
    assert next(iter(system.stores()[0])).time == time
    assert report.events["unreadable_times"] == (2 if text == "in May" else 0)


def merging(seen):
    found = [c["id"] for c in seen.variables["candidates"]]
    return MergeDecision(decision="merge", merge_target_id=found[0], reason="same")


def test_merging_unites_messages_in_order_and_deletes_both():
    llm = model(merge_check=merging)
    system, report = built(llm, semantic=False)
    episodes = system.stores()[0]
    assert sources(episodes) == [("D2:1",), ("D1:1", "D1:2", "D1:3", "D1:4", "D3:1", "D3:2")]
    whole = episodes["episode4"]
    assert whole.text == "[2023-05-01 09:30] All of it." and report.events["merged"] == 1
    (check,) = asked(llm, "merge_check")
    assert [c["id"] for c in check["candidates"]] == ["episode1"], "neither itself nor raw ones"
    (merge,) = asked(llm, "merge")
    assert [e["title"][:14] for e in merge["episodes"]] == ["About red boat"] * 2
    assert {change.action for change in system.history()} == {"add", "delete"}


def test_a_merged_episode_without_a_time_has_the_earlier_one():
    whole = EpisodeText(title="Whole", content="All", timestamp="?")
    system, _ = built(model(merge_check=merging, merge=whole), semantic=False)
    assert system.stores()[0]["episode4"].time == TALK.sessions[0].when


def test_candidates_are_the_nearest_cut_and_above_the_floor():
    talk = conversation(*[[("Ana", f"boat {i} " + "x" * 300), ("Ben", "ok")] for i in range(8)])
    llm = model()
    built(llm, talk, semantic=False)
    checks = asked(llm, "merge_check")
    assert [len(c["candidates"]) for c in checks] == [1, 2, 3, 4, 5, 5, 5]
    assert all(len(c["content"]) == 200 for c in checks[0]["candidates"])
    llm = model()
    built(llm, talk, semantic=False, merge_floor=1.0)
    assert asked(llm, "merge_check") == []


@pytest.mark.parametrize(
    ("answers", "failed", "unknown"),
    [
        ({"merge_check": MergeDecision(decision="merge", merge_target_id="e9", reason="")}, 0, 1),
        ({"merge_check": MergeDecision(decision="merge", merge_target_id=None, reason="")}, 0, 1),
        ({"merge_check": '{"decision": "maybe", "merge_target_id": null, "reason": ""}'}, 1, 0),
        ({"merge_check": merging, "merge": '{"title": "t"}'}, 1, 0),
        ({"merge_check": merging, "merge": Outcome("refused", "no")}, 1, 0),
    ],
)
def test_a_merge_that_fails_leaves_both_episodes(answers, failed, unknown):
    system, report = built(model(**answers), semantic=False)
    assert len(system.stores()[0]) == 3
    assert (report.failed, report.events.get("merge_target_unknown", 0)) == (failed, unknown)


def test_the_first_episode_is_read_directly_and_later_ones_against_a_prediction():
    llm = model()
    system, _ = built(llm, merge=False, episode_min=1)
    assert [len(asked(llm, name)) for name in ("extract", "predict", "compare")] == [1, 2, 2]
    predict = asked(llm, "predict")[0]
    assert set(predict) == {"title", "statements"}, "the prediction sees neither messages nor text"
    assert predict["statements"][0].startswith("Known from About red boat")
    compare = asked(llm, "compare")[1]
    assert compare["prediction"] == "They talk about boats."
    assert compare["messages"] == [
        {"speaker": "Ana", "text": "red boat sold"},
        {"speaker": "Ben", "text": "to whom"},
    ]
    statements = list(system.stores()[1])
    assert [s.sources for s in statements] == sources(system.stores()[0])
    assert statements[2].text == "[2023-05-03 13:00] Ana sells boats"
    assert statements[2].index_text == "Ana sells boats", "the time is shown, not embedded"


def test_without_prediction_every_episode_is_read_directly():
    llm = model()
    built(llm, merge=False, prediction_correction=False)
    assert [len(asked(llm, name)) for name in ("extract", "predict", "compare")] == [3, 0, 0]


def test_statements_keep_their_turns_when_their_episode_is_merged_away():
    system, _ = built(model(merge_check=merging))
    first, *_, last = system.stores()[1]
    assert first.sources == ("D1:1", "D1:2", "D1:3", "D1:4")
    assert last.sources == ("D1:1", "D1:2", "D1:3", "D1:4", "D3:1", "D3:2")


def test_statements_may_show_no_time():
    system, _ = built(model(), merge=False, semantic_time="none")
    assert all(s.time is None and not s.text.startswith("[") for s in system.stores()[1])


@pytest.mark.parametrize("name", ["extract", "compare"])
@pytest.mark.parametrize("bad", ['{"statements": [1]}', '{"statements": "x"}', "[]", "", "{}"])
def test_statements_that_cannot_be_read_lose_no_episode(name, bad):
    system, report = built(model(**{name: bad}), merge=False, episode_min=1)
    assert len(system.stores()[0]) == 3
    assert report.failed == (3 if name == "extract" else 2)
    assert all(failure.turns for failure in report.failures)


def test_a_failed_prediction_is_counted_and_the_episode_read_directly():
    llm = model(predict=Outcome("refused", "no"))
    _, report = built(llm, merge=False)
    assert len(asked(llm, "extract")) == 3 and report.failed == 0
    assert report.events["predictions_failed"] == report.calls["nemori_predict.v1"].failed == 1


def test_the_best_episodes_show_what_was_said():
    system, _ = built(model(), semantic=False, merge=False, episode_min=1)
    first, second, third = system.search("red boat green cat", k=3)
    assert first.text.endswith("Said:\nAna: red boat\nBen: blue boat\n"
                               "Ana: green cat [Image: a cat]\nBen: fine")  # fmt: skip
    assert "Said:" in second.text and "Said:" not in third.text
    none, _ = built(model(), semantic=False, merge=False, show_source_top=0)
    assert all("Said:" not in text for text in texts(none.search("boat", k=3)))


def test_episodes_as_locomo_conv_shows_them():
    options = system_options("nemori", "locomo-conv", {})
    system, _ = built(model(), episode_min=1, **options)
    for hit in system.search("red boat", k=3):
        told = next(e for e in system._writer.told.values() if e.content in hit.text)
        assert hit.text == f"{told.title}: {told.content}"
    statement = next(iter(system.stores()[1]))
    assert statement.text == statement.index_text, "no time before it"


def test_lists():
    found = {}
    for lists in ("fused", "paper", "episodes", "statements"):
        system, _ = built(model(), merge=False, lists=lists, top_episodes=2, top_statements=1)
        hits = system.search("red boat sold", k=4)
        assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
        found[lists] = ["s" if "Known" in t or "sells" in t else "e" for t in texts(hits)]
    assert found["fused"] == ["e", "s", "e", "s"]
    assert found["paper"] == ["e", "e", "s"]
    assert found["episodes"] == ["e"] * 3
    assert found["statements"] == ["s"] * 3


def test_text_and_hybrid_search():
    options = {"semantic": False, "merge": False, "lists": "episodes", "episode_min": 1}

    def found(query, **more):
        system, _ = built(model(), **options, **more)
        return [hit.sources[0] for hit in system.search(query, k=3)]

    assert found("red boat", method="text") == ["D1:1", "D3:1"]
    assert found("red boat please", method="text") == [], "every word is needed"
    assert found("red sold please", method="text", text_leg="bm25")[0] == "D3:1"
    assert found("red boat", method="text", text_leg="off") == []
    vector = found("red boat sold please")
    assert found("red boat sold please", method="hybrid") == vector
    assert found("red boat sold", method="hybrid")[0] == "D3:1"
    assert found("red boat sold", lost_order=True) == ["D1:1", "D2:1", "D3:1"]
    assert found("red boat sold")[0] == "D3:1"
    assert found("?", method="text") == []


def test_an_empty_conversation_finds_nothing():
    for method in ("vector", "text", "hybrid"):
        for leg in ("pg_and", "bm25"):
            system, report = built(model(), conversation([]), method=method, text_leg=leg)
            assert system.search("x", k=3) == [] and report.memories == 0


def test_requests_hold_no_time_but_the_conversation_s():
    llm = model()
    built(llm, segment_min=4)
    year = str(dt.datetime.now(dt.UTC).year)
    for seen in llm.seen:
        assert year not in json.dumps(seen.messages)
    assert {s.prompt_name.split(".")[0].removeprefix("nemori_") for s in llm.seen} <= set(CALLS)


def test_parameters_out_of_range():
    for option in ({"method": "x"}, {"text_leg": "x"}, {"lists": "x"}, {"uncovered": "x"}):
        with pytest.raises(ConfigError, match="known: "):
            Nemori(llm=ScriptedLLM([]), embedder=Words(), **option)
    with pytest.raises(ConfigError, match="out of range"):
        Nemori(llm=ScriptedLLM([]), embedder=Words(), segment_block=0)
