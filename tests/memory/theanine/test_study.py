"""THEANINE in the study's own run: harbour's queries, with a model that answers by rule."""

import zlib

import pytest

from tests.memory.baselines.test_study import Hashed
from unbidden.corpus import load_corpus
from unbidden.llm import ScriptedLLM
from unbidden.llm.schemas_summaries import CitedFact, CitedFacts, SessionFacts
from unbidden.llm.schemas_theanine import RelationLabel
from unbidden.memory import create_system
from unbidden.memory.theanine.relations import RELATIONS
from unbidden.queries.build import build_queries
from unbidden.retrieval.run import retrieve
from unbidden.retrieval.score import score_rankings

LABELS = (*RELATIONS, "None", "None", "None")


def answer(seen):
    """Five sentences for each session; relations by chance, the same in each run."""
    if seen.prompt_name.startswith("summarise_session"):
        facts = [f"{t['speaker']} said: {t['text']}" for t in seen.variables["turns"][:5]]
        if seen.prompt_name == "summarise_session.v1":
            return SessionFacts(facts=facts)
        return CitedFacts(facts=[CitedFact(text=t, lines=[i]) for i, t in enumerate(facts, 1)])
    return RelationLabel(relation=LABELS[zlib.crc32(seen.key.encode()) % len(LABELS)])


@pytest.fixture(scope="module")
def corpus():
    return load_corpus("harbour")


@pytest.mark.parametrize(
    "options",
    [{}, {"link_rule": "all_related", "start_rule": "any_root"}, {"relations": False},
     {"timeline_form": "shuffled"}, {"per": "component"}],
)  # fmt: skip
def test_it_runs_over_harbour(corpus, options):
    queries = build_queries(corpus, styles=["question", "implicit"])[::5]
    options = {"sources": "cited", "dialogues": "sources", **options}
    llm = ScriptedLLM(answer)
    (ranking,) = retrieve(
        corpus, queries, ["theanine"], depth=10, llm=llm, embedder=Hashed(), **options
    )
    items = score_rankings("harbour", [ranking], ks=[10])
    recall = items.query("metric == 'recall' and unscored.isna()")["value"]
    assert 0 < recall.mean() < 1
    for report in ranking.ingests.values():
        assert report.failed == 0 and report.events["links"] > 0
    assert any(note.startswith("searches: timelines drawn (") for note in ranking.notes)
    if not options.get("timeline_form"):
        longest = max(len(hit.text.split("] - ")) for hits in ranking.hits for hit in hits)
        assert longest > 2, "timelines are more than single sentences"


def test_summaries_are_the_calls_of_the_baselines(corpus):
    keys = {}
    for name in ("theanine", "all-memories"):
        llm = ScriptedLLM(answer)
        create_system(name, llm=llm, embedder=Hashed()).ingest(corpus.conversations[0])
        keys[name] = [s.key for s in llm.seen if s.prompt_name == "summarise_session.v1"]
    assert keys["theanine"] == keys["all-memories"] != []
