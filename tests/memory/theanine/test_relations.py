"""Reading a model's word for a relation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unbidden.memory.theanine.relations import RELATIONS, UnknownLabel, read_relation


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        *[(name, name) for name in RELATIONS],
        ("Causes", "Cause"),
        ("CAUSE.", "Cause"),
        ("caused", "Cause"),
        ('"Want"', "Want"),
        (" **React** - she feels lonely", "React"),
        ("Relation: Same Topic", "SameTopic"),
        ("The relation", UnknownLabel),
        ("relationship is hindered_by", "HinderedBy"),
        ("Hindered By: the ankle", "HinderedBy"),
        ("same-topic (tomatoes)", "SameTopic"),
        ("Reason, because B is why", "Reason"),
        ("Cause: the reason is the oven", "Cause"),
        ("changes", "Changed"),
        ("None", None),
        ("none of them fits", None),
        ("No relation.", None),
        ("no", None),
        ("Cause or Want", UnknownLabel),
        ("Cause/Want", UnknownLabel),
        ("Because", UnknownLabel),
        ("Reasonable", UnknownLabel),
        ("Wanted", UnknownLabel),
        ("not Cause", UnknownLabel),
        ("Effect", UnknownLabel),
        ("Nonetheless", UnknownLabel),
        ("", UnknownLabel),
        ("?!", UnknownLabel),
    ],
)
def test_labels(text, relation):
    if relation is UnknownLabel:
        with pytest.raises(UnknownLabel):
            read_relation(text)
    else:
        assert read_relation(text) == relation


@given(
    st.sampled_from(RELATIONS),
    st.sampled_from(["", " ", "*", '"', "- ", "Relation: ", "relation is "]),
    st.sampled_from(["", ".", " because", ": x", "\nmore", " (A to B)"]),
    st.sampled_from([str, str.lower, str.upper, str.swapcase]),
)
def test_case_punctuation_and_trailing_text_do_not_matter(name, before, after, case):
    assert read_relation(before + case(name) + after) == name


@given(st.text())
def test_any_text_is_read_or_refused(text):
    try:
        assert read_relation(text) in (*RELATIONS, None)
    except UnknownLabel as error:
        assert str(error) == text
