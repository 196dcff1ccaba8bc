from dataclasses import replace

from tests.report.test_tables import HOSTILE
from unbidden.corpus import load_corpus
from unbidden.queries.build import build_queries
from unbidden.report.retrieval.examples import Examples
from unbidden.retrieval import retrieve


def test_examples_escape_the_data(write, sample):
    sample["conversation"]["session_1"][0]["text"] = f"boat {HOSTILE}"
    sample["qa"][0]["question"] = f"boat {HOSTILE}"
    corpus = load_corpus(str(write([sample])))
    queries = build_queries(corpus)
    rankings = retrieve(corpus, queries, ["bm25"], depth=3)
    page = Examples(corpus, rankings, [0])._repr_html_()
    assert "<script>" not in page
    assert "first gold turn at rank 1" in page
    assert "Not scored" not in page
    refused = {query.conversation: "not on record" for query in queries}
    page = Examples(corpus, [*rankings, replace(rankings[0], system="m", refused=refused)], [0])
    assert "<p>Not scored here: m</p>" in page._repr_html_()
