from unbidden.corpus import load_corpus
from unbidden.queries.build import build_queries
from unbidden.report import cost


def test_a_reader_of_ten_turns_reads_less_than_one_of_all(folder):
    corpus = load_corpus("harbour", conversations=["harbour-1"])
    (row,) = cost.reading_costs(corpus, build_queries(corpus, limit=5), k=10).to_dict("records")
    assert 0 < row["shown_tokens"] < row["history_tokens"]
    assert row["share"] == row["shown_tokens"] / row["history_tokens"]
