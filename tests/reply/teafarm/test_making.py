"""TeaFarm items, made by scripted models."""

import json

import pytest

from tests.memory.hand import conversation
from unbidden.corpus.episodes import read_episodes
from unbidden.corpus.load import load_corpus
from unbidden.errors import ConfigError, DataError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.parse import parse_text
from unbidden.llm.schemas_teafarm import FurtherSession, MisleadingQuestion
from unbidden.reply.teafarm import make_items, read_items, write_items
from unbidden.reply.teafarm.making import QUESTION, SESSION

TALK = conversation(
    [("Ana", "I bought a red boat."), ("Ben", "I like cats.")],
    [("Ana", "I sold the boat to Rui."), ("Ben", "Good for you.")],
)
QUESTIONED = {
    "memories": [2],
    "false_part": "Ana still has the boat.",
    "question": "Ben: Shall we take your boat out?",
    "answer": "Ana sold the boat to Rui.",
}
SPOKEN = {
    "turns": [
        {"speaker": "speaker_a", "text": "Hi Ben!"},
        {"speaker": "speaker_b", "text": "Ben: Fine weather."},
        {"speaker": "speaker_a", "text": "Very."},
        {"speaker": "speaker_b", "text": "Shall we take your boat out"},
    ]
}


def say(seen):
    if seen.prompt_name == QUESTION:
        return json.dumps(QUESTIONED)
    if seen.prompt_name == SESSION:
        return json.dumps(SPOKEN)
    assert seen.schema.__name__ == "SessionFacts"
    told = "sold" if "sold" in seen.messages[-1]["content"] else "bought"
    return json.dumps({"facts": [f"Ana {told} a boat."]})


def test_each_speaker_asks_once_and_the_question_ends_the_session():
    llm = ScriptedLLM(say)
    first, second = make_items(llm, TALK, utterances=(4, 6))
    assert (first.speaker, first.other) == ("Ana", "Ben")
    assert (second.speaker, second.other) == ("Ben", "Ana")
    assert [first.id, second.id] == ["hand#a", "hand#b"]
    assert second.question == "Shall we take your boat out?", "no name in front"
    assert [turn.text for turn in second.dialogue] == [
        "Hi Ben!",
        "Fine weather.",
        "Very.",
        "Shall we take your boat out?",
    ], "the model's own copy of the question is dropped"
    assert second.dialogue[-1].speaker == "Ben" and second.dialogue[-2].speaker == "Ana"
    assert second.evidence == ("D2:1", "D2:2") and second.notes == ()
    assert first.notes == ("the one who asks also spoke before",)
    assert second.tagged.splitlines()[1] == "Ben: Fine weather."


def test_who_is_told_what():
    """Summaries in order of time make the question; the last session alone makes the talk."""
    llm = ScriptedLLM(say)
    make_items(llm, TALK)
    asked = [seen for seen in llm.seen if seen.prompt_name == QUESTION]
    text = asked[0].messages[-1]["content"]
    assert text.index("bought") < text.index("sold")
    talks = [seen for seen in llm.seen if seen.prompt_name == SESSION]
    assert len(asked) == len(talks) == 2
    for seen in talks:
        content = seen.messages[-1]["content"]
        assert "I sold the boat to Rui." in content
        assert "bought" not in content and QUESTIONED["answer"] not in content
        assert "9 to 14" in content, "the question is one of 10 to 15"


