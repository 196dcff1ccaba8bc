"""The retrieval chapter from its parameters: options of systems, and every score in one table."""

import pytest

from tests.memory.hand import conversation
from unbidden.config import RetrievalConfig
from unbidden.corpus.models import Corpus
from unbidden.llm import ScriptedLLM
from unbidden.queries.build import Query
from unbidden.report.retrieval.run import all_items, options_of
from unbidden.retrieval import retrieve

SAID = [("Ana", "I bought a red boat."), ("Ben", "Cats."), ("Ana", "It rains."), ("Ben", "Yes.")]
CORPUS = Corpus("hand", (conversation(SAID),))
QUERIES = [Query("hand#0", "hand", "question", "A red boat?", 1, (0,), frozenset({"D1:1"}))]


@pytest.fixture
def config():
    return RetrievalConfig.of(
        chapter="02_retrieval",
        systems=["bm25"],
        ks=[1],
        top_k=2,
        turn_budgets=[1],
        protocol="repaired",
        system_options={"bm25": {"k1": 1.2}},
    )


def test_every_score_is_there_once(config):
    options = options_of(config, ScriptedLLM(lambda seen: "never asked"))
    assert options["per_system"]["bm25"]["k1"] == 1.2
    assert options["protocol"] == "repaired"
    items = all_items(config, CORPUS, retrieve(CORPUS, QUERIES, ["bm25"], depth=2, **options))
    keys = items[["query_id", "metric", "k"]]
    assert not keys.duplicated().any()
    found = set(zip(items["metric"], items["k"], strict=True))
    assert {("recall", 1), ("recall", 2), ("recall_turns", 1), ("recall_tokens", 600)} <= found
    assert ("text_recall", 2) in found
    assert set(items["condition"]) == {"repaired"}
    assert items.loc[items["metric"] == "recall", "value"].tolist() == [1.0, 1.0]
