"""A long table of items for the tests of means and of comparisons."""

import pytest

from tests.report.toy import items


@pytest.fixture
def toy():
    return items(
        [
            ("a", "a#0", "question", 4, "s", 1.0),
            ("a", "a#1", "question", 4, "s", 0.0),
            ("b", "b#0", "question", 4, "s", 1.0),
            ("a", "a#0", "implicit", 4, "s", 0.0),
            ("b", "b#0", "implicit", 4, "s", None),
            ("a", "a#0+1", "composed", None, "s", 0.25),
            ("a", "a#9", "question", 5, "s", 1.0),
        ]
    )
