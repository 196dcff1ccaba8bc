"""Ablations of one system over the same queries, and their tables."""

import zlib

import numpy as np
import pytest

from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError
from unbidden.memory.cued import ABLATIONS
from unbidden.queries.build import build_queries
from unbidden.report.retrieval.variants import (
    HYPOTHESES,
    variant_differences,
    variant_matrix,
    variant_means,
    variant_table,
)
from unbidden.retrieval import retrieve
from unbidden.retrieval.score import ITEM_COLUMNS
from unbidden.retrieval.variants import retrieve_variants, variant_items

CORPUS = load_corpus("harbour", conversations=["harbour-1", "harbour-2"])
QUERIES = build_queries(CORPUS, styles=["question", "implicit"], limit=8)
SOME = {name: ABLATIONS[name] for name in ("whole", "no who", "no answers")}


class Hashed:
    """Embeds a text as the set of its words, each at a place of its own or nearly so."""

    def encode(self, texts):
        rows = np.zeros((len(texts), 2048), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[[zlib.crc32(word.encode()) % 2048 for word in text.lower().split()]] = 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def items():
    found = retrieve_variants(CORPUS, QUERIES, "unbidden", SOME, depth=5, embedder=Hashed())
    rrf = retrieve(CORPUS, QUERIES, ["rrf"], depth=5, embedder=Hashed())[0]
    return variant_items("harbour", {"rrf": rrf, **found}, ks=[5])


def test_each_variant_is_a_condition_over_the_same_items(items):
    assert list(items.columns) == ITEM_COLUMNS
    assert list(items["condition"].unique()) == ["rrf", *SOME]
    counts = items[items["metric"] == "recall"].groupby("condition").size()
    assert set(counts) == {len(QUERIES)}
    assert set(items["system"]) == {"rrf", "unbidden"}


def test_a_part_that_needs_a_speaker_changes_no_plain_question(items):
    recall = items[(items["metric"] == "recall") & (items["style"] == "question")]
    wide = recall.pivot(index="query_id", columns="condition", values="value")
    assert wide["whole"].equals(wide["no who"])


def test_differences_are_paired_and_from_the_whole(items):
    found = variant_differences(items, 5)
    assert set(found["variant"]) == {"rrf", "no who", "no answers"}
    means = variant_means(items, 5).set_index(["variant", "style"])["mean"]
    for row in found.itertuples():
        expected = means[row.variant, row.style] - means["whole", row.style]
        assert np.isclose(row.difference, expected)
        assert row.conversations == 2
        assert row.low <= row.difference <= row.high
    reverse = variant_differences(items, 5, whole="rrf").set_index(["variant", "style"])
    forward = found.set_index(["variant", "style"])
    assert np.isclose(
        reverse.loc[("whole", "implicit"), "difference"],
        -forward.loc[("rrf", "implicit"), "difference"],
    )


def test_tables_say_what_was_compared(items):
    table = variant_table(items, 5)
    whole = table[table["variant"] == "whole"]
    assert list(whole["change"]) == ["–", "–"]
    assert list(table.columns[:3]) == ["variant", "style", "recall@5"]
    matrix = variant_matrix(items, 5)
    assert list(matrix.columns) == ["variant", "question", "implicit"]
    assert "(" in matrix.set_index("variant").loc["no who", "implicit"]
    assert "(" not in matrix.set_index("variant").loc["whole", "implicit"]


def test_without_a_whole_there_are_means_alone(items):
    alone = items[items["condition"] == "no who"]
    assert variant_differences(alone, 5).empty
    assert "change" not in variant_table(alone, 5).columns
    assert list(variant_matrix(alone, 5)["variant"]) == ["no who"]


def test_every_single_part_has_a_hypothesis():
    single = {name for name in ABLATIONS if name.startswith(("no ", "with "))}
    assert single | {"rank fusion"} == set(HYPOTHESES)


def test_variants_that_cannot_be_run_are_errors():
    with pytest.raises(ConfigError, match="no variant"):
        retrieve_variants(CORPUS, QUERIES, "unbidden", {}, depth=5)
    with pytest.raises(ConfigError, match="no option 'part'"):
        retrieve_variants(CORPUS, QUERIES, "unbidden", {"x": {"part": {}}}, depth=5)
