import pytest

from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError
from unbidden.memory.units import turn_units


def test_both_text_forms(write, sample):
    (conversation,) = load_corpus(str(write([sample]))).conversations
    paper = turn_units(conversation, "paper")
    assert paper[1].text == 'DATE: 12:09 am on 3 May, 2023\nBen said, "Who bought it?"'
    assert paper[2].text.endswith('"My cousin Rui." and shared a man on a pier.')
    repaired = turn_units(conversation, "repaired")
    assert repaired[2].text == "Ana, 3 May 2023: My cousin Rui. [image: a man on a pier]"


def test_unknown_protocol(write, sample):
    (conversation,) = load_corpus(str(write([sample]))).conversations
    with pytest.raises(ConfigError, match="did you mean paper"):
        turn_units(conversation, "papers")
