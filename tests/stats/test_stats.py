import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from unbidden.errors import ConfigError
from unbidden.stats import bootstrap_mean, clustered_mean, compare_paired, holm

VALUES = st.lists(st.floats(0, 1), min_size=2, max_size=30)


def test_by_hand():
    # Clusters a: 0, 1; b: 1, 1. Mean 3/4; residual sums -1/2 and +1/2.
    found = clustered_mean([0, 1, 1, 1], "aabb")
    error = np.sqrt(2 * (0.25 + 0.25)) / 4
    assert found.mean == 0.75
    assert found.half_width == pytest.approx(stats.t.ppf(0.975, 1) * error)
    assert (found.n, found.clusters) == (4, 2)


@given(VALUES)
def test_single_items_as_clusters_give_the_usual_interval(values):
    found = clustered_mean(values, range(len(values)))
    usual = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values) or 1e-300)
    assert (found.low, found.high) == pytest.approx(usual)


def test_unscored_items_are_left_out_not_zero():
    assert clustered_mean([1, np.nan, 1], "aab").mean == 1
    assert clustered_mean([1, np.nan, 1], "aab").n == 2


def test_nothing_gives_none():
    found = clustered_mean([np.nan], "a")
    assert (found.mean, found.low, found.n) == (None, None, 0)
    assert bootstrap_mean([], "").mean is None
    assert clustered_mean([0.5], "a").low is None


def test_one_conversation_is_labelled():
    assert "one conversation" in clustered_mean([0, 1, 1], "aaa").method
    assert bootstrap_mean([0, 1, 1], "aaa").low is None


def test_lengths_must_agree():
    with pytest.raises(ConfigError, match="length"):
        clustered_mean([1, 2], "a")


def test_bootstrap_is_repeatable_and_wider_with_real_clusters():
    rng = np.random.default_rng(1)
    centre = rng.normal(0.5, 0.1, 10).repeat(50)
    values = centre + rng.normal(0, 0.1, 500)
    clusters = np.arange(10).repeat(50)
    one, two = (bootstrap_mean(values, clusters, seed=4) for _ in range(2))
    assert one == two
    assert one.half_width > 2 * bootstrap_mean(values, range(500)).half_width


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(-1, 1).map(lambda x: round(x, 2)), min_size=2, max_size=8))
def test_sign_flip_equals_enumeration(differences):
    found = compare_paired(np.zeros(len(differences)), differences, range(len(differences)))
    totals = [
        sum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    observed = sum(differences)
    upper = np.mean([t >= observed - 1e-9 for t in totals])
    lower = np.mean([t <= observed + 1e-9 for t in totals])
    assert found.p_value == pytest.approx(min(1, 2 * min(upper, lower)), abs=1e-9)


def test_smallest_p_and_detectable_effect():
    found = compare_paired([0] * 5, [1, 1, 1, 1, 0.9], "abcde")
    assert found.p_value == found.smallest_p == 2 / 2**5
    assert found.p_t < 1e-4
    assert 0 < found.detectable < 0.1
    assert compare_paired([0], [1], "a").p_value is None


def test_pairs_need_both_scores():
    found = compare_paired([0, np.nan, 0], [1, 1, np.nan], "abc")
    assert found.difference.n == 1


def test_many_clusters_are_sampled_repeatably():
    values = np.random.default_rng(0).normal(0.2, 1, 40)
    one, two = (compare_paired(np.zeros(40), values, range(40), seed=9) for _ in range(2))
    assert one.p_value == two.p_value
    assert "sampled" in one.method


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_holm(p_values):
    adjusted = holm(p_values)
    order = np.argsort(p_values, kind="stable")
    assert all(a >= p for a, p in zip(adjusted, p_values, strict=True))
    assert np.all(np.diff(np.array(adjusted)[order]) >= 0)
    assert min(adjusted) == pytest.approx(min(1, min(p_values) * len(p_values)))
