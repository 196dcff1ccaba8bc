import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unbidden.errors import ConfigError
from unbidden.judge import Verdict


@pytest.mark.parametrize(
    "fields",
    [
        {"label": "x", "score": 1.0, "unscored": "why"},
        {"label": None, "score": None},
        {"label": None, "score": None, "unscored": ""},
        {"label": "x", "score": None},
        {"label": None, "score": 0.0},
        {"label": "", "score": 0.0},
        {"label": None, "score": 0.0, "unscored": "why"},
        {"label": "x", "score": 1.5},
        {"label": "x", "score": float("nan")},
        {"label": "x", "score": 1.0, "parts": (("a", 2.0),)},
        {"label": None, "score": None, "unscored": "why", "parts": (("a", 1.0),)},
    ],
)
def test_a_verdict_is_scored_or_unscored_never_both(fields):
    with pytest.raises(ConfigError, match="either scored or unscored"):
        Verdict(**fields)


@settings(deadline=None)
@given(st.floats(0, 1))
def test_scores_in_bounds_are_kept(score):
    verdict = Verdict("x", score)
    assert verdict.score == score
    assert verdict.scored
    assert verdict.noted("n").notes == ("n",)


def test_none_has_only_a_reason():
    verdict = Verdict.none("empty reply", notes=("n",))
    assert (verdict.label, verdict.score, verdict.unscored) == (None, None, "empty reply")
    assert not verdict.scored
