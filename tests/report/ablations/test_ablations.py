"""Tables of searches, rewritings, budgets and variance."""

import numpy as np
import pandas as pd
import pytest

from unbidden.config import AblationsConfig
from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError, NotRecorded
from unbidden.llm import ScriptedLLM
from unbidden.queries.build import build_queries
from unbidden.report.ablations import curves, evidence, own, rewriting, searches, variance
from unbidden.retrieval.rewriting import AS_WRITTEN, GRID, rewrite_grid
from unbidden.retrieval.searches import SEARCHES

CONFIG = AblationsConfig.of(
    chapter="04_ablations",
    systems=["bm25"],
    searches=["bm25-rm3", "bm25-told-speaker"],
    queries_per_style=2,
    ks=[1, 10],
    turn_budgets=[10],
    token_budgets=[300],
    rebuilds=2,
    limit=15,
    encoded_again=False,
)
CORPUS = load_corpus("harbour", conversations=["harbour-1", "harbour-2"])
QUERIES = build_queries(CORPUS, limit=15)


def never(seen):
    raise NotRecorded("1 model call is not recorded")


def run(answer):
    sample = rewriting.sampled(CORPUS, QUERIES, CONFIG)
    return rewrite_grid(ScriptedLLM(answer), CORPUS, sample, ["bm25"], k=10)


def test_a_search_is_paired_with_the_one_it_differs_from():
    assert searches.with_bases(["bm25-told-speaker"]) == ["bm25", "bm25-told-speaker"]
    assert searches.with_bases([]) == list(SEARCHES)


def test_changes_of_searches_are_those_of_their_means():
    rows = []
    for query, home, base, other in (("a", "x", 0.0, 1.0), ("b", "y", 0.5, 0.5), ("c", "y", 1, 1)):
        for system, value in (("bm25", base), ("bm25-rm3", other)):
            rows.append(
                ("x", home, query, "implicit", 1, system, "paper", "recall", 10, value, None)
            )
    from unbidden.retrieval.score import ITEM_COLUMNS

    items = pd.DataFrame(rows, columns=ITEM_COLUMNS)
    effects = searches.search_effects(items)
    assert list(effects["system"]) == ["bm25-rm3"]
    assert effects["difference"].iloc[0] == pytest.approx(1 / 3)
    shown = searches.shown_searches(effects, searches.search_means(items))
    assert list(shown["against"]) == ["–", "bm25"]
    assert shown["implicit"].iloc[0] == "50.0"
    assert shown["implicit"].iloc[1].startswith("+33.3 [")
    numbers = searches.search_numbers(items, effects)
    assert numbers["search_implicit_bm25-rm3"] == "83.3"


def test_the_plain_question_is_not_rewritten():
    sample = rewriting.sampled(CORPUS, QUERIES, CONFIG)
    assert {q.style for q in sample} == {"dialog", "implicit", "counterfactual", "composed"}
    assert {q.conversation for q in sample} <= {"harbour-1", "harbour-2"}


def test_a_rewriting_that_repeats_the_message_changes_nothing():
    def echo(seen):
        return seen.variables["message"]

    found = run(echo)
    effects = rewriting.rewriting_effects(found)
    assert set(effects["rewriting"]) == {row.name for row in GRID}
    plain = effects[effects["rewriting"] == "convergent, repaired"]
    assert (plain["difference"] == 0).all() and (plain["n"] == 8).all()
    assert set(effects["metric"]) == {"recall", "mrr"}
    note = rewriting.rewriting_numbers(found, effects, CONFIG)["rewriting_note"]
    assert "below 0 in 0 and above 0 in 0" in note
    worse = effects.assign(low=-0.5, high=-0.1)
    assert (
        f"below 0 in {len(GRID)} and"
        in rewriting.rewriting_numbers(found, worse, CONFIG)["rewriting_note"]
    )
    shown = rewriting.shown_effects(worse.assign(difference=0.25), found).set_index("rewriting")
    assert len(shown) == 1 + len(GRID) and shown.loc["facets, paper", "bm25"].startswith("+25.0 [")
    assert shown.loc[AS_WRITTEN, "n"] == 8
    texts = rewriting.rewritten_texts(found).set_index("rewriting")
    assert texts.loc["convergent, paper", "texts"] == 1
    assert texts["unscored"].sum() == 0


