import dataclasses

import pytest

from unbidden.corpus import load_corpus
from unbidden.corpus.audit import denominators
from unbidden.corpus.evidence import every_id_resolves, read_evidence
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
        (["D1:" + "1" * 5000], ["D1:" + "1" * 5000], []),
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


@pytest.mark.parametrize(
    ("text", "resolves"),
    [
        ("D1:1", True),
        ("D1:1; D:2:02", True),
        ("D1:1 and D2:2", True),
        ("D1:1; D9:9", False),
        ("D1:1; D", False),
        ("D1:1 D1:" + "1" * 5000, False),
        ("", False),
    ],
)
def test_a_string_resolves_only_if_all_its_ids_do(write, sample, text, resolves):
    sample["qa"] = [sample["qa"][0] | {"evidence": ["D1:1", text]}]
    corpus = load_corpus(str(write([sample])))
    assert every_id_resolves(text, corpus.conversations[0].turn_ids) is resolves
    assert denominators(corpus)["answerable, every id resolves after repair"] == resolves


def test_unknown_policy(write, sample):
    (conversation,) = load_corpus(str(write([sample]))).conversations
    with pytest.raises(ConfigError, match="did you mean repaired"):
        read_evidence(conversation.questions[0], conversation, "repair")
