"""Judges against labels as the chapter shows them."""

import numpy as np
import pandas as pd
import pytest

from tests.conftest import ROOT
from unbidden.config import JudgesConfig
from unbidden.corpus import load_corpus
from unbidden.errors import NotRecorded
from unbidden.judge.labelled import load_items
from unbidden.judge.panel import (
    Run,
    first_of_each,
    run_forms,
    run_on_record,
    run_similarity,
    run_words,
    steadiness,
)
from unbidden.llm import ScriptedLLM
from unbidden.llm.client import connect
from unbidden.llm.session import PlanningLLM
from unbidden.llm.settings import LLMSettings
from unbidden.report import figures
from unbidden.report.judges import runs as judge_runs
from unbidden.report.judges import tables as judges
from unbidden.report.tables import NumberedTable, shown_differences

CORPUS = load_corpus("harbour")
RECORDED = ROOT / "results" / "ledger"
ITEMS = first_of_each(load_items(split="test"), 2)
FACTS = [item for item in ITEMS if item.rubric == "fact_use"]
CONFIG = JudgesConfig.of(chapter="08_judges")
COLUMNS = ["item", "conversation", "rubric", "part", "split", "tags", "gold", "judged", "unscored"]


def frame(*rows):
    """Return verdicts: rows of item, tags, gold and judged, on two conversations in turn."""
    found = []
    for number, (item, tags, gold, judged) in enumerate(rows):
        why = "down" if judged is None else None
        found.append([item, "ab"[number % 2], "trap", "", "test", tags, gold, judged, why])
    return pd.DataFrame(found, columns=COLUMNS)


MIXED = frame(
    ("t1", "words-mislead number", "yes", "no"),
    ("t2", "words-mislead", "no", None),
    ("t3", "number", "yes", "yes"),
    ("t4", "", "no", "no"),
)


def test_the_first_of_each_label_are_kept_in_their_order():
    few = first_of_each(load_items(), 1)
    assert len({(item.rubric, item.label) for item in few}) == len(few)
    assert first_of_each(load_items(), None) == load_items()
    assert [i.id for i in few] == [i.id for i in load_items() if i in few]


def test_unscored_is_not_wrong():
    found = judges.accuracy(MIXED)
    assert (found["items"], found["unscored"]) == (4, 1)
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert 0 <= found["low"] <= found["high"] <= 1
    assert judges.accuracy(MIXED[:0])["accuracy"] is None


def test_accuracy_with_and_without_a_tag():
    table = judges.misled({"word rule": MIXED}).set_index(["rubric", "tagged"])
    assert table.loc[("trap", True), "accuracy"] == 0
    assert table.loc[("trap", False), "accuracy"] == 1
    assert table.loc[("all", True), "unscored"] == 1
    shown = judges.shown_misled(judges.misled({"word rule": MIXED}))
    assert shown["rubric"].tolist() == ["trap", "all"]
    assert shown["words-mislead, n"].tolist() == [2, 2]
    assert judges.shown_misled(judges.misled({"word rule": MIXED[2:]})).empty


def test_confusions_and_tags():
    always = MIXED.assign(judged="yes")
    other = MIXED.assign(rubric="unsupported", judged=MIXED["gold"])
    both = {"word rule": MIXED, "model": pd.concat([always, other])}
    shown = judges.shown_confusions(both).set_index(["rubric", "label"])
    assert shown.loc[("trap", "yes")].tolist() == [2, 1, "no 1", 2, "–"]
    assert shown.loc[("trap", "no")].tolist() == [2, 1, "(unscored) 1", 0, "yes 2"]
    assert shown.loc[("unsupported", "no")].tolist() == [2, "–", "–", 2, "–"]
    assert list(shown)[1:] == [
        f"{judge}: {what}" for judge in both for what in ("so", "otherwise")
    ], "beside each other"
    tags = judges.shown_tags(MIXED, least=2)
    assert tags.values.tolist() == [["words-mislead", 2, 1, "0.0"], ["number", 2, 0, "50.0"]]


