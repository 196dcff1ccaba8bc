"""The difference of two shares that were printed with the numbers behind them."""

from __future__ import annotations

from math import sqrt

from scipy.stats import binomtest

from unbidden.errors import ConfigError
from unbidden.stats.intervals import Interval


def difference_of_shares(first: int, n_first: int, second: int, n_second: int) -> Interval:
    """Return the share of the first minus that of the second, with Newcombe's 95 % interval.

    It takes the two for independent samples. Where both were asked the same questions it is too
    wide, but a paper that prints shares alone allows no better one.

    Parameters
    ----------
    first, second : int
        Successes.
    n_first, n_second : int
        Questions asked.

    Raises
    ------
    ConfigError
        If there are no questions, or more successes than questions.

    Examples
    --------
    Newcombe (1998), his example a: 56 of 70 and 48 of 80.

    >>> found = difference_of_shares(56, 70, 48, 80)
    >>> round(found.mean, 4), round(found.low, 4), round(found.high, 4)
    (0.2, 0.0524, 0.3339)
    """
    for successes, n in ((first, n_first), (second, n_second)):
        if n < 1 or not 0 <= successes <= n:
            raise ConfigError(
                "a share is out of range", expected="0 to n successes of n", got=f"{successes}/{n}"
            )
    p, q = first / n_first, second / n_second
    one = binomtest(first, n_first).proportion_ci(method="wilson")
    two = binomtest(second, n_second).proportion_ci(method="wilson")
    low = p - q - sqrt((p - one.low) ** 2 + (two.high - q) ** 2)
    high = p - q + sqrt((one.high - p) ** 2 + (q - two.low) ** 2)
    method = "Newcombe, independent samples"
    return Interval(p - q, low, high, n_first + n_second, 0, method)
