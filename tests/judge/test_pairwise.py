"""Pairs: only a win in both orders counts, and swapping a pair mirrors its verdict."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.judge.conftest import make_case
from unbidden.judge import Verdict, judge, judge_views, rubric
from unbidden.judge.rubrics.pairwise import INCONSISTENT, SCALE, SWAPPED
from unbidden.judge.steadiness import order_summary, order_swaps
from unbidden.llm import Outcome, ScriptedLLM

LABELS = st.sampled_from(list(SCALE))
PAIR = make_case(reply="You sold the red boat.", other="No idea.")


def verdict(label):
    return Verdict(label, SCALE[label])


def by_content(preferred):
    """A judge that prefers a text wherever it stands."""

    def answer(seen):
        first = preferred in seen.variables["first"]
        return json.dumps({"better": "first" if first else "second"})

    return ScriptedLLM(answer)


@settings(deadline=None)
@given(LABELS, LABELS)
def test_consistent_wins_are_symmetric_under_swapping(given_order, swapped_order):
    one = rubric("pairwise")
    straight = one.combine([verdict(given_order), verdict(swapped_order)])
    mirrored = one.combine([verdict(swapped_order), verdict(given_order)])
    assert mirrored.label == SWAPPED[straight.label]
    assert straight.score + mirrored.score == pytest.approx(1)
    assert (INCONSISTENT in straight.notes) == (given_order != SWAPPED[swapped_order])
    if straight.label != "tie":
        assert given_order == straight.label != swapped_order


@pytest.mark.parametrize("name", ["pairwise", "helpfulness"])
@pytest.mark.parametrize("place", ["first", "second"])
def test_a_judge_that_always_takes_one_place_gives_ties(name, place):
    llm = ScriptedLLM(lambda _: json.dumps({"better": place}))
    (found,) = judge(llm, rubric(name), [PAIR])
    assert (found.label, found.score) == ("tie", 0.5)
    assert INCONSISTENT in found.notes
    assert len(llm.seen) == 2


def test_a_judge_by_content_wins_in_both_orders_and_mirrors():
    (found,) = judge(by_content("red boat"), rubric("pairwise"), [PAIR])
    (mirrored,) = judge(by_content("red boat"), rubric("pairwise"), [PAIR.swapped()])
    assert (found.label, found.score, mirrored.label) == ("first", 1.0, "second")


def test_one_failed_order_leaves_the_pair_unscored():
    llm = ScriptedLLM(['{"better": "first"}', Outcome("timeout", "slow")])
    (found,) = judge(llm, rubric("pairwise"), [PAIR])
    assert found.unscored == "one order: timeout: slow"


def test_the_paper_asks_one_order():
    llm = ScriptedLLM(['{"better": "first"}'])
    (views,) = judge_views(llm, rubric("pairwise"), [PAIR], protocol="paper")
    assert [v.label for v in views] == ["first"]


def test_order_consistency_is_counted():
    pairs = [make_case(id=str(n), conversation=f"c{n % 2}", other="No idea.") for n in range(4)]
    answers = ["first", "second", "first", "first", "tie", "tie"]
    script = [json.dumps({"better": a}) for a in answers] + ["junk", "junk"]
    swaps = order_swaps(ScriptedLLM(script), "pairwise", pairs)
    assert swaps["consistent"].tolist() == [True, False, True, None]
    assert swaps["kept_place"].fillna("").tolist() == ["", "first", "", ""]
    summary = order_summary(swaps)
    assert (summary["items"], summary["unscored"]) == (4, 1)
    assert summary["consistent"] == pytest.approx(2 / 3)
    assert summary["kept_first"] == pytest.approx(1 / 3)
    assert summary["kept_second"] == 0
    nothing = order_summary(order_swaps(ScriptedLLM(lambda _: "junk"), "pairwise", pairs))
    assert (nothing["unscored"], nothing["consistent"], nothing["kept_first"]) == (4, None, None)
