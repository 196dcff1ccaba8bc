"""The system whose cues a model writes, step by step; failed and nonsensical replies."""

import numpy as np
import pytest

from tests.memory.hand import Words, conversation
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.request import json_schema
from unbidden.llm.schemas_cues import LineCues, WindowCues
from unbidden.memory import create_system
from unbidden.memory.cued import LLM_ABLATIONS, Unbidden, UnbiddenLLM
from unbidden.memory.cued.situations import windows

TALK = conversation(
    [
        ("Ana", "My oven broke."),
        ("Ben", "Oh no!"),
        ("Ana", "I eat out every day now."),
        ("Ben", "Sounds dear."),
        ("Ana", "It is."),
    ],
    [("Ben", "I bake rye bread.", "a loaf")],
)
NOTHING = WindowCues(lines=[])
OFF = {"words": 0.0, "who": 0.0, "substance": 0.0, "answers": 0.0, "links": 0.0, "feedback": 0.0}


def cue(line, occasion="", *, who="Ana", consequence="", need="", because_of=None):
    return LineCues(
        line=line,
        who=who,
        occasion=occasion,
        consequence=consequence,
        need=need,
        because_of=because_of,
    )


def built(answers, talk=TALK, **options):
    llm = ScriptedLLM(answers)
    system = UnbiddenLLM(llm=llm, embedder=Words(), **{"window": 3, "context": 2, **options})
    return system, system.ingest(talk), llm


def ids(hits):
    return [hit.sources[0] for hit in hits]


def test_each_turn_is_new_in_one_window_and_one_call_is_made_for_each():
    _, report, llm = built([NOTHING] * 3)
    shown = [seen.variables for seen in llm.seen]
    assert [[line["text"] for line in v["lines"]] for v in shown] == [
        ["My oven broke.", "Oh no!", "I eat out every day now."],
        ["Sounds dear.", "It is."],
        ["I bake rye bread. [image: a loaf]"],
    ]
    assert [[line["number"] for line in v["earlier"] + v["lines"]] for v in shown] == [
        ["1", "2", "3"],
        ["1", "2", "3", "4"],
        ["1"],
    ]
    assert [line["text"] for line in shown[1]["earlier"]] == ["Oh no!", "I eat out every day now."]
    assert shown[2] == {"date": "2023-05-02, a Tuesday", "earlier": [], "lines": shown[2]["lines"]}
    assert report.units == 3
    assert report.calls["unbidden_cues.v1"].calls == 3
    assert report.events["turns_without_cues"] == 6
    assert {w.batch.label for w in windows(TALK, 3, 0)} == {
        "session 1, messages 1-3",
        "session 1, messages 4-5",
        "session 2, messages 1-1",
    }
    assert all(w.earlier == () for w in windows(TALK, 3, 0))


def test_a_turn_is_found_by_a_situation_it_does_not_name():
    answers = [WindowCues(lines=[cue(1, "planning a dinner party")]), NOTHING, NOTHING]
    query = "planning a dinner party"
    system, report, _ = built(answers, parts=OFF)
    item = system.explain(query, k=1)[0]
    assert item.hit.sources == ("D1:1",)
    assert 'Ana said, "My oven broke."' in item.hit.text
    assert item.parts["situations"] > 0
    assert "was noted for a situation like this" in item.reasons
    assert report.events["cues"] == 1
    off = built(answers, parts={**OFF, "situations": 0.0})[0]
    assert "situations" not in off.explain(query, k=1)[0].parts


def test_an_effect_gets_a_share_of_its_cause():
    lines = [cue(1, "baking a cake"), cue(3, "money", because_of=1)]
    system, report, _ = built([WindowCues(lines=lines), NOTHING, NOTHING], parts=OFF)
    assert report.events["causes"] == 1
    parts = {i.hit.sources[0]: i.parts for i in system.explain("baking a cake", k=6)}
    cause = parts["D1:1"]
    assert parts["D1:3"]["causes"] == pytest.approx(0.2 * (cause["meaning"] + cause["situations"]))
    assert cause["causes"] >= 0
    assert parts["D2:1"]["causes"] == 0


