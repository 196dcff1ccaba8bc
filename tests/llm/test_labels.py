"""Labels scored by the likelihood of one free token: read strictly, kept, replayed."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unbidden.errors import ConfigError
from unbidden.llm import Call, LabelScores, ScriptedLLM, record, replay
from unbidden.llm.labels import NO_LOGPROBS, TOP_LOGPROBS, check_labels, read_label_scores
from unbidden.llm.parse import read_body

LABELS = ("correct", "partial", "wrong")


def body(*top, token="x"):
    alternatives = [{"token": t, "logprob": v} for t, v in top]
    content = [{"token": token, "logprob": 0.0, "top_logprobs": alternatives}]
    return {"choices": [{"logprobs": {"content": content}}]}


def test_tokens_count_for_the_label_they_begin():
    status, reason, scores = read_label_scores(
        body(("Cor", -1.0), (" correct", -2.0), ("wrong", -1.5), ("Sure", -0.5), ("", -0.1)), LABELS
    )
    assert (status, reason) == ("ok", "")
    assert scores.best == "correct"
    assert scores.logprobs[0] == pytest.approx(math.log(math.exp(-1) + math.exp(-2)))
    assert scores.logprobs[1] is None
    assert scores.mass == pytest.approx(math.exp(-1) + math.exp(-2) + math.exp(-1.5))
    assert scores.probabilities["partial"] == 0


def test_a_token_that_begins_two_labels_or_continues_one_counts_for_none():
    status, _, scores = read_label_scores(
        body(("c", -0.1), ("corrected", -1.0)), ("corrected", "confused")
    )
    assert status == "ok"
    assert scores.logprobs == (-1.0, None)
    assert read_label_scores(body(("incorrect", -0.1)), LABELS)[0] == "schema_mismatch"
    assert read_label_scores(body(("correctly", -0.1)), LABELS)[0] == "schema_mismatch"


def test_equally_likely_labels_have_no_best():
    _, _, scores = read_label_scores(body(("correct", -1.0), ("wrong", -1.0)), LABELS)
    assert scores.best is None


@pytest.mark.parametrize(
    "found",
    [
        None,
        {},
        {"choices": []},
        {"choices": [{"logprobs": None}]},
        {"choices": [{"logprobs": {"content": []}}]},
        {"choices": [{"logprobs": {"content": [{"token": "correct"}]}}]},
        body(),
        body(("correct", float("nan"))),
        body(("correct", 0.7)),
        body(("correct", "low")),
    ],
)
def test_without_log_probabilities_there_is_no_score(found):
    assert read_label_scores(found, LABELS) == ("bad_response", NO_LOGPROBS, None)


@pytest.mark.parametrize(
    "labels", [("yes",), ("yes", "yes"), ("corr", "correct"), ("yes", " "), ("yes", "no ")]
)
def test_labels_that_cannot_be_told_apart_are_refused(labels):
    with pytest.raises(ConfigError, match="cannot be scored"):
        check_labels(labels)


@settings(deadline=None)
@given(st.lists(st.floats(-30, 0), min_size=3, max_size=3))
def test_probabilities_sum_to_one(values):
    _, _, scores = read_label_scores(body(*zip(LABELS, values, strict=True)), LABELS)
    assert sum(scores.probabilities.values()) == pytest.approx(1)
    assert 0 <= scores.mass <= 1
    top = max(values)
    if sum(value > top - 1e-6 for value in values) == 1:
        assert scores.best == LABELS[values.index(top)]


def test_the_call_asks_one_free_token_and_has_its_own_key(client):
    llm = client()
    plain = llm.prepare(Call("grade.v1", {"item": 1}))
    scored = llm.prepare(Call("grade.v1", {"item": 1}, labels=LABELS))
    (form,) = scored.forms
    assert form.body["max_tokens"] == 1
    assert (form.body["logprobs"], form.body["top_logprobs"]) == (True, TOP_LOGPROBS)
    assert "response_format" not in form.body
    assert scored.schema is None
    assert set(scored.keys).isdisjoint(plain.keys)
    with pytest.raises(ConfigError, match="cannot be scored"):
        llm.prepare(Call("grade.v1", {"item": 1}, labels=("a", "ab")))


def test_scores_are_asked_for_kept_recorded_and_replayed(endpoint, client, tmp_path):
    server = endpoint("--logprobs")
    llm = client(server.base_url)
    calls = [Call("grade.v1", {"item": item}, labels=LABELS) for item in range(3)]
    outcomes = llm.ask_many(calls)
    assert [o.value.best for o in outcomes] == list(LABELS)
    assert [o.status for o in outcomes] == ["ok"] * 3
    other = llm.ask_many([Call("grade.v1", {"item": 0}, labels=("correct", "wrong"))])[0]
    assert other.value.labels == ("correct", "wrong"), "other labels, the same reply"
    assert server.stats()["requests"] == 3
    path = record(llm.ledger, tmp_path / "recorded")
    again = client("http://127.0.0.1:9/v1", mode="replay", ledger=None, recorded=path)
    replayed = again.ask_many(calls)
    assert [o.value for o in replayed] == [o.value for o in outcomes]
    assert all(o.replayed for o in replayed)
    assert len(replay(path)) == 3


def test_an_endpoint_without_log_probabilities_is_an_outcome(endpoint, client):
    outcome = client(endpoint().base_url).ask_many([Call("grade.v1", {"item": 1}, labels=LABELS)])[
        0
    ]
    assert (outcome.status, outcome.reason, outcome.value) == ("bad_response", NO_LOGPROBS, None)


def test_a_scripted_model_scores_labels():
    given_scores = LabelScores(("correct", "wrong"), (-0.1, -3.0), "correct")
    llm = ScriptedLLM([given_scores, "par", "maybe"])
    variables = {"speaker": "Ann", "message": "m", "fact": "f", "reply": "r"}
    calls = [Call("judge_fact_use_word.v1", variables, labels=LABELS) for _ in range(3)]
    first, second, third = llm.ask_many(calls)
    assert first.value is given_scores
    assert second.value.probabilities == {"correct": 0, "partial": 1, "wrong": 0}
    assert third.unscored.startswith("schema_mismatch")
    assert llm.seen[0].labels == LABELS


def test_a_reply_of_one_token_is_truncated_only_where_text_is_wanted():
    raw = json.dumps(
        {"choices": [{"finish_reason": "length", "message": {"content": "cor"}}], "usage": None}
    )
    assert read_body(raw).status == "truncated"
