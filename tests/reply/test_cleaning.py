import pytest

from unbidden.errors import ConfigError
from unbidden.reply.cleaning import clean

NAMES = ["Speaker A", "Speaker B", "Co-workers A"]
REPLY = "Response:\nSpeaker A: Two things: tea and rest.\nSpeaker B: Thanks. Speaker A: Any time."


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        ("raw", REPLY),
        ("last_colon", "Any time."),
        ("first_turn", "Two things: tea and rest."),
    ],
)
def test_each_rule_leaves_what_it_says(rule, left):
    assert clean(REPLY, rule, NAMES) == left


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ("Co-worker A: Hello there", "Hello there"),
        ("**Response:** Hello there", "Hello there"),
        ("Hello there Speaker B: hi", "Hello there"),
        ("Hello: there", "Hello: there"),
        ("My Speaker Box is new", "My Speaker Box is new"),
        ("Response:", ""),
        ("", ""),
    ],
)
def test_the_first_turn(reply, left):
    assert clean(reply, "first_turn", NAMES) == left


def test_an_unknown_rule_is_named():
    with pytest.raises(ConfigError, match="did you mean last_colon"):
        clean("a", "last_colons")
