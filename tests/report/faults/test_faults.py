"""The fault ledger: switches measured by hand, rows that have no value, recorded rows."""

import dataclasses

import pandas as pd
import pytest

from unbidden.config import AblationsConfig
from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError, NotRecorded
from unbidden.llm import ScriptedLLM
from unbidden.report.ablations.recorded import recorded_faults
from unbidden.report.faults import FAULTS, Context, measure_faults
from unbidden.report.faults.ledger import (
    COLUMNS,
    headlines,
    is_measured,
    measured_switches,
    with_recorded,
)
from unbidden.report.faults.shown import (
    change,
    fault_numbers,
    forest,
    shown_effects,
    shown_ledger,
    shown_reasons,
)

ON_CORPUS = [name for name, fault in FAULTS.items() if fault.data == "corpus"]
HARBOUR = load_corpus("harbour", conversations=["harbour-1", "harbour-2", "harbour-3"])


def never(seen):
    raise NotRecorded("1 model call is not recorded")


def config(**more):
    return AblationsConfig.of(chapter="04_ablations", **more)


def measured(*names, corpus=HARBOUR, llm=None, **more):
    return measure_faults(corpus, llm or ScriptedLLM(never), config(faults=list(names), **more))


@pytest.fixture(scope="module")
def whole():
    """Every switch of the conversations but the one that needs an embedder."""
    return measured(*[name for name in ON_CORPUS if name != "fusion-key"], limit=25)


@pytest.mark.parametrize("name", [name for name in ON_CORPUS if name != "fusion-key"])
def test_every_switch_of_the_conversations_is_measured(whole, name):
    rows = whole[whole["fault"] == name]
    assert is_measured(rows).all() and (rows["n"] > 0).all()
    assert (rows["first"] != rows["second"]).all()
    inside = rows.dropna(subset=["low"])
    assert (inside["low"] <= inside["difference"] + 1e-12).all()
    assert (inside["difference"] <= inside["high"] + 1e-12).all()
    shares = rows[(rows["unit"] == "share") & rows["before"].notna()]
    gaps = shares["after"] - shares["before"]
    assert not (gaps - shares["difference"]).abs().gt(1e-9).any()


def test_counts_of_the_hand_made_conversation(write, sample):
    """Four questions of category 1 to 4, one of them without evidence; one of category 5."""
    corpus = load_corpus(str(write([sample])))
    found = measured("category-5", "unscored-as-zero", corpus=corpus, styles=["question"])
    five, empty = (
        found[found["fault"] == name].iloc[0] for name in ("category-5", "unscored-as-zero")
    )
    assert (five["n"], empty["n"]) == (4, 4), "three questions with evidence, and one more each"
    assert five["before"] == empty["before"]
    assert empty["after"] == pytest.approx(0.75 * empty["before"]), "three thirds over four"
    credit = measured("provenance-credit", corpus=corpus, styles=["question"], top_k=1).iloc[0]
    assert credit["after"] >= credit["before"]


def test_captions_in_the_oracle_by_hand(write, sample):
    sample["qa"] = [
        {
            "question": "Who stood on the pier?",
            "answer": "a man",
            "evidence": ["D1:3"],
            "category": 4,
        }
    ]
    corpus = load_corpus(str(write([sample])))
    row = measured("captions-in-oracle", corpus=corpus).iloc[0]
    assert (row["before"], row["after"]) == (0.0, 1.0)


def test_sessions_by_name_put_the_tenth_before_the_second(write, sample):
    talk = sample["conversation"]
    long = "word " * 1_200
    for number in range(2, 11):
        talk[f"session_{number}_date_time"] = f"1:00 pm on {number} June, 2023"
        turn = {"speaker": "Ana", "dia_id": f"D{number}:1", "text": f"{long} {number}"}
        talk[f"session_{number}"] = [turn]
    sample["qa"] = [
        {"question": "Last?", "answer": "10", "evidence": ["D10:1"], "category": 4},
    ]
    row = measured("session-order", corpus=load_corpus(str(write([sample])))).iloc[0]
    assert (row["before"], row["after"]) == (1.0, 0.0)


def test_what_is_not_on_record_says_so_and_does_not_count():
    found = measured("refinement-mode", "rewrite-parser", "reply-length", "answer-key")
    assert not is_measured(found).any() and measured_switches(found) == []
    assert found["unscored"].str.contains("not run|real data").all()
    assert found["difference"].isna().all()
    shown = shown_ledger(found)
    assert shown["change"].str.contains("not run|real data").all()
    assert shown_effects(found).empty


