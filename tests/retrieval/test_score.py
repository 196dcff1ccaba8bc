"""Scores against values verified by hand, and properties of the metrics."""

import datetime as dt
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unbidden.errors import ConfigError, DataError
from unbidden.memory.protocol import IngestReport, Retrieved, SystemInfo
from unbidden.queries.build import Query
from unbidden.retrieval.run import Rankings, retrieve
from unbidden.retrieval.score import (
    BUDGET_NOT_FILLED,
    ITEM_COLUMNS,
    NO_GOLD,
    NO_PROVENANCE,
    score_rankings,
)

INFO = SystemInfo("hand", "this test", False, "exact", "none")
WHEN = dt.datetime(2023, 5, 8)


def query(gold, name="c#0", category=4):
    return Query(name, "c", "question", "?", category, (0,), frozenset(gold))


def hit(*sources, text="two words", score=1.0):
    return Retrieved(text, tuple(sources), score, WHEN)


def scored(queries, hits, info=INFO, ks=(1, 2, 3), **budgets):
    depth = max(len(h) for h in hits) if hits else 1
    ranking = Rankings("hand", info, max(depth, *ks), queries, hits, {"c": IngestReport(9, 9)})
    items = score_rankings("toy", [ranking], ks=ks, **budgets)
    assert list(items.columns) == ITEM_COLUMNS
    return items


def value(items, metric, k):
    (found,) = items[(items["metric"] == metric) & (items["k"] == k)]["value"]
    return found


def test_by_hand():
    # gold a, b; returned x, a, (b and y together)
    items = scored([query("ab")], [[hit("x"), hit("a"), hit("b", "y")]])
    assert [value(items, "recall", k) for k in (1, 2, 3)] == [0, 0.5, 1]
    assert [value(items, "precision", k) for k in (1, 2, 3)] == pytest.approx([0, 1 / 2, 2 / 4])
    assert value(items, "f1", 3) == pytest.approx(2 * 0.5 / 1.5)
    assert [value(items, "all_hit", k) for k in (1, 2, 3)] == [0, 0, 1]
    assert [value(items, "mrr", k) for k in (1, 2, 3)] == [0, 0.5, 0.5]
    ideal = 1 + 1 / np.log2(3)
    assert value(items, "ndcg", 3) == pytest.approx((1 / np.log2(3) + 1 / np.log2(4)) / ideal)


def test_budgets_by_hand():
    items = scored(
        [query("ab")],
        [[hit("a", "x"), hit("b", text="five words are in here")]],
        turn_budgets=(1, 2, 3),
        token_budgets=(1, 2, 6, 7),
    )
    assert [value(items, "recall_turns", k) for k in (1, 2, 3)] == [0, 0.5, 1]
    assert [value(items, "recall_tokens", k) for k in (1, 2, 6, 7)] == [0, 0.5, 0.5, 1]


def test_a_budget_that_the_ranking_does_not_fill_is_unscored():
    hits = [[hit("x"), hit("a")]]  # two words each, and the ranking was cut at two memories
    items = scored([query("ab")], hits, ks=(1, 2), token_budgets=(4, 5), turn_budgets=(3,))
    assert value(items, "recall_tokens", 4) == 0.5
    for metric, budget in (("recall_tokens", 5), ("recall_turns", 3)):
        (row,) = items[(items["metric"] == metric) & (items["k"] == budget)].to_dict("records")
        assert np.isnan(row["value"])
        assert row["unscored"] == BUDGET_NOT_FILLED
    complete = scored([query("a")], [[hit("a"), hit("x")]], ks=(1, 2), token_budgets=(5,))
    assert value(complete, "recall_tokens", 5) == 1  # more could not change it


def test_a_query_that_finds_nothing_scores_0_and_one_without_gold_is_unscored():
    items = scored([query("a"), query("", "c#1")], [[], []], turn_budgets=(5,))
    nothing = items[items["query_id"] == "c#0"]
    assert (nothing["value"] == 0).all()
    assert nothing["unscored"].isna().all()
    empty = items[items["query_id"] == "c#1"]
    assert empty["value"].isna().all()
    assert (empty["unscored"] == NO_GOLD).all()


def test_a_system_without_provenance_is_not_available():
    items = scored([query("a")], [[hit()]], info=replace(INFO, provenance="none"))
    assert items["value"].isna().all()
    assert (items["unscored"] == NO_PROVENANCE).all()


def test_equal_turn_ids_of_two_conversations_stay_apart():
    other = Query("d#0", "d", "question", "?", 4, (0,), frozenset("b"))
    items = scored([query("a"), other], [[hit("a")], [hit("a")]], ks=(1,))
    assert list(items[items["metric"] == "recall"]["value"]) == [1, 0]


def test_composed_queries_have_no_category():
    composed = replace(query("a"), category=None)
    assert scored([composed], [[hit("a")]], ks=(1,))["category"].isna().all()


TURNS = st.sampled_from("abcdefg")
HITS = st.lists(st.lists(TURNS, min_size=1, max_size=3, unique=True), max_size=6)


@settings(deadline=None)
@given(st.sets(TURNS, min_size=1), HITS)
def test_bounds_and_growth(gold, sources):
    hits = [hit(*group) for group in sources]
    items = scored([query(gold)], [hits], ks=(1, 2, 3, 7), turn_budgets=(1, 3, 9))
    assert items["value"].between(0, 1).all()
    for metric in ("recall", "all_hit", "recall_turns"):
        rows = items[items["metric"] == metric].sort_values("k")
        assert rows["value"].is_monotonic_increasing
    returned = {source for group in sources for source in group}
    assert value(items, "recall", 7) == pytest.approx(len(returned & gold) / len(gold))