def test_the_labelled_set_and_its_floors():
    shown = judges.shown_labelled(ITEMS).set_index("rubric")
    assert shown.loc["fact_use", "items"] == shown.loc["fact_use", "test"] == 6
    assert shown.loc["trap", "labels"] == "yes 2, no 2"
    words = run_words(ITEMS, CORPUS)
    assert "quality" not in set(words["rubric"])
    table = judges.agreements({"word rule": words, "nobody": words[:0]}, resamples=9)
    assert set(table["judge"]) == {"word rule"}
    text = judges.shown_agreements(table)
    assert len(text) == len(table)
    assert "implicit: fact" in set(text["rubric"])
    assert judges.shown_agreements(judges.agreements({}, resamples=9)).empty


class Same:
    """An embedder to which all texts are alike."""

    def encode(self, texts):
        return np.tile([1.0, 0.0], (len(texts), 1)).astype("float32")


def test_similarity_that_finds_all_alike():
    found = run_similarity(FACTS, Same(), CORPUS)
    assert set(found["judged"]) == {"correct"}
    assert run_similarity([], Same(), CORPUS).empty


def test_what_is_not_on_record_is_counted_and_not_judged(tmp_path):
    with connect(LLMSettings.of("m", "m"), "replay", recorded=tmp_path) as llm:
        runs = run_forms(
            llm, FACTS, forms=["json", "word"], protocols=["repaired", "paper"], corpus=CORPUS
        )
    words = run_words(FACTS, CORPUS)
    assert [(run.calls, run.asked) for run in runs] == [(6, ())] * 4
    assert all(run.input_tokens > 100 for run in runs)
    shown = judge_runs.shown_runs(runs, words)
    assert set(shown["accuracy"]) == {"not run"}
    assert shown["still to ask"].str.startswith("6 calls, some ").all()
    note = judge_runs.judge_note(runs, words, "m")
    assert "No judge by a model is on record" in note
    assert "24 times" in note
    empty = judge_runs.compare_with_words({}, words)
    assert shown_differences(empty, ["judge"]).empty
    assert "nothing to compare" in NumberedTable(empty[:0], "tab", "None.")._repr_markdown_()


def test_another_model_is_shown_as_far_as_it_is_on_record(tmp_path):
    """Never asked: a model without a record is left out, and so are all while planning."""
    small, ways = "qwen2.5-coder-0.5b", {"forms": ["json"], "protocols": ["repaired", "paper"]}
    facts = load_items(split="test", rubrics=["fact_use"])
    with connect(
        LLMSettings.of("m"), "record", ledger=tmp_path / "l.sqlite", recorded=RECORDED
    ) as llm:
        runs = run_on_record(llm, [small, "nobody's"], facts, **ways)
        assert run_on_record(PlanningLLM(llm), [small], facts, **ways) == []
        assert llm.settings.judge.model == "m" and llm.mode == "record"
    assert runs and {run.model for run in runs} == {small}
    assert runs[0].name == f"{small}: json, repaired" and len(runs[0].frame) == len(facts)


def test_a_model_that_cannot_plan_says_what_is_missing(monkeypatch):
    def missing(*args, **options):
        raise NotRecorded("nothing", next_step="record")

    monkeypatch.setattr("unbidden.judge.panel.run_judge", missing)
    with pytest.raises(NotRecorded):
        run_forms(ScriptedLLM([]), FACTS, forms=["json"], protocols=["paper"], corpus=CORPUS)


def test_a_judge_on_record_is_compared_and_the_best_is_named():
    words = run_words(FACTS, CORPUS)
    words.loc[:1, "judged"] = "another"
    right = words.assign(judged=words["gold"], unscored=None)
    wrong = words.assign(judged="none of them")
    runs = [
        Run("m", "repaired", "json", right, ("fact_use",), ("fact_use",), 0, 0),
        Run("m", "paper", "word", wrong, ("fact_use",), ("fact_use",), 0, 0),
        Run("m", "paper", "json", words[:0], ("fact_use",), (), 6, 900),
    ]
    numbers = judge_runs.judge_numbers(ITEMS, CONFIG, words, runs)
    assert "Of 2 judges by a model" in numbers["judge_note"]
    assert (
        "m: json, repaired agrees with most labels: 100.0 % of the 6 replies"
        in numbers["judge_note"]
    )
    assert numbers["best_judge"] == "m: json, repaired"
    shown = judge_runs.shown_runs(runs, words)
    assert shown["accuracy"].tolist() == ["100.0 [100.0, 100.0]", "0.0 [0.0, 0.0]", "not run"]
    compared = judge_runs.compare_with_words({run.name: run.frame for run in runs[:2]}, words)
    assert compared["n"].tolist() == [6, 6]
    assert compared["difference"].iloc[0] > 0 > compared["difference"].iloc[1]
    assert set(judge_runs.all_items({"a": words, "b": words[:0]})["judge"]) == {"a"}