def test_evidence_on_the_claims_about_rewriting():
    found = evidence.rewriting_evidence(run(lambda seen: seen.variables["message"]), CONFIG, "x")
    assert set(found["claim"]) == {"facets_close_raw", "single_rewrite_neutral"}
    assert (found["estimate"] == 0).all() and (found["n"] == 8).all()
    assert evidence.rewriting_evidence(run(never), CONFIG, "x").empty


def test_what_was_not_run_is_said_and_is_no_zero():
    found = run(never)
    effects = rewriting.rewriting_effects(found)
    shown = rewriting.shown_effects(effects, found)
    assert len(shown) == len(GRID) and set(shown["n"]) == {"not run"}
    assert set(found.items["condition"]) == {AS_WRITTEN}
    numbers = rewriting.rewriting_numbers(found, effects, CONFIG)
    assert "not on record" in numbers["rewriting_note"]
    assert numbers["sampled"] == "8"
    assert rewriting.shown_texts(rewriting.rewritten_texts(found)).empty


def test_budgets_are_scored_in_three_units_and_drawn():
    items = curves.curve_items(CORPUS, QUERIES, ScriptedLLM([]), CONFIG)
    summary = curves.curve_means(items)
    assert list(dict.fromkeys(summary["unit"])) == ["memories", "turns", "tokens"]
    memories = summary[(summary["unit"] == "memories") & (summary["k"] == 10)]
    turns = summary[(summary["unit"] == "turns") & (summary["k"] == 10)]
    np.testing.assert_allclose(memories["mean"], turns["mean"])  # one memory is one turn
    assert len(curves.curves_figure(summary).axes) == 9
    assert curves.unrun(items) == []
    shown = curves.shown_budgets(curves.shared_budgets(items))
    assert "style, budget" in shown and len(shown) == 5


def test_a_system_that_is_not_on_record_is_named_and_has_no_number():
    config = CONFIG.model_copy(update={"systems": ("bm25", "msc-retrieval")})
    items = curves.curve_items(CORPUS, QUERIES, ScriptedLLM(never), config)
    assert curves.unrun(items) == ["msc-retrieval"]
    assert "msc-retrieval" in curves.curve_numbers(items)["unrun_note"]
    assert "msc-retrieval" not in curves.shown_budgets(curves.shared_budgets(items))


def test_an_index_built_anew_gives_the_same_ranking():
    table = variance.variance_table(CORPUS, QUERIES, ScriptedLLM(never), CONFIG)
    words = table[table["system"] == "bm25"].iloc[0]
    assert words["runs"] == 2 and words["between_runs"] == 0 and words["moved"] == 0
    assert words["between_items"] > 0
    drawn = table[table["system"] == "theanine"].iloc[0]
    assert drawn["note"] == "not run" and pd.isna(drawn["mean"])
    assert "–" in set(variance.shown_variance(table)["recall"])


def test_encoding_anew_can_be_left_out():
    assert variance.encoding_noise(CORPUS, CONFIG).empty
    assert list(variance.shown_noise(variance.encoding_noise(CORPUS, CONFIG))) != []


def test_ablations_of_our_own_system_are_named_and_can_be_left_out():
    config = CONFIG.model_copy(update={"own_parts": ("no whom",)})
    with pytest.raises(ConfigError, match="no who"):
        own.own_items(CORPUS, QUERIES, config)
    assert own.own_items(CORPUS, QUERIES, CONFIG.model_copy(update={"own_parts": ()})) is None
    assert own.shown_own(None, 10).empty and own.own_differences(None, 10).empty
