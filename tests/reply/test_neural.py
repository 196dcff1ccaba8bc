import sys
import types

import numpy as np
import pytest

from unbidden.errors import ConfigError
from unbidden.reply import neural
from unbidden.reply.neural import bert_score, mauve_score


@pytest.mark.parametrize(("name", "score"), [("bert_score", bert_score), ("mauve", mauve_score)])
def test_a_missing_package_is_said(monkeypatch, name, score):
    monkeypatch.setitem(sys.modules, name, None)
    found = score(["a"], ["b"])
    assert found.score is None
    assert "reply-metrics" in found.why_not
    assert str(found).startswith("not available because a package is missing")


def test_missing_weights_are_said(monkeypatch):
    def score(*args, **kwargs):
        raise OSError("roberta-large is not\na local folder")

    monkeypatch.setitem(sys.modules, "bert_score", types.SimpleNamespace(score=score))
    found = bert_score(["a"], ["b"])
    assert (found.score, found.n) == (None, 1)
    assert "OSError: roberta-large is not a local folder" in str(found)


def test_a_score_comes_with_model_and_hash(monkeypatch):
    def score(replies, gold, *, model_type, num_layers, return_hash):
        values = np.array([float(a == b) for a, b in zip(replies, gold, strict=True)])
        return (values, values, values), f"{model_type}_L17_no-idf"

    monkeypatch.setitem(sys.modules, "bert_score", types.SimpleNamespace(score=score))
    found = bert_score(["a", "b"], ["a", "c"])
    assert (found.score, found.signature, str(found)) == (50, "roberta-large_L17_no-idf", "50.00")


def test_mauve_compares_replies_with_gold(monkeypatch):
    seen = {}

    def compute_mauve(**options):
        seen.update(options)
        return types.SimpleNamespace(mauve=0.5, num_buckets=3)

    monkeypatch.setitem(sys.modules, "mauve", types.SimpleNamespace(compute_mauve=compute_mauve))
    monkeypatch.setattr(neural.metadata, "version", lambda name: "0.4.0")
    found = mauve_score(["reply"], ["gold"])
    assert (found.score, seen["p_text"], seen["q_text"]) == (50, ["gold"], ["reply"])
    assert "gpt2-large" in found.signature
    assert "3 clusters" in found.signature


def test_nothing_to_score_is_said_and_lengths_must_agree():
    assert str(bert_score([], [])) == "not available because there is no reply to score"
    with pytest.raises(ConfigError, match="differ in number"):
        mauve_score(["a"], [])