def a_run(frame, *, form="json"):
    """Return a run of a model about the rubrics of a frame."""
    rubrics = tuple(dict.fromkeys(frame["rubric"]))
    return Run("m", "repaired", form, frame, rubrics, rubrics, 0, 0)


def test_model_and_word_rule_are_compared_on_what_both_scored():
    """Equal to the rule wherever that has a verdict, wrong on quality: not below the floor."""
    words = run_words(FACTS, CORPUS)
    words.loc[:1, "judged"] = "another"
    words.loc[2, ["judged", "unscored"]] = [None, "no rule"]
    own = words.assign(judged=words["judged"].fillna("another"), unscored=None)
    quality = own.assign(rubric="quality", item="q" + own["item"], judged="wrong", gold="right")
    run = a_run(pd.concat([own, quality], ignore_index=True))
    shown = judge_runs.shown_runs([run], words).iloc[0]
    assert (shown["n"], shown["both scored"]) == (12, 5)
    assert shown["accuracy"].startswith("25.0 ") and shown["accuracy there"].startswith("60.0 ")
    assert shown["accuracy there"] == shown["word rule there"]
    note = judge_runs.judge_note([run], words, "m")
    assert "60.0 % of the 5 replies" in note and "word rule agrees with 60.0 %" in note
    better = own.assign(judged=words["gold"])
    run = a_run(pd.concat([better, quality], ignore_index=True))
    assert "above that floor" not in judge_runs.judge_note([run], words, "m")
    compared = judge_runs.compare_with_words({"m": run.frame}, words)
    assert compared["n"].tolist() == [5]


def test_what_is_unscored_makes_no_judge_the_best():
    """Right on 1 of 6 with 5 unscored: no candidate, whatever its accuracy; 5 of 6 are enough."""
    words = run_words(FACTS, CORPUS)
    words.loc[:1, "judged"] = "another"
    few = words.assign(judged=words["gold"]).assign(unscored=None)
    few.loc[1:, ["judged", "unscored"]] = [None, "timeout: slow"]
    most = words.assign(judged=words["gold"], unscored=None)
    most.loc[:0, ["judged", "unscored"]] = [None, "timeout: slow"]
    most.loc[1:1, "judged"] = "another"
    runs = [a_run(few), a_run(most, form="word")]
    assert judge_runs.best_run(runs, words).form == "word"
    assert "Of 1 judges by a model, m: word" in judge_runs.judge_note(runs, words, "m")
    assert "80.0 % of the 5 replies" in judge_runs.judge_note(runs, words, "m")
    assert judge_runs.best_run(runs[:1], words) is None
    assert "none has a verdict on 80 %" in judge_runs.judge_note(runs[:1], words, "m")


def test_a_run_that_only_plans_names_no_judge():
    words = run_words(FACTS, CORPUS)
    planned = words.assign(judged=None, unscored="planned")
    runs = [Run("m", "repaired", "json", planned, ("fact_use",), ("fact_use",), 0, 0)]
    assert "No judge by a model" in judge_runs.judge_note(runs, words, "m")
    assert judge_runs.shown_runs(runs, words)["accuracy"].tolist() == ["–"]


def test_a_scripted_model_is_judged_like_any():
    llm = ScriptedLLM(['{"use": "correct"}'] * len(FACTS))
    (run,) = run_forms(llm, FACTS, forms=["json"], protocols=["repaired"], corpus=CORPUS)
    assert run.asked == ("fact_use",)
    assert judges.accuracy(run.frame)["accuracy"] == pytest.approx(1 / 3)


PAIRS = [item for item in ITEMS if item.rubric == "pairwise"]


