"""Rewriting with a scripted model: what it sees, when it is asked again, what comes of failures."""

import json

import pytest

from tests.queries.construction.scripts import CLEAN, answer, faults, rewrite
from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.queries.construction.rewriting import SINGLE_STYLES, rewrite_questions
from unbidden.queries.construction.rules import Rules, default_rules

STYLE_FAULTS = [(style, status) for style in SINGLE_STYLES for status in faults(rewrite(style))]


@pytest.fixture
def talk(write, sample):
    return load_corpus(str(write([sample]))).conversations[0]


def test_paper_protocol_shows_what_the_paper_showed(talk):
    llm = ScriptedLLM(answer)
    found = rewrite_questions(llm, talk, "dialog", protocol="paper")
    assert [item.id for item in found] == [f"tiny-1#{n}" for n in range(5)]
    assert {seen.prompt_name for seen in llm.seen} == {"rewrite_dialog.v1"}
    shown = llm.seen[0].messages[1]["content"]
    assert "What did Ana sell?" in shown
    assert "the red boat" in shown
    assert "several facts" in shown  # category 4, as the paper calls it
    assert "sold the red boat" not in shown
    assert "May" not in shown
    trap = llm.seen[4].messages[1]["content"]
    assert "red boat" not in trap  # the paper's rewriter never saw the adversarial answer
    assert "cannot be answered" in trap


def test_repaired_protocol_shows_lines_dates_and_the_trap(talk):
    llm = ScriptedLLM(answer)
    rewrite_questions(llm, talk, "implicit")
    first, second, *_, trap = [seen.messages[1]["content"] for seen in llm.seen]
    assert "[12:09 am on 3 May, 2023] Ana: I sold the red boat." in first
    assert "single-hop, a single fact" in first
    assert second.index("I sold") < second.index("My cousin Rui. (shows a man on a pier)")
    assert "multi-hop, several facts" in second
    assert "Wrong answer that must not be given away: the red boat" in trap
    assert "Answer: none" in trap


@pytest.mark.parametrize("protocol", ["paper", "repaired"])
def test_results_carry_everything(talk, protocol):
    llm = ScriptedLLM(lambda seen: rewrite(style, speaker="speaker_b"))
    for style in SINGLE_STYLES:
        item = rewrite_questions(llm, talk, style, protocol=protocol)[0]
        assert item.rewrite.text == CLEAN[style]
        assert item.rewrite.speaker == "Ben"
        assert item.reason
        assert (item.attempts, item.problems, item.unscored) == (1, (), None)
        assert (item.style, item.protocol, item.category) == (style, protocol, 4)
        assert (item.rewrite.naturalness == "low") == (style == "dialog")
        assert (item.rewrite.expected_memory_use is not None) == (style == "implicit")
        assert (item.rewrite.asserted_wrong == "Norway") == (style == "counterfactual")


def test_category_5_has_no_counterfactual(talk):
    found = rewrite_questions(ScriptedLLM(answer), talk, "counterfactual")
    assert [item.category for item in found] == [4, 1, 2, 3]


def test_notes_reach_the_papers_implicit_rewriter(talk):
    llm = ScriptedLLM(answer)
    rewrite_questions(llm, talk, "implicit", protocol="paper", notes={0: "too intimate"})
    assert "too intimate" in llm.seen[0].messages[1]["content"]
    assert "Note" not in llm.seen[1].messages[1]["content"]


def test_a_failed_check_is_told_and_asked_again(talk):
    script = [
        rewrite("implicit", "Do you remember the red boat I once had at the pier?"),
        rewrite("implicit", "Too short now"),
        rewrite("implicit"),
    ]
    llm = ScriptedLLM(script)
    item = rewrite_questions(llm, talk, "implicit", only=[0])[0]
    assert (item.attempts, item.problems) == (3, ())
    assert item.first_problems == ("gold", "leak", "cue")
    assert item.rewrite.text == CLEAN["implicit"]
    assert [seen.repeat for seen in llm.seen] == [0, 1, 2]
    assert len({seen.key for seen in llm.seen}) == 3
    first, second, third = [seen.messages[1]["content"] for seen in llm.seen]
    assert "last message" not in first
    assert "Your last message was: Do you remember the red boat" in second
    assert "appeals to memory" in second
    assert "Do not use any of these words" in second
    assert "boat, red" in second
    assert "too short" in third
    assert (
        "boat, red" not in third.split("last message")[1]
    )  # the best attempt so far does not leak


def test_first_attempts_come_together(talk):
    texts = iter(["The red boat", *[None] * 9])
    llm = ScriptedLLM(lambda seen: rewrite("dialog", next(texts)))
    rewrite_questions(llm, talk, "dialog")
    assert [seen.repeat for seen in llm.seen] == [0] * 5 + [1]


