"""Budgets with coarse memories, costs, and recall by words, verified by hand."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.retrieval.test_score import INFO, hit, query, scored, value
from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError
from unbidden.memory.protocol import IngestReport
from unbidden.memory.tokens import count_tokens
from unbidden.retrieval import Rankings, cost_items, text_recall_items
from unbidden.retrieval.cost import COST_COLUMNS
from unbidden.retrieval.score import ITEM_COLUMNS, NO_GOLD, NO_PROVENANCE
from unbidden.retrieval.textmatch import NO_WORDS

EPISODE = hit(*"abcde", text="five turns told in six words")


def ranking(queries, hits, info=INFO):
    return Rankings("hand", info, 6, queries, hits, {"c": IngestReport(9, 9)})


def counts(table, metric):
    rows = table[table["metric"] == metric].sort_values("k")
    return list(rows["count"])


def test_a_memory_that_overshoots_is_not_counted_and_ends_the_run():
    hits = [[hit("x"), EPISODE, hit("y")]]
    items = scored([query("ay")], hits, turn_budgets=(1, 5, 6, 7), token_budgets=(2, 7, 8, 10))
    assert [value(items, "recall_turns", k) for k in (1, 5, 6, 7)] == [0, 0, 0.5, 1]
    assert [value(items, "recall_tokens", k) for k in (2, 7, 8, 10)] == [0, 0, 0.5, 1]
    assert value(items, "recall", 2) == 0.5


def test_an_episode_first_leaves_a_small_budget_empty():
    items = scored([query("a")], [[EPISODE, hit("a")]], turn_budgets=(4, 5))
    assert [value(items, "recall_turns", k) for k in (4, 5)] == [0, 1]


def test_turns_already_covered_are_free_but_their_tokens_are_not():
    items = scored([query("b")], [[hit("a"), hit("a"), hit("b")]], turn_budgets=(2,))
    assert value(items, "recall_turns", 2) == 1
    table = cost_items("toy", [ranking([query("b")], [[hit("a"), hit("a"), hit("b")]])], ks=(1, 2))
    assert counts(table, "turns_covered") == [1, 1]
    assert counts(table, "tokens_shown") == [2, 4]


def test_costs_by_hand():
    rankings = [ranking([query(""), query("a", "c#1")], [[EPISODE, hit("a", "x")], []])]
    table = cost_items("toy", rankings, ks=(1, 2, 3))
    assert list(table.columns) == COST_COLUMNS
    first = table[table["query_id"] == "c#0"]
    assert counts(first, "memories_shown") == [1, 2, 2]
    assert counts(first, "turns_covered") == [5, 6, 6]
    assert counts(first, "tokens_shown") == [6, 8, 8]
    assert first["unscored"].isna().all(), "a query without gold has a cost"
    assert (table[table["query_id"] == "c#1"]["count"] == 0).all()


def test_without_provenance_only_the_turns_are_unknown():
    blind = replace(INFO, provenance="none")
    table = cost_items("toy", [ranking([query("a")], [[hit()]], blind)], ks=(1,))
    turns = table[table["metric"] == "turns_covered"]
    assert turns["count"].isna().all()
    assert (turns["unscored"] == NO_PROVENANCE).all()
    assert counts(table, "tokens_shown") == [2]


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True), max_size=6))
def test_costs_never_fall_with_k(sources):
    hits = [hit(*group, text="w " * (1 + len(group))) for group in sources]
    table = cost_items("toy", [ranking([query("a")], [hits])], ks=(1, 2, 4, 6))
    for metric in ("memories_shown", "turns_covered", "tokens_shown"):
        assert counts(table, metric) == sorted(counts(table, metric))
    assert counts(table, "turns_covered")[-1] == len({s for group in sources for s in group})
    assert counts(table, "tokens_shown")[-1] == sum(count_tokens(h.text) for h in hits)


@pytest.fixture
def corpus(write, sample):
    return load_corpus(str(write([sample])))


def told(corpus, gold, *texts, ks=(1, 2, 3), **options):
    asked = replace(query(gold), conversation="tiny-1")
    hits = [[hit(text=text) for text in texts]]
    blind = ranking([asked], hits, replace(INFO, provenance="none"))
    items = text_recall_items(corpus, [blind], ks=ks, **options)
    assert list(items.columns) == ITEM_COLUMNS
    return items


def test_words_of_a_fact_in_the_text(corpus):
    # D1:1 "I sold the red boat." has the words sold, red, boat; D2:2 rui, painted, boat, blue
    texts = ["Ana sold a BOAT in May", "Rui has a blue boat", "Rui painted the red boat blue"]
    items = told(corpus, ["D1:1", "D2:2"], *texts)
    assert [value(items, "text_recall", k) for k in (1, 2, 3)] == [0.5, 0.5 + 0.5, 1]
    strict = told(corpus, ["D1:1", "D2:2"], *texts, share=1)
    assert [value(strict, "text_recall", k) for k in (1, 2, 3)] == [0, 0, 0.5]


def test_words_of_two_memories_are_not_added_up(corpus):
    items = told(corpus, ["D1:1"], "she sold it", "the red one", "a boat")
    assert value(items, "text_recall", 3) == 0


def test_three_of_five_words_are_enough_at_the_default_share(corpus):
    # D2:1 "I start at the bakery on 7 June." has start, bakery, 7, june
    items = told(corpus, ["D2:1"], "Ben: bakery, June", "Ben starts: bakery, 7 June")
    assert [value(items, "text_recall", k) for k in (1, 2)] == [0, 1]


def test_what_cannot_be_looked_for_is_unscored_with_a_reason(corpus):
    assert (told(corpus, [], "boat")["unscored"] == NO_GOLD).all()
    nowhere = told(corpus, ["D9:9"], "boat")
    assert (nowhere["unscored"] == NO_WORDS).all()
    assert nowhere["value"].isna().all()
    both = told(corpus, ["D9:9", "D1:1"], "sold the red boat")
    assert (both["value"] == 1).all()


def test_nothing_returned_is_0(corpus):
    assert (told(corpus, ["D1:1"])["value"] == 0).all()


def test_out_of_range(corpus):
    for wrong in (0, 1.1):
        with pytest.raises(ConfigError, match="share"):
            told(corpus, ["D1:1"], share=wrong)
    with pytest.raises(ConfigError, match="exceeds"):
        told(corpus, ["D1:1"], ks=(7,))
    with pytest.raises(ConfigError, match="cut-off"):
        cost_items("toy", [ranking([query("a")], [[]])], ks=(0,))
