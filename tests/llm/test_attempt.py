"""What is asked where calls may be missing: the result, or what it would take."""

import pytest

from unbidden.errors import NotRecorded
from unbidden.llm import Call, LLMSettings, ScriptedLLM, connect
from unbidden.llm.attempt import attempt

CALLS = [Call("reply.v1", {"memories": [], "speaker": "Ana", "message": m}) for m in ("a", "b")]


def ask(llm):
    return [outcome.text for outcome in llm.ask_many(CALLS)]


def test_an_answer_is_passed_on():
    done = attempt(ScriptedLLM(["x", "y"]), ask)
    assert (done.value, done.calls, done.input_tokens) == (["x", "y"], 0, 0)


def test_what_is_not_on_record_is_planned():
    with connect(LLMSettings.of("nobody"), "replay") as llm:
        done = attempt(llm, ask)
    assert done.value is None and done.calls == 2 and done.input_tokens > 100


def test_a_model_that_cannot_plan_and_other_errors_are_not_swallowed():
    def missing(llm):
        raise NotRecorded("nothing", next_step="record")

    with pytest.raises(NotRecorded):
        attempt(ScriptedLLM([]), missing)
    with (
        connect(LLMSettings.of("nobody"), "replay") as llm,
        pytest.raises(ZeroDivisionError),
    ):
        attempt(llm, lambda model: 1 / 0)
