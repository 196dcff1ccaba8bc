import pandas as pd
import pytest

from tests.conftest import ROOT
from unbidden.errors import ConfigError, DataError
from unbidden.report.claims import CLAIMS, evidence_frame, read_evidence, recorded_evidence
from unbidden.report.claims.retrieval import (
    rank_evidence,
    run_evidence,
    style_evidence,
    writers,
)
from unbidden.report.claims.rule import Measured
from unbidden.report.claims.timelines import (
    cost_evidence,
    linking_evidence,
    printed_evidence,
    released_evidence,
)
from unbidden.report.published import published
from unbidden.stats.proportions import difference_of_shares

PART = Measured("teafarm", "own, n", "mine", "m", 0.25, 0.125, 0.5, 40, 4, "07_teafarm", "tab-x")


def items(values):
    """Return recall items: (system, style, query id, value)."""
    return pd.DataFrame(
        [
            {
                **{"conversation": query.split("#")[0], "query_id": query, "style": style},
                **{"category": 4, "system": system, "metric": "recall", "k": 10, "value": value},
            }
            for system, style, query, value in values
        ]
    )


def test_styles_are_paired_by_need_and_composed_ones_with_their_members():
    rows = [
        *(("bm25", "question", f"c#{i}", value) for i, value in enumerate([1.0, 0.5, 1.0])),
        *(("bm25", "dialog", f"c#{i}", value) for i, value in enumerate([0.5, 0.5, 1.0])),
        *(("bm25", "implicit", f"c#{i}", value) for i, value in enumerate([0.0, 0.0])),
        ("bm25", "composed", "c#0+1", 0.25),
        ("amem", "question", "c#0", float("nan")),
    ]
    found = style_evidence(items(rows), dataset="d", table="t", models={})
    by_claim = {part.claim: part for part in found}
    assert {part.part for part in found} == {"bm25"}  # a system that was not run is no evidence
    assert by_claim["recall_dialog"].estimate == pytest.approx(0.5 / 3)
    assert by_claim["recall_implicit"].estimate == 0.5 and by_claim["recall_implicit"].n == 2
    assert by_claim["recall_composed"].estimate == 0.75 - 0.25
    assert by_claim["recall_dialog"].note == "over items of one conversation"


def test_a_ranking_needs_every_rival():
    rows = [(name, "implicit", "c#0", 1.0) for name in ("anchormem", "bm25", "amem")]
    assert rank_evidence(items(rows), dataset="d", table="t", models={}) == []
    found = rank_evidence(
        items([*rows, ("mem0-v2", "implicit", "c#0", 0.5)]), dataset="d", table="t", models={}
    )
    assert [part.estimate for part in found] == [0, 0, 0.5]


def test_a_run_speaks_of_each_system_where_it_is_shown_and_names_who_wrote():
    names = ("anchormem", "bm25", "amem", "mem0-v2", "nemori")
    rows = [
        (name, style, f"{home}#0", value)
        for name in names[:-1]
        for home in "ab"
        for style, value in (("question", 1.0), ("implicit", 0.5))
    ]
    rows += [("nemori", "implicit", "a#0", float("nan"))]
    models = writers([*names, "unbidden"], "big", {"amem": "small"})
    assert models == {"anchormem": "big", "amem": "small", "mem0-v2": "big", "nemori": "big"}
    found = run_evidence(items(rows), dataset="d", models=models)
    shown = {(part.part, part.table, part.model) for part in found}
    assert shown == {
        ("bm25", "tab-drop", "none"),
        ("anchormem", "tab-systems", "big"),
        ("amem", "tab-systems", "small"),
        ("mem0-v2", "tab-systems", "big"),
        *((f"anchormem − {rival}", "tab-systems", "big") for rival in ("bm25", "amem", "mem0-v2")),
    }
    assert run_evidence(items(rows).assign(k=5), dataset="d", models=models) == []


