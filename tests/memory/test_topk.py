"""The best of many scores and ranks: equal to sorting all of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unbidden.memory.fusion import fused_positions, reciprocal_rank_fusion
from unbidden.memory.topk import best_positions

SCORES = st.lists(st.integers(-3, 3), min_size=1, max_size=60)


@given(SCORES, st.integers(0, 70))
def test_best_positions_begin_a_stable_sort(values, k):
    scores = np.array(values, dtype=float)
    assert best_positions(scores, k).tolist() == np.argsort(-scores, kind="stable")[:k].tolist()


@given(st.data(), st.integers(1, 25), st.integers(1, 30))
def test_fused_positions_are_the_fusion(data, size, k):
    ranking = st.permutations(range(size)).flatmap(
        lambda p: st.integers(0, size).map(lambda n: p[:n])
    )
    rankings = data.draw(st.lists(ranking, min_size=1, max_size=3))
    best, scores = fused_positions([np.array(r, dtype=np.intp) for r in rankings], size, k)
    assert (
        list(zip(best.tolist(), scores.tolist(), strict=True))
        == reciprocal_rank_fusion(rankings)[:k]
    )
