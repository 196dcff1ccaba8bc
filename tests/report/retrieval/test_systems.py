"""Systems side by side: their tables, the figure, what the shared rows are over, a look inside."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex

from tests.memory.hand import Words
from tests.retrieval.boat import CORPUS, QUERIES, facts
from unbidden.config import RetrievalConfig
from unbidden.llm import LLMSettings, ScriptedLLM, connect
from unbidden.report.figures import recall_by_system
from unbidden.report.folder import RunFolder
from unbidden.report.headline import systems_numbers
from unbidden.report.retrieval.inside import Inside
from unbidden.report.retrieval.systems import SystemsReport, phase_costs
from unbidden.retrieval import Rules, cost_items, retrieve, score_rankings, text_recall_items
from unbidden.retrieval.run import NOT_RECORDED
from unbidden.retrieval.sensitivity import threshold_recall


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
        "no model",
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


def test_the_figure_names_each_row_and_colours_by_who_wrote_the_memories():
    recall = {("plain", "question"): 0.2, ("plain", "implicit"): 0.5}
    recall |= {("told", "question"): 0.9, ("told", "implicit"): 0.1}
    recall |= {("small", "question"): 0.3, ("small", "implicit"): 0.7}
    rows = [
        {"system": system, "style": style, "mean": mean, "low": mean - 0.1, "high": mean + 0.05}
        for (system, style), mean in recall.items()
    ]
    wrote = {"plain": "no model", "told": "big", "small": "no model"}
    figure = recall_by_system(pd.DataFrame(rows), measure="Recall within 600 tokens", wrote=wrote)
    panels = figure.axes
    assert [axes.get_title() for axes in panels] == ["question", "implicit"]
    names = [label.get_text() for label in panels[0].get_yticklabels()]
    assert names == ["small", "plain", "told"], "the best by the implied need first"
    drawn = {}
    for place, axes in enumerate(panels):
        for bars in axes.containers:
            points, _, (intervals,) = bars
            for x, y, ends in zip(*points.get_data(), intervals.get_segments(), strict=True):
                style = ("question", "implicit")[place]
                assert x == 100 * recall[names[int(y)], style]
                assert np.allclose(ends[:, 0], [x - 10, x + 5])
                drawn[names[int(y)], style] = (bars.get_label(), to_hex(points.get_color()))
    assert set(drawn) == set(recall), "every mean is drawn once"
    assert {system: label for (system, _), (label, _) in drawn.items()} == wrote
    assert len({colour for label, colour in drawn.values() if label == "no model"}) == 1
    assert len({colour for _, colour in drawn.values()}) == 2


def test_rows_of_the_figure_follow_the_first_style_where_none_is_implied():
    rows = pd.DataFrame([("a", 0.1), ("b", 0.2)], columns=["system", "mean"]).assign(
        style="question", low=np.nan, high=np.nan
    )
    figure = recall_by_system(rows, measure="Recall", wrote={"a": "no model", "b": "no model"})
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["b", "a"]


def test_the_text_names_systems_that_were_not_run_on_every_conversation(tmp_path, monkeypatch):
    chosen = config(tmp_path, monkeypatch)
    rankings = retrieve(
        CORPUS, QUERIES, chosen.systems, depth=5, llm=ScriptedLLM(facts), embedder=Words()
    )
    made = next(ranking for ranking in rankings if ranking.system == "anchormem")
    gap = {"there": NOT_RECORDED}

    def said(ranking):
        return systems_numbers(chosen, [ranking], ["hand"])["model_note"]

    assert said(made).endswith("All of them were run.")
    partly = said(replace(made, refused=gap))
    assert partly.endswith("Not run on every conversation: anchormem.")
    assert said(replace(made, refused=gap, ingests={})).endswith("Not run: anchormem.")