def test_a_system_without_a_model_is_no_evidence_of_one_on_the_recorded_conversation():
    """Its row on conv-26 is of the run without models, and there only once."""
    parts = [part for part in recorded_evidence() if part.chapter == "02_retrieval"]
    own = [(part.claim, part.dataset) for part in parts if part.part == "unbidden"]
    assert own and len(own) == len(set(own))
    assert {part.model for part in parts if part.part == "unbidden"} == {"none"}


def test_released_differences_turn_round_with_the_claim():
    frame = pd.DataFrame(
        [
            {
                **{"dataset": "msc", "first": "msc-retrieval", "metric": "bleu4"},
                **{"difference": -0.5, "low": -1.0, "high": 0.25, "n": 10, "episodes": 2},
            }
        ]
    )
    (one,) = released_evidence(frame, "theanine_replies", sign=1, table="t")
    (other,) = released_evidence(frame, "merging_hurts", sign=-1, table="t")
    assert (one.estimate, one.low, one.high) == (-0.5, -1.0, 0.25)
    assert (other.estimate, other.low, other.high) == (0.5, -0.25, 1.0)


def test_a_cost_that_is_a_bound_is_no_count():
    costs = pd.DataFrame(
        {
            "arm": ["theanine", "msc-retrieval", "memory-update"],
            "input_tokens": [100, 20, 300],
            "bound": [None, None, "at most"],
        }
    )
    over, under = cost_evidence(costs, dataset="d", model="m")
    assert over.estimate == 0.8 and over.exact
    assert under.estimate == 2.0 and not under.exact and "at most" in under.note
    assert cost_evidence(costs[:2], dataset="d", model="m") == []


def test_linking_saves_over_all_conversations():
    (part,) = linking_evidence(
        pd.DataFrame({"pairs": [10, 30], "saved": [5, 15]}), dataset="harbour", model="m"
    )
    assert part.estimate == 0.5
    assert (
        linking_evidence(pd.DataFrame({"pairs": [0], "saved": [0]}), dataset="d", model="m") == []
    )


def test_the_printed_shares_of_teafarm():
    by_data = {part.dataset: part for part in printed_evidence(published("theanine"))}
    cc = by_data["Conversation Chronicles"]
    assert cc.part == "24 and 19 of 100" and cc.estimate == pytest.approx(0.05)
    assert cc.low < 0 < cc.high
    assert by_data["turns chosen by hand"].part == "36 and 34 of 50"


def test_newcombe_refuses_what_is_no_share():
    with pytest.raises(ConfigError, match="share"):
        difference_of_shares(3, 2, 0, 1)


def test_evidence_comes_back_as_it_was_written(tmp_path):
    path = tmp_path / "07_teafarm" / "tables" / "evidence.csv"
    path.parent.mkdir(parents=True)
    bare = Measured("teafarm", "p", "mine", "m", None, None, None, 0, 0, "07_teafarm", "tab-x")
    evidence_frame([PART, bare]).to_csv(path, index=False)
    assert read_evidence(path) == [PART, bare]
    few = ["claim", "part", "dataset", "model", "estimate", "low", "high", "n", "clusters", "table"]
    pd.read_csv(path)[few].to_csv(path, index=False)
    assert read_evidence(path)[0] == PART  # the chapter is the folder's


def test_evidence_of_another_form_is_refused(tmp_path):
    path = tmp_path / "evidence.csv"
    frame = evidence_frame([PART])
    frame.assign(claim="teafram").to_csv(path, index=False)
    with pytest.raises(DataError, match="unknown claim"):
        read_evidence(path)
    frame.drop(columns="low").to_csv(path, index=False)
    with pytest.raises(DataError, match="no table of evidence"):
        read_evidence(path)


def test_the_recorded_runs_speak_of_known_claims(monkeypatch):
    monkeypatch.chdir(ROOT)
    found = recorded_evidence()
    assert {part.claim for part in found} <= set(CLAIMS)
    assert {"recall_implicit", "theanine_replies", "merging_hurts", "teafarm"} <= {
        part.claim for part in found
    }
    here = {(part.chapter, part.dataset) for part in found}
    one = next(iter(here))
    left = recorded_evidence(except_for=one)
    assert len(left) <= len(found)
