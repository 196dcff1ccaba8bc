import pytest

from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError
from unbidden.queries.build import build_queries
from unbidden.queries.clusters import mine_pairs
from unbidden.queries.overlap import overlap_items


@pytest.fixture
def corpus(write, sample, cluster, tmp_path):
    write([sample], "set/locomo10_dialog.json")
    write([cluster], "set/locomo10_multimem_full.json")
    return load_corpus(str(tmp_path / "set"))


def test_queries_and_gold(corpus):
    queries = {(q.style, q.id): q for q in build_queries(corpus)}
    assert [style for style, _ in queries] == [
        *["question"] * 5,
        *("dialog", "implicit", "counterfactual", "composed"),
    ]
    assert queries["implicit", "tiny-1#0"].gold == {"D1:1"}
    assert queries["implicit", "tiny-1#0"].speaker == "Ana"
    assert queries["question", "tiny-1#0"].speaker is None
    composed = queries["composed", "tiny-1#0+1"]
    assert composed.gold == {"D1:1", "D1:3", "D2:2"}
    assert composed.category is None
    assert queries["question", "tiny-1#3"].gold == frozenset()


def test_limit_keeps_members_together(corpus):
    assert {q.style for q in build_queries(corpus, limit=1)} == {
        *("question", "dialog", "implicit", "counterfactual"),
    }
    assert any(q.style == "composed" for q in build_queries(corpus, limit=2))
    with pytest.raises(ConfigError, match="limit"):
        build_queries(corpus, limit=0)


def test_unknown_style(corpus):
    with pytest.raises(ConfigError, match="did you mean implicit"):
        build_queries(corpus, styles=["implict"])


def test_pairs(corpus):
    (pair,) = mine_pairs(corpus.conversations[0])
    assert (pair.members, pair.nested) == (
        (0, 1),
        True,
    )  # category 5 shares a turn, but is no member


def test_overlap(corpus):
    items = overlap_items(corpus, build_queries(corpus)).set_index(["style", "query_id"])["value"]
    # "Ana", "sell" / the turn has "Ana", "sold", "red", "boat".
    assert items["question", "tiny-1#0"] == pytest.approx(1 / 2)
    assert items["implicit", "tiny-1#0"] == 0
    assert items.isna()["question", "tiny-1#3"]