def test_the_cue_texts_name_the_person_and_skip_blanks():
    line = cue(3, "a  new\nmonth", who=" ", consequence="a  new month", need="money")
    system, report, _ = built([WindowCues(lines=[line]), NOTHING, NOTHING])
    record = system.records()[2]
    assert record.index_text.splitlines()[-2:] == ["Ana: a new month", "Ana: money"]
    assert record.text == record.index_text.rsplit("\n", 2)[0]
    assert report.events["cues"] == 2
    assert report.events["blank_cues"] == 0


def test_without_cues_it_is_the_system_without_a_model():
    system, _, _ = built([NOTHING] * 3)
    plain = Unbidden(embedder=Words())
    plain.ingest(TALK)
    for query in ("I am hungry now", "bread"):
        assert system.search(query, k=6, speaker="Ana") == plain.search(query, k=6, speaker="Ana")


def test_numbers_that_were_not_shown_are_counted_and_dropped():
    lines = [
        cue(1, "earlier lines are not to be picked"),
        cue(3, "one"),
        cue(3, "two"),
        cue(4, "three", because_of=4),
        cue(9, "four", because_of=1),
    ]
    system, report, _ = built([NOTHING, WindowCues(lines=lines), NOTHING])
    assert report.events["unknown_line"] == 2
    assert report.events["repeated_line"] == 1
    assert report.events["unknown_cause"] == 1
    assert report.events["cues"] == 2
    assert report.failed == 0
    assert report.memories == len(system.records()) == 6


FAULTS = {
    "no JSON": "I cannot do that.",
    "cut off": '{"lines": [{"line": 1,',
    "a field too many": '{"lines": [], "note": "x"}',
    "a field missing": '{"lines": [{"line": 1, "who": "Ana"}]}',
    "a number as text": (
        '{"lines": [{"line": "1", "who": "", "occasion": "", "consequence": "", "need": "",'
        ' "because_of": null}]}'
    ),
    "empty": "",
    "refused": Outcome("refused", "no"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_failed_call_loses_cues_but_no_turn(fault):
    good = WindowCues(lines=[cue(1, "bread for guests", who="Ben")])
    system, report, llm = built([fault, NOTHING, good])
    assert len(llm.seen) == 3
    assert report.failed == 1
    (failure,) = report.failures
    assert failure.unit == "session 1, messages 1-3"
    assert failure.turns == ("D1:1", "D1:2", "D1:3")
    assert failure.reason
    assert report.calls["unbidden_cues.v1"].failed == 1
    assert report.memories == 6
    assert sorted(ids(system.search("guests", k=6))) == sorted(t.id for t in TALK.turns)
    assert report.events["cues"] == 1


def test_a_malformed_reply_is_asked_again_if_attempts_allow():
    system, report, llm = built(["?", NOTHING, NOTHING, NOTHING], attempts=2)
    assert [seen.repeat for seen in llm.seen] == [0, 0, 0, 1]
    assert report.failed == 0
    assert system.search_calls == {}


def test_the_length_of_the_list_is_bounded_in_the_request():
    schema = json_schema(WindowCues)
    assert schema["properties"]["lines"]["maxItems"] == 5
    assert "maxLength" not in str(schema)


def test_a_search_asks_nothing_and_a_new_conversation_forgets():
    system, _, llm = built(lambda seen: NOTHING)
    made = len(llm.seen)
    assert len(system.search("oven", k=3)) == 3
    assert len(llm.seen) == made
    assert system.ingest(conversation([])).memories == 0
    assert system.search("oven", k=3) == []


def test_requests_depend_on_the_conversation_alone():
    keys = [[seen.key for seen in built([NOTHING] * 3)[2].seen] for _ in range(2)]
    assert keys[0] == keys[1]
    assert len(set(keys[0])) == 3


@pytest.mark.parametrize("variant", LLM_ABLATIONS.values(), ids=LLM_ABLATIONS)
def test_the_parts_of_a_score_sum_to_it(variant):
    lines = [cue(1, "planning a dinner"), cue(3, "money", because_of=1)]
    system = built([WindowCues(lines=lines), NOTHING, NOTHING], **variant)[0]
    for item in system.explain("a dinner at home", k=6, speaker="Ana"):
        assert np.isclose(sum(item.parts.values()), item.hit.score)


def test_it_needs_a_model_and_a_window():
    with pytest.raises(ConfigError, match="needs a model"):
        create_system("unbidden-llm")
    with pytest.raises(ConfigError, match="window"):
        built([], window=0)
