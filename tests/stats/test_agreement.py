import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unbidden.stats.agreement import NO_LIBRARY, ONE_VALUE, cohen_kappa, krippendorff_alpha

LABELS = st.lists(st.tuples(*[st.sampled_from("abc")] * 2), min_size=1, max_size=30)


def test_kappa_by_hand():
    """Agreed 3 of 4; by chance 2/4 * 1/4 + 2/4 * 3/4 = 1/2."""
    assert cohen_kappa("yynn", "ynnn") == (3 / 4 - 1 / 2) / (1 - 1 / 2)
    assert cohen_kappa("yn", "ny") == -1


@settings(deadline=None)  # the first example imports scikit-learn
@given(LABELS)
def test_kappa_is_scikit_learns_for_any_labels(pairs):
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    first, second = zip(*pairs, strict=True)
    found = cohen_kappa(first, second)
    if len({*first, *second}) == 1:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(metrics.cohen_kappa_score(first, second))


def test_alpha_by_hand_with_a_missing_label():
    """The third unit has one label and so no pair; of the four others, observed disagreement is
    2 of 4, expected 6 of 12 ordered pairs of (0, 0, 0, 1)."""
    pytest.importorskip("krippendorff", reason="needs the extra `agree`")
    alpha, why = krippendorff_alpha([[0, 0, 1], [0, 1, np.nan]], "nominal")
    assert why is None
    assert alpha == pytest.approx(1 - (2 / 4) / (6 / 12))


def test_a_far_miss_costs_more_on_an_ordinal_scale():
    pytest.importorskip("krippendorff", reason="needs the extra `agree`")
    near, far = ([[0, 1, 2, 3], [*rest, 3]] for rest in ([0, 2, 1], [2, 1, 0]))
    assert krippendorff_alpha(near, "ordinal")[0] > krippendorff_alpha(far, "ordinal")[0]
    assert krippendorff_alpha(near, "nominal")[0] == krippendorff_alpha(far, "nominal")[0]


def test_without_spread_or_library_there_is_a_reason(monkeypatch):
    assert krippendorff_alpha([[1, 1], [1, np.nan]], "nominal")[1] == ONE_VALUE
    monkeypatch.setitem(__import__("sys").modules, "krippendorff", None)
    assert krippendorff_alpha([[0, 1], [0, 1]], "nominal")[1] == NO_LIBRARY
