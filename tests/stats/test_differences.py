"""Differences of means over different items, and the jackknife."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unbidden.errors import ConfigError
from unbidden.stats import clustered_mean, difference_of_means, jackknife

NAN = float("nan")
values = st.lists(
    st.tuples(st.floats(0, 1), st.floats(0, 1), st.sampled_from("abcd")), min_size=2, max_size=30
)


@settings(deadline=None)
@given(values)
def test_on_the_same_items_it_is_the_paired_interval(rows):
    first, second, homes = (list(column) for column in zip(*rows, strict=True))
    found = difference_of_means(first, second, homes)
    paired = clustered_mean(np.array(second) - np.array(first), homes)
    assert found.mean == pytest.approx(paired.mean, abs=1e-9)
    assert (found.n, found.clusters) == (paired.n, paired.clusters)
    assert found.low == pytest.approx(paired.low, abs=1e-6)
    assert found.high == pytest.approx(paired.high, abs=1e-6)


def test_items_of_one_side_only_count_on_that_side():
    found = difference_of_means([1.0, 0.0, NAN, NAN], [1.0, 0.0, 1.0, 1.0], "aabb")
    assert found.mean == pytest.approx(0.75 - 0.5)
    assert (found.n, found.clusters) == (4, 2)
    assert found.low < found.mean < found.high


def test_the_interval_of_a_subset_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = 0
    homes = np.repeat(np.arange(12), 15)
    for _ in range(200):
        level = rng.normal(0.5, 0.1, 12)[homes]
        second = level + rng.normal(0, 0.1, len(homes))
        kept = rng.random(len(homes)) < 0.6
        first = np.where(kept, second, NAN)
        found = difference_of_means(first, second, list(homes))
        covered += found.low <= 0 <= found.high
    assert 180 <= covered <= 200


def test_nothing_to_compare_has_no_mean():
    found = difference_of_means([NAN], [1.0], "a")
    assert found.mean is None and found.n == 0
    with pytest.raises(ConfigError, match="differ in length"):
        difference_of_means([1.0], [1.0, 2.0], "a")


def test_the_jackknife_of_a_mean_is_the_clustered_interval_where_clusters_are_equal():
    x = np.array([0.1, 0.3, 0.2, 0.9, 0.4, 0.6])
    found = jackknife(lambda kept: float(x[kept].mean()), "aabbcc")
    clustered = clustered_mean(x, "aabbcc")
    assert found.low == pytest.approx(clustered.low)
    assert found.high == pytest.approx(clustered.high)


def test_two_conversations_give_a_jackknife_no_interval():
    found = jackknife(lambda kept: float(kept.sum()), "ab")
    assert found.mean == 2 and found.low is None
