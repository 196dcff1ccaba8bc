"""Intervals clustered by conversation, paired tests, correction for many comparisons."""

from unbidden.stats.compare import Comparison, compare_paired, holm
from unbidden.stats.differences import difference_of_means, jackknife
from unbidden.stats.intervals import Interval, bootstrap_mean, clustered_mean, clustered_share

__all__ = [
    "Comparison",
    "Interval",
    "bootstrap_mean",
    "clustered_mean",
    "clustered_share",
    "compare_paired",
    "difference_of_means",
    "holm",
    "jackknife",
]
