"""The grid of rewritings: rows, calls, what is not on record."""

import pytest

from unbidden.corpus import load_corpus
from unbidden.errors import NotRecorded
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.queries.build import build_queries
from unbidden.retrieval.rewriting import AS_WRITTEN, GRID, call_sets, rewrite_grid


@pytest.fixture
def corpus(sample, write):
    return load_corpus(str(write([sample])))


@pytest.fixture
def queries(corpus):
    return build_queries(corpus, styles=["implicit"])


def grid(llm, corpus, queries):
    return rewrite_grid(llm, corpus, queries, ["bm25"], k=2, depth=4)


def test_rows_share_the_calls_of_a_prompt(corpus, queries):
    llm = ScriptedLLM(lambda seen: "red boat\n2 June bakery")
    run = grid(llm, corpus, queries)
    assert run.unrecorded == () and set(run.texts) == {row.name for row in GRID}
    assert len({seen.key for seen in llm.seen}) == len(call_sets()) == 6
    assert set(run.items["condition"]) == {AS_WRITTEN, *run.texts}
    recall = run.items[run.items["metric"] == "recall"].set_index("condition")["value"]
    assert recall["facets, repaired"] > recall[AS_WRITTEN], "the boat is named by a facet alone"
    assert run.texts["facets, paper"][0].texts == ("red boat", "June bakery")
    assert run.texts["facets, paper, repaired parser"][0].texts == ("red boat", "2 June bakery")


def test_what_the_rewriter_is_told_is_a_switch(corpus, queries):
    llm = ScriptedLLM(lambda seen: "boat")
    grid(llm, corpus, queries)
    told = [seen.variables for seen in llm.seen if seen.prompt_name == "rewrite_facets_repaired.v1"]
    assert {(v["speaker"], v["date"]) for v in told} == {
        ("Ana", "2023-05-08"),
        ("Ana", ""),
        ("somebody", "2023-05-08"),
    }


def test_rows_without_calls_on_record_are_left_out_and_named(corpus, queries):
    def answer(seen):
        if seen.prompt_name.startswith("rewrite_facets"):
            raise NotRecorded("1 model call is not recorded")
        return "boat"

    run = grid(ScriptedLLM(answer), corpus, queries)
    assert all(name.startswith("facets") for name in run.unrecorded)
    assert set(run.texts) == {row.name for row in GRID if row.kind == "convergent"}


def test_a_row_without_any_answer_is_no_measurement(corpus, queries):
    run = grid(ScriptedLLM(lambda seen: Outcome("timeout", "slow")), corpus, queries)
    repaired = [row.name for row in GRID if row.parser == "repaired"]
    assert list(run.unrecorded) == repaired, "the paper's parser searches for the message instead"
    assert not set(repaired) & set(run.items["condition"])
