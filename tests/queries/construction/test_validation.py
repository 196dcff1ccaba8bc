"""Validation: both stages on hand-made cases, failures of the judge, agreement of two."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.queries.construction.scripts import VERDICTS, answer, faults
from unbidden.corpus import load_corpus
from unbidden.corpus.models import Rewrite
from unbidden.llm import PromptLibrary, ScriptedLLM, rewrite_checks
from unbidden.queries.construction.judges import agreement
from unbidden.queries.construction.rewriting import Written
from unbidden.queries.construction.validation import judge, validate
from unbidden.queries.construction.wordcheck import MAX_OVERLAP, stage_b

JUDGED = {  # style and question of each prompt
    "validate_dialog.v1": ("dialog", 0),
    "validate_implicit.v1": ("implicit", 0),
    "validate_implicit_adversarial.v1": ("implicit", 4),
    "validate_counterfactual.v1": ("counterfactual", 0),
    "validate_composed.v1": ("composed", 0),
}


@pytest.fixture
def talk(write, sample):
    return load_corpus(str(write([sample]))).conversations[0]


def item(style, text, question=0, protocol="repaired", **more):
    members = (0, 1) if style == "composed" else (question,)
    category = None if style == "composed" else {0: 4, 1: 1, 4: 5}[question]
    rewrite = Rewrite(text, "Ana")
    return Written("id", "tiny-1", members, style, protocol, category, rewrite, **more)


@pytest.mark.parametrize(
    ("style", "text", "overlap", "words", "leak", "length"),
    [
        # The answer's words are "red" and "boat".
        ("dialog", "Which thing was it?", 0, 4, False, False),
        ("dialog", "Which boat was it?", 0.5, 4, False, False),
        ("dialog", "Was it the red, red BOAT?", 1, 6, True, False),
        ("dialog", "Which one then?", 0, 3, False, True),
        ("implicit", "The boat is on my mind.", 0.5, 6, True, False),
        ("implicit", "It is cold outside.", 0, 4, False, True),
        ("counterfactual", "I still have that old boat.", 0.5, 6, True, False),
        ("counterfactual", "I still have my bike.", 0, 5, False, True),
        # Those of both are "red", "boat", "painted" and "blue".
        ("composed", "It was boat weather when we met on the pier.", 0.25, 10, False, False),
        ("composed", "It was boat weather, all blue when we met there.", 0.5, 10, True, False),
        ("composed", "A day on the pier then.", 0, 6, False, True),
    ],
)
def test_stage_b(talk, style, text, overlap, words, leak, length):
    found = stage_b(talk, item(style, text))
    assert (found.answer_overlap, found.words) == (overlap, words)
    assert (found.leak_flag, found.length_flag) == (leak, length)
    assert found.passed == (not leak and not length)


def test_stage_b_reads_evidence_and_other_scripts(talk):
    # The cited line says "I sold the red boat."
    assert stage_b(talk, item("dialog", "Who sold what here?")).evidence_overlap == 1 / 3
    assert stage_b(talk, item("dialog", "Who sold what?", 4)).answer_overlap is None
    numbers = talk.questions[0]
    chinese = replace(talk, questions=(replace(numbers, answer="灯塔路"), *talk.questions[1:]))
    found = stage_b(chinese, item("dialog", "我们以前看过的那条路叫什么"))
    assert found.answer_overlap is None
    assert not found.leak_flag
    assert found.words == 13
    lost = replace(item("dialog", ""), rewrite=None, unscored="refused: no")
    assert stage_b(talk, lost) is None


@pytest.mark.parametrize(("prompt", "where"), JUDGED.items())
def test_each_style_has_its_question(talk, prompt, where):
    style, question = where
    llm = ScriptedLLM(answer)
    verdict = judge(llm, talk, [item(style, "What a day", question)])[0]
    assert [seen.prompt_name for seen in llm.seen] == [prompt]
    shown = llm.seen[0].messages[1]["content"]
    assert "Speaker: Ana" in shown
    assert "the red boat" in shown
    assert ("it was painted blue" in shown) == (style == "composed")
    assert verdict.passed is True
    assert verdict.unscored is None
    extras = {
        "counterfactual": {
            "contains_wrong_assertion": True,
            "preserves_context": True,
            "leaks_correct_answer": False,
        },
        "composed": {"uniquely_needs_all": True},
    }
    assert verdict.extras == extras.get(style, {})


def test_adversarial_dialog_is_not_judged(talk):
    llm = ScriptedLLM([])
    found = validate(llm, talk, [item("dialog", "What did I let go of again?", 4)], second=llm)[0]
    assert found.stage_a.passed is None
    assert found.stage_a.unscored.startswith("not applicable")
    assert not found.stage_a.applicable
    assert found.overall_pass is None
    assert found.kept
    bad = item("dialog", "The red boat, wasn't it?", 4, problems=("gold",))
    assert not validate(llm, talk, [bad])[0].kept


def test_calls_of_one_prompt_come_together(talk):
    items = [item("implicit", f"What a day {n}") for n in range(3)]
    mixed = [items[0], item("dialog", "What day was it?"), items[1], items[2]]
    llm = ScriptedLLM(answer)
    judge(llm, talk, mixed)
    names = [seen.prompt_name for seen in llm.seen]
    assert names == ["validate_dialog.v1", *["validate_implicit.v1"] * 3]


def reply(prompt, **more):
    return json.dumps(VERDICTS[prompt] | more)


def test_overall_pass(talk):
    text = "What a day that was, nothing more to say about it"
    yes, no = reply("validate_implicit.v1"), reply("validate_implicit.v1", verdict="no")

    def passed(style, answers, words=text, **more):
        return validate(ScriptedLLM(answers), talk, [item(style, words, **more)])[0].overall_pass

    assert passed("implicit", [yes]) is True
    assert passed("implicit", [no]) is False
    assert passed("implicit", [yes], "The red boat is on my mind") is False
    assert passed("implicit", [yes], "Cold again") is False
    assert passed("implicit", [yes], problems=("cue",)) is False
    assert passed("implicit", [yes], problems=("cue",), protocol="paper") is True
    odd = reply("validate_counterfactual.v1", leaks_correct_answer="yes")
    assert passed("counterfactual", [odd]) is False
    assert passed("counterfactual", [odd], protocol="paper") is True
    other = reply("validate_composed.v1", uniquely_needs_all="no")
    assert passed("composed", [other]) is False
    assert passed("composed", [reply("validate_composed.v1")]) is True


@pytest.mark.parametrize("prompt", VERDICTS)
@pytest.mark.parametrize("status", faults('{"verdict": "yes", "reason": "x"}'))
def test_a_failing_judge_is_unscored(talk, prompt, status):
    fault = faults(json.dumps(VERDICTS[prompt]))[status]
    brief = prompt == "validate_brief.v1"
    style, question = JUDGED.get(prompt, ("implicit", 0))
    asked = item(style, "What a day that was, nothing more to say about it", question)
    if brief:
        found = validate(ScriptedLLM(answer), talk, [asked], second=ScriptedLLM([fault]))[0]
        failed = found.second
        assert found.overall_pass is True
    else:
        found = validate(ScriptedLLM([fault]), talk, [asked])[0]
        failed = found.stage_a
        assert found.overall_pass is None  # and not a no, as in the paper's script
        assert not found.kept
    assert failed.passed is None
    assert failed.applicable
    assert failed.unscored.startswith(status.split(",")[0])


@pytest.mark.parametrize("verdict", ["Yes", "YES", "true", "maybe", "", True, None, ["yes"]])
@pytest.mark.parametrize("prompt", VERDICTS)
def test_only_yes_and_no_are_verdicts(talk, prompt, verdict):
    style, question = JUDGED.get(prompt, ("implicit", 0))
    brief = prompt == "validate_brief.v1"
    llm = ScriptedLLM([reply(prompt, verdict=verdict)])
    found = judge(llm, talk, [item(style, "What a day", question)], brief=brief)[0]
    assert found.passed is None
    assert found.unscored.startswith("schema_mismatch")


def test_nothing_to_judge(talk, write, sample):
    lost = replace(item("dialog", ""), rewrite=None, unscored="refused: no")
    found = validate(ScriptedLLM([]), talk, [lost])[0]
    assert found.stage_b is None
    assert found.overall_pass is None
    assert not found.kept
    assert "refused: no" in found.stage_a.unscored
    del sample["qa"][4]["adversarial_answer"]
    bare = load_corpus(str(write([sample]))).conversations[0]
    found = validate(ScriptedLLM([]), bare, [item("implicit", "What a day that was", 4)])[0]
    assert "no answer to judge by" in found.stage_a.unscored


def test_second_judge_gets_other_words(talk):
    llm = ScriptedLLM(answer)
    items = [item(style, "What a day", question) for style, question in JUDGED.values()]
    judge(llm, talk, items, brief=True)
    assert {seen.prompt_name for seen in llm.seen} == {"validate_brief.v1"}
    assert len({seen.variables["requirement"] for seen in llm.seen}) == 5


def test_agreement():
    assert agreement([]) == agreement([(None, True)])
    assert agreement([]).raw is None
    perfect = agreement([(True, True), (False, False)])
    assert (perfect.raw, perfect.kappa) == (1, 1)
    assert agreement([(True, True), (True, True)]).kappa is None
    one_sided = agreement([(True, True), (True, False)])
    assert (one_sided.raw, one_sided.kappa) == (0.5, 0)
    assert agreement([(None, True), (False, None)]).n == 0


VOTES = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30)


@settings(deadline=None)  # the first example imports scikit-learn
@given(VOTES)
def test_kappa_is_scikit_learns(votes):
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    found = agreement(votes)
    assert found.raw == sum(a == b for a, b in votes) / len(votes)
    if len({vote for pair in votes for vote in pair}) == 1:
        assert found.kappa is None
    else:
        wanted = metrics.cohen_kappa_score(*zip(*votes, strict=True))
        assert found.kappa == pytest.approx(wanted)
    swapped = agreement([(b, a) for a, b in votes])
    assert swapped.kappa == pytest.approx(found.kappa) if found.kappa is not None else True


def test_thresholds_are_the_papers():
    assert MAX_OVERLAP == {"dialog": 0.6, "implicit": 0.2, "counterfactual": 0.3, "composed": 0.25}


def test_verdict_forms():
    form = rewrite_checks.CounterfactualVerdict
    for wrong in ("yes", "no"):
        for context in ("yes", "no"):
            for leaks in ("yes", "no"):
                expected = (wrong, context, leaks) == ("yes", "yes", "no")
                for verdict in ("yes", "no"):
                    value = form(
                        contains_wrong_assertion=wrong,
                        preserves_context=context,
                        leaks_correct_answer=leaks,
                        verdict=verdict,
                        reason="",
                    )
                    assert value.consistent == (expected == (verdict == "yes"))


def test_a_verdict_has_room_for_blanks():
    # A local model writes {"verdict": "yes"} over three lines, which 16 tokens do not hold.
    assert all(PromptLibrary().get(name).max_tokens >= 40 for name in VERDICTS)
