"""The baselines in the study's own run: harbour's queries, scored by turns, failures unscored."""

import zlib

import numpy as np
import pytest

from tests.memory.baselines.test_cost import TABLE_8, answer
from unbidden.corpus import load_corpus
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.memory.tokens import unicode_tokens
from unbidden.queries.build import build_queries
from unbidden.retrieval.run import retrieve
from unbidden.retrieval.score import NO_PROVENANCE, score_rankings


class Hashed:
    """Embeds a text as the words it holds, each in a place given by its hash."""

    def encode(self, texts):
        rows = np.zeros((len(texts), 256), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in unicode_tokens(text):
                row[zlib.crc32(word.encode()) % 256] = 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


@pytest.fixture(scope="module")
def corpus():
    return load_corpus("harbour")


def test_all_seven_run_over_harbour(corpus):
    queries = build_queries(corpus, styles=["question", "implicit"])[::7]
    llm = ScriptedLLM(answer)
    rankings = retrieve(corpus, queries, sorted(TABLE_8), depth=10, llm=llm, embedder=Hashed())
    items = score_rankings("harbour", rankings, ks=[10]).query("metric == 'recall'")
    gold = items[items["unscored"].isna()]
    recall = gold.groupby("system")["value"].mean()
    assert recall["full-history"] == recall["all-memories"] == 1, "they hold every turn"
    unscored = set(items[items["unscored"] == NO_PROVENANCE]["system"])
    assert unscored == {"rsum", "comedy"}
    assert set(recall.index) == set(TABLE_8) - unscored
    for ranking in rankings:
        assert all(report.failed == 0 for report in ranking.ingests.values())


def test_a_choice_that_fails_is_unscored_with_its_reason_and_never_zero(corpus):
    def refuses(seen):
        lost = "choose" in seen.prompt_name and seen.variables["query"] == queries[1].text
        return Outcome("refused", "no") if lost else answer(seen)

    queries = build_queries(corpus, styles=["question"])[:3]
    (ranking,) = retrieve(
        corpus, queries, ["memochat"], depth=5, llm=ScriptedLLM(refuses), embedder=Hashed()
    )
    items = score_rankings("harbour", [ranking], ks=[5]).query("metric == 'recall'")
    assert list(items["unscored"].fillna("")) == ["", "refused: no", ""]
    assert list(items["value"].isna()) == [False, True, False]
    assert any("choice failed (1)" in note for note in ranking.notes)