def test_a_repeated_message_is_told(talk):
    text = "Ana wants to know what it was."
    llm = ScriptedLLM([rewrite("dialog", text), rewrite("dialog", text), rewrite("dialog")])
    rewrite_questions(llm, talk, "dialog", only=[0])
    shown = [seen.messages[1]["content"] for seen in llm.seen]
    assert ["same message as before" in one for one in shown] == [False, False, True]


def test_the_best_attempt_is_kept_and_marked(talk):
    script = [
        rewrite("dialog", "Tell me about the red boat, please, and about the sale"),
        rewrite("dialog", "Ana, who had boats?"),
        rewrite("dialog", "So what was it?"),
        rewrite("dialog", "Was it the red boat I sold that day?"),
    ]
    llm = ScriptedLLM(script)
    strict = Rules("repaired", 0, 3, default_rules("repaired")["dialog"].gates)
    item = rewrite_questions(llm, talk, "dialog", only=[0], rules=strict)[0]
    assert item.attempts == 3
    assert item.rewrite.text == "So what was it?"
    assert item.problems == ()

    llm = ScriptedLLM([script[0], script[1], script[0], script[3]])
    item = rewrite_questions(llm, talk, "dialog", only=[0], rules=strict)[0]
    assert item.rewrite.text == script_text(script[1])
    assert item.problems == ("leak", "own_name")
    assert item.first_problems == ("gold", "leak")
    assert item.leak == 0.5
    assert item.first_leak == 1


def script_text(reply):
    return json.loads(reply)["dialog_query"]


def test_the_paper_notes_problems_and_asks_once(talk):
    llm = ScriptedLLM([rewrite("implicit", "Do you recall the red boat?")])
    item = rewrite_questions(llm, talk, "implicit", protocol="paper", only=[0])[0]
    assert item.attempts == 1
    assert item.problems == ("gold", "leak", "cue")


@pytest.mark.parametrize(("style", "status"), STYLE_FAULTS)
def test_a_failing_call_is_mended_or_unscored(talk, style, status):
    fault = faults(rewrite(style))[status]
    mended = rewrite_questions(ScriptedLLM([fault, rewrite(style)]), talk, style, only=[0])[0]
    assert mended.rewrite.text == CLEAN[style]
    assert mended.attempts == 2
    assert mended.failures == {status.split(",")[0]: 1}

    llm = ScriptedLLM(lambda _: fault)
    found = rewrite_questions(llm, talk, style)
    assert len(found) == (4 if style == "counterfactual" else 5)  # none is lost
    for item in found:
        assert item.rewrite is None
        assert item.attempts == 4
        assert item.failures == {status.split(",")[0]: 4}
        assert item.unscored.startswith(status.split(",")[0])
    again = next(s for s in llm.seen if s.repeat == 1).messages[1]["content"]
    assert ("Be brief" if status == "truncated" else "complete reply") in again

    llm = ScriptedLLM(lambda _: fault)
    found = rewrite_questions(llm, talk, style, protocol="paper")
    assert all(item.unscored and item.attempts == 1 for item in found)


@pytest.mark.parametrize("status", ["http_error", "timeout", "rate_limited", "connection"])
def test_a_lost_connection_is_not_another_attempt(talk, status):
    llm = ScriptedLLM(lambda _: Outcome(status, "gone"))
    found = rewrite_questions(llm, talk, "dialog")
    assert [item.attempts for item in found] == [1] * 5
    assert {item.unscored for item in found} == {f"{status}: gone"}


def test_questions_without_an_answer_are_unscored(write, sample):
    del sample["qa"][0]["answer"]
    del sample["qa"][4]["adversarial_answer"]
    talk = load_corpus(str(write([sample]))).conversations[0]
    llm = ScriptedLLM(answer)
    found = rewrite_questions(llm, talk, "dialog")
    assert found[0].unscored == "no answer in the file"
    assert found[0].attempts == 0
    assert found[4].rewrite is not None  # an adversarial question needs none
    assert len(llm.seen) == 4


def test_the_paper_protocol_with_regenerations(talk):
    rules = Rules("paper", 0.1, 2, frozenset({"leak"}), tells=False)
    llm = ScriptedLLM([rewrite("dialog", "Where is the red boat?"), rewrite("dialog")])
    item = rewrite_questions(llm, talk, "dialog", protocol="paper", rules=rules, only=[0])[0]
    assert item.attempts == 2
    assert "Do not use any of these words" in llm.seen[1].messages[1]["content"]
    assert "boat" in llm.seen[1].messages[1]["content"]


def test_rules_are_checked():
    with pytest.raises(ConfigError, match="out of range"):
        Rules("paper", 2.0, 1, frozenset())
    with pytest.raises(ConfigError, match="unknown protocol"):
        default_rules("papre")