@pytest.mark.parametrize(
    ("broken", "answer", "stage"),
    [
        ("summarise_session.v1", Outcome("timeout", "slow"), "summaries: session 1: timeout"),
        ("summarise_session.v1", '{"facts": []}', "summaries: nothing was noted"),
        (QUESTION, Outcome("refused", "no"), "question: refused"),
        (QUESTION, '{"question": "x"}', "question: schema_mismatch"),
        (QUESTION, json.dumps({**QUESTIONED, "question": "Ben: "}), "question: nothing but"),
        (QUESTION, json.dumps({**QUESTIONED, "answer": " "}), "question: schema_mismatch"),
        (SESSION, '{"turns": []}', "session: schema_mismatch"),
        (SESSION, '{"turns": [{"speaker": "Ana", "text": "Hi"}]}', "session: schema_mismatch"),
        (SESSION, json.dumps({"turns": SPOKEN["turns"][-1:]}), "session: nothing is said"),
        (SESSION, '{"turns": [{"speaker', "session: invalid_json"),
    ],
)
def test_what_fails_is_unscored_at_its_stage(broken, answer, stage):
    llm = ScriptedLLM(lambda seen: answer if seen.prompt_name == broken else say(seen))
    items = make_items(llm, TALK)
    assert all((item.unscored or "").startswith(stage) for item in items)
    assert len(items) == 2


def test_schemas():
    assert parse_text(json.dumps(QUESTIONED), MisleadingQuestion)[0] == "ok"
    assert parse_text(json.dumps(SPOKEN), FurtherSession)[0] == "ok"
    wrong = {**QUESTIONED, "memories": ["2"]}
    assert parse_text(json.dumps(wrong), MisleadingQuestion)[0] == "schema_mismatch"


def test_oddities_are_noted():
    odd = {**QUESTIONED, "memories": [2, 7], "question": "Is it so that Ana sold the boat to Rui?"}
    told = {"turns": [*SPOKEN["turns"][:3], {"speaker": "speaker_b", "text": odd["answer"]}]}

    def strange(seen):
        chosen = {QUESTION: odd, SESSION: told}.get(seen.prompt_name)
        return json.dumps(chosen) if chosen else say(seen)

    notes = " / ".join(make_items(ScriptedLLM(strange), TALK)[0].notes)
    for part in ("1 summaries it names do not exist", "question holds", "session holds", "9 to 14"):
        assert part in notes
    with pytest.raises(ConfigError, match="utterances"):
        make_items(ScriptedLLM([]), TALK, utterances=(1, 3))


def test_items_are_kept_and_read_back(tmp_path):
    items = make_items(ScriptedLLM(say), TALK)
    items += make_items(
        ScriptedLLM(lambda seen: Outcome("timeout", "slow")), conversation(speakers=("Bo", "Di"))
    )[:0]
    path = tmp_path / "items.json"
    write_items(path, items)
    assert read_items(path) == items
    path.write_text(path.read_text().replace('"hand#b"', '"hand#a"'))
    with pytest.raises(DataError, match="twice"):
        read_items(path)
    for text in ('{"a": 1}', '[{"id": "x"}]', "["):
        path.write_text(text)
        with pytest.raises(DataError, match="no TeaFarm items"):
            read_items(path)


def episode(write):
    row = {"dataID": "cc-1", "time_interval": ["0"] + ["a few days after"] * 4}
    for i, name in enumerate(("first", "second", "third", "fourth", "fifth")):
        row[f"{name}_session_dialogue"] = [f"I went to place {i}.", "Nice."]
        row[f"{name}_session_speakers"] = ["Teacher", "Student"]
    return write([row], "cc.json")


def test_on_episodes_and_on_harbour(write):
    (talk,) = read_episodes(episode(write), "cc").conversations
    harbour = load_corpus("harbour").conversations[0]
    for one in (talk, harbour):
        llm = ScriptedLLM(say)
        items = make_items(llm, one)
        assert [item.speaker for item in items] == list(one.speakers)
        assert all(item.unscored is None and item.evidence for item in items)
        assert len(llm.seen) == len([s for s in one.sessions if s.turns]) + 4


@pytest.mark.realdata
def test_on_a_real_episode(real_data):
    place = real_data / "theanine" / "msc_sample_episode.json"
    if not place.is_file():
        pytest.skip("the sample episode of THEANINE's release is not on this machine")
    (talk,) = read_episodes(place, "msc").conversations
    items = make_items(ScriptedLLM(say), talk)
    assert len(items) == 2 and all(item.unscored is None for item in items)
    assert items[0].dialogue[-1].speaker == talk.speakers[0]