@settings(deadline=None)
@given(st.permutations(range(4)))
def test_only_order_counts_not_score(order):
    same = [hit(turn, score=1.0) for turn in "abcd"]
    apart = [hit(turn, score=float(rank)) for turn, rank in zip("abcd", order, strict=True)]
    pd.testing.assert_frame_equal(scored([query("bd")], [same]), scored([query("bd")], [apart]))


def test_cut_offs_out_of_range():
    with pytest.raises(ConfigError, match="cut-off"):
        scored([query("a")], [[hit("a")]], ks=(0, 1))
    ranking = Rankings("hand", INFO, 2, [query("a")], [[hit("a")]], {})
    with pytest.raises(ConfigError, match="exceeds"):
        score_rankings("toy", [ranking], ks=[3])


class Broken:
    info = INFO
    answer = ()

    def ingest(self, conversation):
        return IngestReport(1, 1)

    def search(self, query, *, k, speaker=None):
        return list(self.answer)


@pytest.fixture
def corpus(write, sample):
    from unbidden.corpus import load_corpus

    return load_corpus(str(write([sample])))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [([hit("D1:1")] * 3, "at most 2"), ([hit("D9:9")], "D9:9")],
)
def test_a_broken_system_stops_the_run(corpus, monkeypatch, answer, expected):
    from unbidden.queries.build import build_queries

    monkeypatch.setattr(Broken, "answer", answer)
    with pytest.raises(DataError, match=expected):
        retrieve(corpus, build_queries(corpus), [f"{__name__}:Broken"], depth=2)


class NoInfo:
    def ingest(self, conversation):
        return IngestReport(1, 1)

    def search(self, query, *, k, speaker=None):
        return []


class Raises(Broken):
    def search(self, query, *, k, speaker=None):
        raise KeyError("lost")


class GivesNone(Broken):
    def search(self, query, *, k, speaker=None):
        return None


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("NoInfo", ConfigError, "without info"),
        ("Raises", DataError, "searching for tiny-1#0 .question.[\\s\\S]*KeyError: 'lost'"),
        ("GivesNone", DataError, "searching for tiny-1#0"),
    ],
)
def test_a_faulty_system_is_named(corpus, name, error, message):
    from unbidden.queries.build import build_queries

    with pytest.raises(error, match=message) as raised:
        retrieve(corpus, build_queries(corpus), [f"{__name__}:{name}"], depth=2)
    assert name in str(raised.value)


def test_nothing_to_ask(corpus):
    with pytest.raises(DataError, match="no query to ask"):
        retrieve(corpus, [], ["bm25"], depth=1)


def test_k_and_systems_out_of_range(corpus):
    from unbidden.queries.build import build_queries

    queries = build_queries(corpus)
    for systems, depth in (([], 1), (["bm25", "bm25"], 1), (["bm25"], 0)):
        with pytest.raises(ConfigError):
            retrieve(corpus, queries, systems, depth=depth)
    (ranking,) = retrieve(corpus, queries, ["bm25"], depth=6)
    assert "everything is returned" in ranking.notes[0]
    assert list(ranking.ingests) == ["tiny-1"]  # taken in once


def test_a_smoke_limit_still_remembers_everything(corpus):
    from unbidden.queries.build import build_queries

    (ranking,) = retrieve(corpus, build_queries(corpus, limit=1), ["bm25"], depth=1)
    assert ranking.ingests["tiny-1"].units == 6


class Wavers(Broken):
    answer = (hit("D1:1"),)
    search_events = {"keywords failed": 2, "never": 0}  # noqa: RUF012

    def ingest(self, conversation):
        return IngestReport(6, 5, failed=1)


def test_what_went_another_way_stands_in_the_notes(corpus):
    from unbidden.queries.build import build_queries

    (ranking,) = retrieve(corpus, build_queries(corpus), [f"{__name__}:Wavers"], depth=2)
    assert "1 of 6 units were lost, in whole or in part, while ingesting" in ranking.notes
    assert "searches: keywords failed (2)" in ranking.notes
    assert not any("never" in note for note in ranking.notes)


GOLD = st.frozensets(st.sampled_from("abcde"), min_size=1)
SOURCES = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), max_size=8)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(GOLD, SOURCES), min_size=1, max_size=3))
def test_measures_are_those_of_ir_measures(cases):
    import ir_measures
    from ir_measures import RR, SetF, SetP, SetR, nDCG

    queries = [query(gold, f"c#{i}") for i, (gold, _) in enumerate(cases)]
    hits = [[hit(*sources) for sources in returned] for _, returned in cases]
    items = scored(queries, hits, ks=(1, 3, 8))
    names = {SetR: "recall", SetP: "precision", SetF: "f1", RR: "mrr", nDCG: "ndcg"}
    for k in (1, 3, 8):
        orders = [dict.fromkeys(s for h in found[:k] for s in h.sources) for found in hits]
        run = {
            f"c#{i}": {turn: float(-rank) for rank, turn in enumerate(order)}
            for i, order in enumerate(orders)
            if order
        }
        qrels = {q.id: dict.fromkeys(q.gold, 1) for q in queries}
        expected = {(q.id, name): 0.0 for q in queries for name in names.values()}
        for found in ir_measures.iter_calc(list(names), qrels, run) if run else ():
            expected[found.query_id, names[found.measure]] = found.value
        mine = items[(items["k"] == k) & items["metric"].isin(names.values())]
        assert len(mine) == len(expected)
        for row in mine.itertuples():
            assert row.value == pytest.approx(expected[row.query_id, row.metric])
