"""Messages rewritten into search queries, and the two parsers."""

import pytest

from unbidden.corpus.load import load_corpus
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.queries.build import build_queries
from unbidden.queries.facets import paper_lines, repaired_lines, rewrite_for_search


@pytest.fixture
def corpus(sample, write):
    return load_corpus(str(write([sample])))


@pytest.mark.parametrize(
    ("text", "paper", "repaired"),
    [
        ("boat\ntrip to Rui", ["boat", "trip to Rui"], ["boat", "trip to Rui"]),
        ("1. boat\n2) sea\n- pier", ["boat", "sea", "pier"], ["boat", "sea", "pier"]),
        ("2023 camping trip", ["camping trip"], ["2023 camping trip"]),
        ("7 June bakery", ["June bakery"], ["7 June bakery"]),
        ("Queries:\nboat", ["Queries:", "boat"], ["boat"]),
        ('"boat"\nBoat\n\n---', ["boat", "Boat"], ["boat"]),
        ("林悦\nok", [], ["林悦", "ok"]),
        ("a1\nb2\nc3\nd4\ne5\nf6", [], ["a1", "b2", "c3", "d4", "e5"]),
        ("aaa\nbbb\nccc\nddd\neee\nfff", ["aaa", "bbb", "ccc", "ddd", "eee"], None),
        ("1.\n2.", [], []),
    ],
)
def test_parsers(text, paper, repaired):
    assert paper_lines(text) == paper
    if repaired is not None:
        assert repaired_lines(text) == repaired


def test_what_the_rewriter_is_told(corpus):
    queries = build_queries(corpus, styles=["implicit"])
    llm = ScriptedLLM(lambda seen: "boat mooring fee")
    for protocol in ("paper", "repaired"):
        (one,) = rewrite_for_search(llm, corpus, queries, "convergent", protocol=protocol)
        assert one.texts == ("boat mooring fee",)
    assert llm.seen[0].variables == {"message": queries[0].text}
    told = llm.seen[1].messages[-1]["content"]
    assert "Ana" in told and "2023-05-08" in told, "the empty third session has no last talk"


@pytest.mark.parametrize("kind", ["convergent", "facets"])
@pytest.mark.parametrize("answer", [Outcome("timeout", "slow"), "1.\n2.", '""'])
def test_without_a_rewrite(corpus, kind, answer):
    """The paper searches for the message or for nothing; we give a reason."""
    queries = build_queries(corpus, styles=["implicit"])
    llm = ScriptedLLM(lambda seen: answer)
    (ours,) = rewrite_for_search(llm, corpus, queries, kind)
    assert ours.texts == () and ours.unscored.startswith("no rewrite")
    (paper,) = rewrite_for_search(llm, corpus, queries, kind, protocol="paper")
    assert paper.unscored is None
    if kind == "facets" or isinstance(answer, Outcome):
        assert paper.texts == (queries[0].text,) and paper.fallback
    elif answer == '""':
        assert paper.texts == ("",), "the empty query of the paper's script"


def test_one_set_of_calls_serves_both_parsers(corpus):
    queries = build_queries(corpus, styles=["implicit"])
    llm = ScriptedLLM(lambda seen: "1. 2023 trip\n2. boat")
    read = [
        rewrite_for_search(llm, corpus, queries, "facets", parser=parser)[0].texts
        for parser in ("paper", "repaired")
    ]
    assert read == [("trip", "boat"), ("2023 trip", "boat")]
    assert llm.seen[0].key == llm.seen[1].key
    with pytest.raises(ConfigError, match="facets"):
        rewrite_for_search(llm, corpus, queries, "facet")
