import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unbidden.report.claims.rule import FAILS, HOLDS, OPEN, Bound, Measured, combined, judged

NUMBER = st.floats(-1, 1)


def part(low, high, *, estimate=None, n=50, exact=False):
    middle = estimate if estimate is not None else (low + high) / 2
    return Measured("c", "p", "d", "none", middle, low, high, n, 5, "", "", exact=exact)


@given(NUMBER, NUMBER, NUMBER)
def test_the_interval_decides_and_nothing_else(a, b, bound):
    low, high = min(a, b), max(a, b)
    verdict = judged(part(low, high), Bound("above", bound))
    if high - low <= 0 or low <= bound <= high:
        assert verdict == OPEN
    else:
        assert verdict == (HOLDS if low > bound else FAILS)


@given(NUMBER, NUMBER, NUMBER)
def test_above_and_below_mirror_each_other(a, b, bound):
    low, high = min(a, b), max(a, b)
    above = judged(part(low, high), Bound("above", bound))
    below = judged(part(-high, -low), Bound("below", -bound))
    assert above == below


@pytest.mark.parametrize(
    "weak",
    [
        part(0.1, 0.3, n=9),
        part(0.2, 0.2),
        part(math.nan, math.nan, estimate=0.2),
        part(None, None, estimate=0.2),
        part(0.1, 0.3, estimate=math.nan),
    ],
    ids=["few", "no width", "no interval", "none", "no estimate"],
)
def test_what_decides_nothing(weak):
    assert judged(weak, Bound("above")) == OPEN


def test_a_count_is_compared_as_it_is():
    count = part(None, None, estimate=0.2, n=1, exact=True)
    assert judged(count, Bound("above")) == HOLDS
    assert judged(count, Bound("above", 0.2)) == OPEN
    assert judged(count, Bound("below", 0.1)) == FAILS


@given(st.lists(st.sampled_from([HOLDS, FAILS, OPEN])))
def test_all_parts_must_hold_and_one_refutes(verdicts):
    found = combined(verdicts)
    assert (found == FAILS) == (FAILS in verdicts)
    assert (found == HOLDS) == (bool(verdicts) and all(one == HOLDS for one in verdicts))