def test_a_judge_that_keeps_the_place_is_not_steady():
    llm = ScriptedLLM(['{"better": "first"}'] * 2 * len(PAIRS))
    (row,) = steadiness(llm, PAIRS, corpus=CORPUS).shares.to_dict("records")
    assert (row["changed"], row["items"], row["unscored"], row["same"]) == ("order", 6, 0, 0.0)
    assert (row["low"], row["kept_first"], row["kept_second"]) == (0.0, 1.0, 0.0)
    llm = ScriptedLLM(['{"use": "wrong"}'] * 2 * len(FACTS) + ["no object"] * len(FACTS))
    found = steadiness(llm, FACTS, corpus=CORPUS)
    assert found.shares.iloc[0][["changed", "unscored"]].tolist() == ["wording", 6]
    shown = judge_runs.shown_steadiness(found.shares)
    assert shown.iloc[0].tolist() == ["wording", "fact_use", 6, 6, "–", "–", "–", "–"]
    answers = ["wrong"] * len(FACTS) + ["partial"] * len(FACTS) + ["wrong"] * len(FACTS)
    found = steadiness(
        ScriptedLLM([f'{{"use": "{answer}"}}' for answer in answers]), FACTS, corpus=CORPUS
    )
    shown = judge_runs.shown_steadiness(found.shares).iloc[0].tolist()
    assert shown == ["wording", "fact_use", 6, 0, "0.0 [0.0, 0.0]", "–", "–", "–"]
    wordings = judge_runs.shown_wordings(found.wordings)
    assert wordings["mean score"].tolist() == ["0.0 [0.0, 0.0]", "50.0 [50.0, 50.0]",
                                               "0.0 [0.0, 0.0]"]  # fmt: skip
    assert wordings["n"].tolist() == [6, 6, 6] and wordings["unscored"].tolist() == [0, 0, 0]


def test_steadiness_that_is_not_on_record(tmp_path):
    with connect(LLMSettings.of("m", "m"), "replay", recorded=tmp_path) as llm:
        found = steadiness(llm, [*FACTS, *PAIRS], corpus=CORPUS)
    shown = judge_runs.shown_steadiness(found.shares)
    assert shown["same verdict"].tolist() == ["not run", "not run"]
    assert shown["still to ask"].tolist() == ["12 calls", "18 calls"]
    assert judge_runs.shown_wordings(found.wordings).empty


def test_the_figure_draws_every_kind_and_judge():
    found = pd.DataFrame(
        [
            {"judge": judge, "kind": kind, "accepted": 0.5, "low": 0.4, "high": 0.6}
            for judge in ("votes", "words")
            for kind in ("wrong", "real")
        ]
    )
    (axes,) = figures.accepted_answers(found).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["wrong", "real"]
    assert axes.yaxis_inverted()
    assert axes.get_legend_handles_labels()[1] == ["votes", "words"]


def test_accuracies_stand_in_a_grid_by_rubric():
    """Parts and other wordings are left out; a rubric a judge was not asked about has a dash."""
    row = {"part": "", "items": 4, "accuracy": 0.5, "accuracy_low": 0.25, "accuracy_high": 0.75}
    table = pd.DataFrame(
        [
            row | {"judge": "m: json, repaired", "rubric": "trap"},
            row | {"judge": "m: json, repaired", "rubric": "composed"},
            row | {"judge": "m: json, repaired", "rubric": "composed", "part": "1"},
            row | {"judge": "m: word, repaired", "rubric": "trap", "accuracy": 1.0},
            row | {"judge": "m: json, paper", "rubric": "trap"},
        ]
    )
    shown = judges.shown_grid(table, "repaired").set_index("rubric")
    assert list(shown.columns) == ["n", "m: json", "m: word"] and list(shown.index) == [
        "trap",
        "composed",
    ]
    assert (
        shown.loc["trap", "m: word"].startswith("100.0") and shown.loc["composed", "m: word"] == "–"
    )
    assert judges.shown_grid(table, "other").empty
    table = table.assign(kappa=-0.004, kappa_low=-0.25, kappa_high=0.5)
    kappas = judges.shown_grid(table, "repaired", "kappa").set_index("rubric")
    assert kappas.loc["trap", "m: json"] == "0.00 [−0.25, 0.50]"
