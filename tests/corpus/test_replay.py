import pytest

from unbidden.corpus import load_corpus
from unbidden.corpus.replay import next_turns


def test_every_turn_after_the_first_is_a_point(write, sample):
    (conversation,) = load_corpus(str(write([sample]))).conversations
    points = list(next_turns(conversation, [2]))
    assert [point.id for point in points] == ["tiny-1-s2-t1", "tiny-1-s2-t2"]
    assert [(point.speaker, point.gold) for point in points] == [
        ("Ana", "Rui painted the boat blue."),
        ("Ben", "Good for him!"),
    ]
    assert points[1].tagged == (
        "Ben: I start at the bakery on 7 June.\nAna: Rui painted the boat blue."
    )
    assert [[session.number for session in point.past] for point in points] == [[1], [1]]
    assert list(next_turns(conversation)) == []  # it has no session from the third on


def test_the_speaker_is_the_real_one(write, sample):
    sample["conversation"]["session_2"][1]["speaker"] = "Ben"
    (conversation,) = load_corpus(str(write([sample]))).conversations
    assert [point.speaker for point in next_turns(conversation, [2])] == ["Ben", "Ben"]


@pytest.mark.realdata
def test_theanines_sample_episode(real_data):
    path = real_data / "theanine" / "msc_sample_episode.json"
    (conversation,) = load_corpus(str(path)).conversations
    points = list(next_turns(conversation))
    assert len(points) == 11 * 3
    assert len({point.id for point in points}) == len(points)
    for point in points:
        assert len(point.dialogue) == point.turn
        assert [session.number for session in point.past] == list(range(1, point.session))
        assert point.gold not in {turn.text for turn in point.dialogue}
