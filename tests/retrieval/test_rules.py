"""When a store is refused, what is not on record, and options of single systems."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.memory.hand import Words, conversation
from unbidden.config import RetrievalConfig
from unbidden.corpus.models import Corpus
from unbidden.errors import ConfigError, NotRecorded
from unbidden.llm import LLMSettings, Outcome, ScriptedLLM, connect
from unbidden.memory import create_system
from unbidden.memory.presets import SETTINGS, all_options, system_options
from unbidden.memory.protocol import CallCount, IngestReport
from unbidden.memory.registry import SYSTEMS
from unbidden.queries.build import Query
from unbidden.report.folder import RunFolder
from unbidden.report.headline import systems_numbers
from unbidden.report.retrieval.inside import Inside
from unbidden.report.retrieval.systems import SystemsReport, phase_costs
from unbidden.retrieval import Rules, cost_items, retrieve, score_rankings, text_recall_items
from unbidden.retrieval.contract import refusal
from unbidden.retrieval.planned import plan_unrecorded
from unbidden.retrieval.run import NOT_RECORDED
from unbidden.retrieval.sensitivity import threshold_recall

TALK = conversation(
    [("Ana", "I bought a red boat."), ("Ben", "I like <b>cats</b>.")],
    [("Ana", "I painted the boat blue."), ("Ben", "Good for you.")],
)
CORPUS = Corpus("hand", (TALK,))
QUERIES = [
    Query("hand#0", "hand", "question", "Who has a boat?", 1, (0,), frozenset({"D1:1"})),
    Query("hand#0", "hand", "implicit", "The sea is calm.", 1, (0,), frozenset({"D1:1"}), "Ana"),
]


def facts(seen):
    """Answer an extraction with one fact, another for each chunk, so that none form a group."""
    bought = "bought" in seen.messages[-1]["content"]
    return json.dumps({"facts": ["Ana has a red boat" if bought else "it was fine weather today"]})


def run(llm, rules, **options):
    return retrieve(
        CORPUS, QUERIES, ["anchormem"], depth=5, rules=rules, llm=llm, embedder=Words(), **options
    )


def test_a_store_is_refused_when_empty_or_when_too_much_failed():
    assert "nothing" in refusal(IngestReport(4, 0), 1.0)
    assert refusal(IngestReport(20, 9, 1), 0.05) is None, "5 % is allowed"
    assert "2 of 20" in refusal(IngestReport(20, 9, 2), 0.05)
    assert refusal(IngestReport(0, 3), 0.0) is None, "a system without units cannot fail any"


def test_a_store_is_refused_when_too_many_answers_are_missing():
    def report(**count):
        return IngestReport(20, 9, calls={"cues": CallCount(20, **count), "extract": CallCount(20)})

    assert refusal(report(failed=2, lost=2), 0.05) is None, "5 % of 40"
    assert "3 of 40 answers" in refusal(report(failed=3, lost=3), 0.05)
    assert refusal(report(failed=20), 0.05) is None, "made again, with an answer"
    assert refusal(report(failed=1, lost=1), 0.0) is not None


def test_failed_units_make_queries_unscored_not_zero():
    broken = ScriptedLLM(lambda seen: Outcome("truncated", "cut off"))
    [strict] = run(broken, Rules())
    assert "failed while storing" in strict.refused["hand"]
    items = score_rankings("hand", [strict], ks=[1])
    assert items["value"].isna().all()
    assert items["unscored"].str.contains("units failed").all()
    words = text_recall_items(CORPUS, [strict], ks=[1])
    assert words["value"].isna().all()
    assert words["unscored"].notna().all()
    costs = cost_items("hand", [strict], ks=[1])
    assert costs["count"].isna().all(), "what was not stored costs nothing that is known"
    [lenient] = run(broken, Rules(max_failed=1.0))
    assert not lenient.refused
    assert score_rankings("hand", [lenient], ks=[1])["value"].notna().all()


def test_calls_that_are_not_on_record_stop_a_run_or_leave_a_conversation_out():
    with connect(LLMSettings.of("nobody"), "replay") as llm:
        with pytest.raises(NotRecorded, match="not recorded"):
            run(llm, Rules())
        [ranking] = run(llm, Rules(unrecorded="unscored"))
        assert ranking.refused == {"hand": NOT_RECORDED}
        assert ranking.hits == [[], []]
        assert not ranking.ingests
        items = score_rankings("hand", [ranking], ks=[1])
        assert set(items["unscored"]) == {NOT_RECORDED}
        plan = plan_unrecorded(CORPUS, [ranking], llm=llm, per_system={}, embedder=Words())
        assert plan.to_dict("records") == [
            {
                "system": "anchormem",
                "conversations": 1,
                "calls": 2,  # two chunks
                "input_tokens": plan["input_tokens"][0],
            }
        ]
        assert plan["input_tokens"][0] > 100


def test_keywords_that_are_not_on_record_leave_every_conversation_out():
    """A-MEM asks for the keywords of all queries before it stores anything."""
    options = {"amem": {"analysis": False, "evolution": False}}
    with connect(LLMSettings.of("nobody"), "replay") as llm:
        [ranking] = retrieve(
            CORPUS,
            QUERIES,
            ["amem"],
            depth=5,
            rules=Rules(unrecorded="unscored"),
            per_system=options,
            llm=llm,
            embedder=Words(),
        )
    assert ranking.refused == {"hand": NOT_RECORDED}


def test_options_of_one_system_go_before_the_settings_and_must_exist():
    assert system_options("memora", "locomo-conv", {})["update_threshold"] == 2.0
    assert system_options("memora", "published", {}) == {}
    own = {"memora": {"update_threshold": 0.5}}
    assert system_options("memora", "locomo-conv", own)["update_threshold"] == 0.5
    assert all_options(["bm25"], "locomo-conv", own) == {"bm25": {}}
    with pytest.raises(ConfigError, match="no option 'k3'"):
        create_system("bm25", own={"k3": 1.0})


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", [name for name in SYSTEMS if name != "mem0-package"])
def test_every_system_takes_its_settings(name, settings):
    llm = ScriptedLLM([])
    assert create_system(name, own=system_options(name, settings, {}), llm=llm, embedder=Words())


def test_calls_of_searching_are_counted_apart():
    llm = ScriptedLLM(lambda seen: json.dumps({"keywords": ["boat"]}))
    own = {"amem": {"analysis": False, "evolution": False, "query_mode": "llm_keywords"}}
    rankings = retrieve(
        CORPUS, QUERIES, ["amem"], depth=5, per_system=own, llm=llm, embedder=Words()
    )
    table = phase_costs(rankings)
    assert list(table["phase"]) == ["searching"]
    assert list(table["calls"]) == [2]


def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return RetrievalConfig.of(
        chapter="02_retrieval", systems=["anchormem", "bm25"], top_k=5, ks=[5]
    )


def test_a_look_inside_shows_text_as_text(tmp_path, monkeypatch):
    chosen = config(tmp_path, monkeypatch)
    monkeypatch.setattr("unbidden.memory.modelled.named_embedder", lambda name: Words())
    shown = Inside(CORPUS, chosen, ScriptedLLM(facts))._repr_html_()
    assert "&lt;b&gt;cats" in shown
    assert "<b>cats" not in shown
    assert "Ana has a red boat" in shown
    assert "bm25" not in shown, "its store is the turns themselves"
    with connect(LLMSettings.of("nobody"), "replay") as llm:
        assert "Not run" in Inside(CORPUS, chosen, llm)._repr_html_()


def test_the_tables_of_systems_by_hand(tmp_path, monkeypatch):
    chosen = config(tmp_path, monkeypatch)
    rankings = retrieve(
        CORPUS,
        QUERIES,
        chosen.systems,
        depth=50,
        llm=ScriptedLLM(facts),
        embedder=Words(),
    )
    items = score_rankings("hand", rankings, ks=[5], turn_budgets=[10], token_budgets=[600])
    words = text_recall_items(CORPUS, rankings, ks=[5])
    costs = cost_items("hand", rankings, ks=[5])
    report = SystemsReport(pd.concat([items, words]), costs, rankings, chosen, RunFolder(chosen))
    measures = report.measures_table("tab-m", "c").frame
    assert sorted(measures["row"]) == [
        f"{system}, {measure}"
        for system in ("anchormem", "bm25")
        for measure in ("10 turns", "600 tokens", "at 5")
    ]
    writing = report.writing_table("tab-w", "c").frame
    assert set(writing["prompt"]) == {"anchormem_facts.v1"}
    assert int(writing["calls"].sum()) == 2
    stores = report.stores_table("tab-s", "c").frame.set_index("system")
    assert stores.loc["bm25", "memories"] == 4
    assert stores.loc["bm25", ["refused", "not run"]].tolist() == [0, 0]
    refused = {"here": "3 of 4 units lost", "there": NOT_RECORDED, "elsewhere": NOT_RECORDED}
    kept = replace(rankings[1], refused=refused)
    report = SystemsReport(items, costs, [kept], chosen, RunFolder(chosen))
    stores = report.stores_table("tab-s", "c").frame.set_index("system")
    assert stores.loc["bm25", ["refused", "not run"]].tolist() == [1, 2]
    assert report.settings_table("tab-x", "c").frame["model"].tolist() == [
        "qwen2.5-coder-1.5b",
        "none",
    ]
    table = threshold_recall(
        CORPUS,
        QUERIES,
        ["anchormem", "bm25"],
        k=5,
        rules=Rules(),
        per_system={},
        llm=ScriptedLLM(facts),
        embedder=Words(),
    )
    assert set(table["value"]) == {"True", "False"}
    assert np.isfinite(table["recall"]).all()


def test_the_shared_table_leaves_out_conversations_some_system_lacks(tmp_path, monkeypatch):
    chosen = config(tmp_path, monkeypatch)
    values = {
        ("bm25", "c1"): 1.0,
        ("bm25", "c2"): 0.0,
        ("anchormem", "c1"): 0.5,
        ("anchormem", "c2"): None,
        ("nemori", "c1"): None,
        ("nemori", "c2"): None,
    }
    rows = [
        {"system": system, "conversation": conversation, "value": value}
        for (system, conversation), value in values.items()
    ]
    items = pd.DataFrame(rows).assign(
        metric="recall_tokens", k=600, style="implicit", category=1, query_id="q"
    )
    report = SystemsReport(items, pd.DataFrame(), [], chosen, RunFolder(chosen))
    assert report.shared() == ["c1"]
    assert "this one conversation" in systems_numbers(chosen, [], ["c1"])["shared_note"]
    assert systems_numbers(chosen, [], ["c1", "c2"])["shared_note"] == ""
    everything = report.measures_table("tab-m", "c").frame.set_index("row")
    assert everything.loc["bm25, 600 tokens", "implicit"].startswith("50.0")
    shared = report.measures_table("tab-n", "c", shared=True).frame.set_index("row")
    assert shared.loc["bm25, 600 tokens", "implicit"].startswith("100.0")
    assert shared.loc["anchormem, 600 tokens", "implicit"].startswith("50.0")
    assert not any("nemori" in row for row in shared.index), "it has no value anywhere"
    assert report.left_out() == []
