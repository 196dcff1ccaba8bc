import dataclasses

import pytest

from unbidden.corpus import load_corpus
from unbidden.corpus.evidence import read_evidence
from unbidden.errors import ConfigError


@pytest.mark.parametrize(
    ("written", "paper", "repaired"),
    [
        (["D1:1"], ["D1:1"], ["D1:1"]),
        (["D1:1; D2:2"], ["D1:1", "D2:2"], ["D1:1", "D2:2"]),
        (["D1:1 D2:2 D2:1"], ["D1:1 D2:2 D2:1"], ["D1:1", "D2:2", "D2:1"]),
        (["D:2:1"], ["D:2:1"], ["D2:1"]),
        (["D02:01"], ["D02:01"], ["D2:1"]),
        (["D"], ["D"], []),
        (["D9:9"], ["D9:9"], []),
        (["D1:1", "D1:1"], ["D1:1"], ["D1:1"]),
        ([], [], []),
    ],
)
def test_both_readings(write, sample, written, paper, repaired):
    (conversation,) = load_corpus(str(write([sample]))).conversations
    question = dataclasses.replace(conversation.questions[0], evidence=tuple(written))
    assert list(read_evidence(question, conversation, "paper").ids) == paper
    found = read_evidence(question, conversation, "repaired")
    assert list(found.ids) == repaired
    assert bool(found.changes) == (any(text not in repaired for text in written))


def test_unknown_policy(write, sample):
    (conversation,) = load_corpus(str(write([sample]))).conversations
    with pytest.raises(ConfigError, match="did you mean repaired"):
        read_evidence(conversation.questions[0], conversation, "repair")
