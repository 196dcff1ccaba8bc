import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unbidden.errors import ConfigError
from unbidden.stats.buckets import bucket_codes, bucket_scores
from unbidden.stats.decomposition import (
    after_over_within,
    by_full_recall,
    starvation,
    unweighted,
    weighted,
)
from unbidden.stats.intervals import clustered_mean
from unbidden.stats.wins import margin

NAN = float("nan")
UNIT = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1) | st.just(NAN)
ITEMS = st.lists(st.tuples(UNIT, UNIT, UNIT, st.sampled_from("abc")), max_size=40)


def columns(items):
    return [list(column) for column in zip(*items, strict=True)] if items else [[], [], [], []]


def test_weighted_by_hand():
    # Gaps 0, .5, 1, .5 in buckets A, A, B, C; see the module's worked example.
    found = weighted([1, 1, 0.5, 0], [1, 0.5, 0, 0], [1, 1, 1, 0.5], "aabb")
    assert found.score.mean == 3 / 8
    assert found.retrieval.mean == 3 / 8
    assert found.representation.mean == 1 / 8
    assert found.response.mean == 1 / 8
    assert found.shares == {"A": 0.5, "B": 0.25, "C": 0.25}
    # Each part is a mean over the same items, so its interval is that of any clustered mean.
    assert found.retrieval == clustered_mean([0, 0, 1, 0.5], "aabb")


@given(ITEMS)
def test_weighted_parts_sum_to_one(items):
    recall, score, oracle, homes = columns(items)
    found = weighted(recall, score, oracle, homes)
    complete = [item for item in items if not any(np.isnan(item[:3]))]
    assert found.left_out == len(items) - len(complete)
    if complete:
        assert found.total == pytest.approx(1, abs=1e-9)
        assert sum(found.shares.values()) == pytest.approx(1)
        assert found.score.n == found.response.n == len(complete)
        after = found.representation.mean + found.response.mean - found.retrieval.mean
        assert after_over_within(recall, score, oracle, homes).mean == pytest.approx(after)
    else:
        assert found.total is None and found.score.mean is None


@given(ITEMS)
def test_weighted_is_the_paper_s_formula(items):
    """A% times the gap in A, and B% and C% times theirs, with empty buckets left out."""
    recall, score, oracle, homes = columns(items)
    found, parts = weighted(recall, score, oracle, homes), unweighted(recall, score, oracle, homes)
    if found.total is None:
        return
    gap = {"A": parts.representation, "B": parts.partly_found, "C": parts.not_found}
    mean = {name: gap[name].mean or 0.0 for name in "ABC"}
    share = found.shares
    assert found.representation.mean == pytest.approx(share["A"] * mean["A"], abs=1e-9)
    lost = share["B"] * mean["B"] + share["C"] * mean["C"]
    assert found.retrieval.mean == pytest.approx(lost, abs=1e-9)
    assert parts.ceiling == found.response


def test_a_perfect_system_loses_nothing():
    found = weighted([1, 1], [1, 1], [1, 1], "ab")
    assert [part.mean for part in found.lost] == [0, 0, 0]


def test_unweighted_by_hand_does_not_sum_to_one():
    found = unweighted([1, 1, 0.5, 0], [1, 0.5, 0, 0], [1, 1, 1, 0.5], "aabb")
    assert (found.partly_found.mean, found.not_found.mean) == (1.0, 0.5)
    assert (found.representation.mean, found.ceiling.mean) == (0.25, 0.125)
    assert found.total == 3 / 8 + 1 / 8 + 1 + 0.5 + 0.25


def test_an_empty_bucket_has_no_value():
    found = unweighted([1, 1], [1, 0], [1, 1], "ab")
    assert found.partly_found.mean is None and found.partly_found.n == 0
    assert bucket_scores([1, 1], [1, 0], "ab")["C"].score.mean is None


@given(ITEMS)
def test_full_recall_sums_to_one_too(items):
    recall, score, oracle, _ = columns(items)
    found = by_full_recall(recall, score, oracle)
    parts = [found.score, found.retrieval, found.representation, found.response]
    if None not in parts:
        assert sum(parts) == pytest.approx(1, abs=1e-9)


def test_buckets_keep_unscored_replies_apart():
    found = bucket_scores([1, 1, 0, NAN], [0.5, NAN, 0, 1], "abab")
    assert found["A"].score.mean == 0.5 and found["A"].unscored == 1
    assert found["A"].share == pytest.approx(2 / 3)
    assert found["C"].score.mean == 0
    assert bucket_codes([0.9991, 0.998]).tolist() == ["A", "B"]


@pytest.mark.parametrize("values", [[1.5], [-0.1]])
def test_values_out_of_range_are_refused(values):
    with pytest.raises(ConfigError, match="out of range"):
        weighted(values, [1], [1], "a")
    with pytest.raises(ConfigError, match="out of range"):
        bucket_scores([1], values, "a")


def test_lengths_must_agree():
    with pytest.raises(ConfigError, match="length"):
        weighted([1, 1], [1], [1], "a")
    with pytest.raises(ConfigError, match="length"):
        bucket_scores([1, 1], [1], "a")


def test_starvation_counts_both_directions():
    found = starvation([0, 0, 1, 0.5, NAN], [1, 0, 0, 1, 1], "aabbb")
    assert (found.failed, found.rescued, found.hurt) == (2, 1, 1)
    assert found.change.difference.mean == pytest.approx((1 + 0 - 1 + 0.5) / 4)


def test_margin_by_hand():
    found = margin([1, 1, 0, -1, NAN], "aabbb")
    assert (found.wins, found.ties, found.losses, found.unscored) == (2, 1, 1, 1)
    assert found.margin.mean == 0.25 and found.margin.low >= -1 and found.margin.high <= 1
    with pytest.raises(ConfigError, match="result"):
        margin([0.5], "a")


@given(st.lists(st.tuples(st.sampled_from([1.0, 0.0, -1.0, NAN]), st.sampled_from("ab"))))
def test_a_swap_turns_the_margin_round(items):
    values, homes = [x for x, _ in items], [home for _, home in items]
    one, other = margin(values, homes), margin([-x for x in values], homes)
    assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)
    if one.margin.mean is not None:
        assert one.margin.mean == -other.margin.mean
        assert one.win_rate == pytest.approx((one.margin.mean + 1) / 2)
