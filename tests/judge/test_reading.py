"""Strict reading of labels: the whole text is the label or there is none."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unbidden.judge.loose import FIXTURES, loose_letter, loose_score, loose_yes, readings
from unbidden.judge.reading import read_label

LABELS = ("correct", "partial", "wrong")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("correct", "correct"),
        ("Correct", "correct"),
        ("  WRONG.\n", "wrong"),
        ('"partial"', "partial"),
        ('"Partial."', "partial"),
        ("**correct**", "correct"),
        ("`wrong`", "wrong"),
        ("“correct”", "correct"),
        ("incorrect", None),
        ("not correct", None),
        ("partially correct", None),
        ("correct, but late", None),
        ("Label: correct", None),
        ("correct wrong", None),
        ("The reply is correct.", None),
        ("0,5", None),
        ("0 - misses 1", None),
        ("yesterday", None),
        ("", None),
        ("...", None),
        ('"correct', None),
        ('“correct"', None),
        ('{"use": "correct"}', None),
        ('{"use": "co', None),
    ],
)
def test_fixtures(text, label):
    assert read_label(text, LABELS) == label


@settings(deadline=None)
@given(st.text(max_size=60))
def test_whatever_is_read_is_a_label_that_stands_in_the_text(text):
    found = read_label(text, LABELS)
    assert found is None or found in text.casefold()


@settings(deadline=None)
@given(st.sampled_from(LABELS), st.text(alphabet="abcdefgh ,:-", min_size=1, max_size=20))
def test_more_words_are_no_label(label, more):
    assert read_label(label + more + "x", LABELS) is None


def test_loose_reading_errs_where_strict_reading_declines():
    assert loose_score("0.5; 1.0 would need both") == 1.0
    assert loose_score("none") is None
    assert loose_letter("Category B") == "C"
    assert loose_letter("xyz") is None
    assert loose_yes("maybe") is None
    assert loose_yes("no, not a yes") is False
    table = readings()
    assert len(table) == len(FIXTURES)
    assert table["strict"].notna().sum() < table["loose"].notna().sum()
    row = table[table["text"] == "Answer: B"].iloc[0]
    assert row["loose"] == "A"
    assert pd.isna(row["strict"])
