"""Checks of a written query: each problem alone, and nothing whole of an answer in a clean one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unbidden.queries.construction.checking import (
    MIN_WORDS,
    PROBLEMS,
    plain,
    problems_of,
    states,
    told,
)

TEXT = "I have the whole weekend and no plan for any of it"


@pytest.mark.parametrize(
    ("text", "more", "found"),
    [
        (TEXT, {}, ()),
        (" ?!… ", {}, ("empty",)),
        ("I sold the Red  boat!! What a day it was for us", {}, ("gold", "leak")),
        ("The boat that was red is on my mind all day now", {}, ("leak",)),
        ("The boat that was red is on my mind all day now", {"topic": "The red boat?"}, ()),
        ("The boat that was red is on my mind all day now", {"threshold": 1}, ()),
        ("Remind me what the plan for this weekend was again", {}, ("cue",)),
        ("No plan yet", {}, ("short",)),
        (f"{TEXT}, Ana", {"speaker": "Ana"}, ("own_name",)),
        (f"{TEXT}, analysed", {"speaker": "Ana"}, ()),
    ],
)
def test_each_problem(text, more, found):
    options = {"answers": ["the red boat"], "threshold": 0.2, **more}
    assert problems_of("implicit", text, **options) == found


def test_a_direct_request_may_appeal_to_memory():
    text = "Do you remember what I had planned for the weekend?"
    assert problems_of("dialog", text, answers=[], threshold=0) == ()
    assert problems_of("counterfactual", text, answers=[], threshold=0) == ()
    assert problems_of("composed", text, answers=[], threshold=0) == ("cue",)


def test_other_scripts():
    assert states("我们去了灯塔路17号。", "灯塔路 17 号")
    assert not states("我们去了帆厂巷", "灯塔路17号")
    assert problems_of(
        "implicit", "林悦今天不想出门走路散步", answers=[], threshold=0, speaker="林悦"
    ) == ("own_name",)
    assert plain("Ｒｅｄ　Boat") == "red boat"


def test_short_answers_are_left_to_the_leak():
    assert not states("No, it is so", "No")
    assert states("Ann it is", "Ann")


def test_every_problem_has_a_sentence():
    for style in MIN_WORDS:
        assert len(set(told(PROBLEMS, style))) == len(PROBLEMS)
        assert str(MIN_WORDS[style]) in told(["short"], style)[0]


@given(
    st.sampled_from(list(MIN_WORDS)),
    st.lists(
        st.sampled_from(["red", "boat", "sold", "7", "May", "the", "St.", "茶铺"]), max_size=9
    ),
    st.lists(st.sampled_from(["red", "boat", "7", "may", "The", "茶铺"]), min_size=1, max_size=3),
    st.sampled_from([" ", ", ", "  ", "-"]),
    st.sampled_from(["paper", "repaired"]),
)
def test_a_clean_query_holds_no_whole_answer(style, words, answer, blank, measure):
    text, gold = blank.join(words), " ".join(answer)
    found = problems_of(style, text, answers=[gold], measure=measure, threshold=1)
    inside = f" {plain(gold)} " in f" {plain(text)} "
    if "gold" not in found and found != ("empty",):
        assert not (inside and len(plain(gold)) >= 3)


@given(st.text(max_size=40), st.text(max_size=10))
def test_any_text_is_checked(text, answer):
    for style in MIN_WORDS:
        found = problems_of(style, text, answers=[answer], threshold=0.2)
        assert list(found) == [problem for problem in PROBLEMS if problem in found]