def test_the_parser_of_facets_is_a_switch_on_recorded_rewrites():
    llm = ScriptedLLM(lambda seen: "1. kitchen\n2. 7 June")
    found = measured("rewrite-parser", "rewrite-message", llm=llm, queries_per_style=2)
    assert is_measured(found).all() and set(found["fault"]) == {"rewrite-parser", "rewrite-message"}
    assert (found["clusters"] > 2).all(), "items are clustered by need"


def test_an_unknown_switch_names_the_nearest():
    with pytest.raises(ConfigError, match="category-5"):
        measured("category-6")


def rows(*values):
    base = dict.fromkeys(COLUMNS)
    return pd.DataFrame(
        [{**base, "unscored": "", "unit": "share", "n": 1, **row} for row in values]
    )


def test_recorded_rows_stand_behind_live_ones_and_replace_mere_pointers():
    live = rows(
        {"fault": "category-5", "dataset": "harbour", "measure": "m", "difference": 0.1},
        {"fault": "reply-length", "dataset": "–", "measure": "–", "unscored": "see the recorded"},
        {"fault": "bleu-form", "dataset": "–", "measure": "–", "unscored": "see the recorded"},
    )
    old = rows(
        {"fault": "category-5", "dataset": "harbour", "measure": "m", "difference": 0.2},
        {"fault": "category-5", "dataset": "locomo", "measure": "m", "difference": 0.3},
        {"fault": "reply-length", "dataset": "cc", "measure": "m", "difference": 0.4},
    )
    both = with_recorded(live, old)
    assert list(zip(both["fault"], both["dataset"], both["when"], strict=True)) == [
        ("category-5", "harbour", "this run"),
        ("category-5", "locomo", "recorded"),
        ("reply-length", "cc", "recorded"),
        ("bleu-form", "–", "this run"),
    ]
    assert both["difference"].tolist()[:3] == [0.1, 0.3, 0.4]
    assert len(headlines(both)) == 4
    assert (with_recorded(live, None)["when"] == "this run").all()


@pytest.mark.parametrize(
    ("unit", "triple", "text"),
    [
        ("share", (0.123, 0.1, 0.2), "12.3 [10.0, 20.0]"),
        ("points", (-1.26, -2.0, -0.5), "−1.3 [−2.0, −0.5]"),
        ("count", (1.0, None, None), "1.0"),
        ("ratio", (0.5, 0.2, 1.0), "× 1.5 [1.2, 2.0]"),
    ],
)
def test_a_change_is_shown_in_its_unit(unit, triple, text):
    row = dict(zip(("difference", "low", "high"), triple, strict=True))
    assert change({**row, "unit": unit, "unscored": ""}) == text


def test_the_forest_has_a_line_for_each_switch_in_points(whole):
    figure = forest(with_recorded(whole, None))
    drawn = whole[whole["unit"].isin(["share", "points"])]["fault"].nunique()
    assert len(figure.axes[0].get_yticks()) == drawn
    numbers = fault_numbers(whole, with_recorded(whole, None))
    assert int(numbers["switches_measured"]) == whole["fault"].nunique()
    assert numbers["fault_category-5_harbour"].count("[") == 1


def test_every_switch_has_a_reason_a_place_and_its_own_name():
    assert all(f.name == name and f.why.endswith(".") and f.source for name, f in FAULTS.items())
    assert len(shown_reasons()) == len(FAULTS) >= 20
    assert {field.name for field in dataclasses.fields(Context)} >= {"corpus", "config", "llm"}


def test_at_least_sixteen_switches_are_on_record():
    found = recorded_faults()
    assert found is not None, "results/recorded/faults is in the repository"
    assert len(measured_switches(found)) >= 16
    assert {"locomo", "locomo-audit", "msc", "cc"} <= set(found["dataset"])


@pytest.mark.realdata
@pytest.mark.parametrize(
    "names",
    [
        (
            "evidence-repair",
            "category-5",
            "category-map",
            "provenance-credit",
            "captions-in-oracle",
        ),
        ("reply-length", "comedy-cleaning", "bleu-form"),
        ("answer-key", "citations", "judge-votes"),
    ],
    ids=["locomo", "release", "audit"],
)
def test_the_recorded_rows_come_again(real_data, names):
    corpus = load_corpus("locomo")
    now = measured(*names, corpus=corpus, real="measure")
    key = ["fault", "dataset", "measure", "first", "second"]
    old = recorded_faults().merge(now, on=key, suffixes=("", "_now"))
    assert len(old) == len(now)
    for column in ("difference", "low", "high"):
        gap = (old[column].astype(float) - old[f"{column}_now"].astype(float)).abs()
        assert gap.max() < 1e-9
