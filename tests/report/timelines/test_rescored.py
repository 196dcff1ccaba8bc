import io

import numpy as np
import pandas as pd
import pytest

from unbidden.report.timelines.rescored import (
    beside_printed,
    retriever_agreement,
    shown_beside_printed,
    shown_comedy,
    shown_comparison,
    shown_length,
    shown_memories,
    shown_rescored,
    shown_retrievers,
)


def _frame(text: str) -> pd.DataFrame:
    """Return a frame as a recorded run gives it back."""
    return pd.read_csv(io.StringIO(text))


RESCORED = _frame(
    "dataset,system,n,bleu4,rouge_l,words\n"
    "msc,theanine,491,1.977,16.307,21.5\nmsc,gold,491,,,29.77\n"
    "mean,theanine,1035,4.326,19.388,20.14\nmean,comedy,1035,1.362,13.457,53.19\n"
    "mean,gold,1035,,,24.05\n"
)


def test_ours_stand_beside_the_printed():
    frame = beside_printed(RESCORED)
    assert len(frame) == 4
    row = frame.query("system == 'theanine' and metric == 'bleu4'").iloc[0]
    assert (row["printed"], row["ours"]) == (4.34, 4.326)
    assert row["difference"] == pytest.approx(-0.014)
    assert shown_beside_printed(frame).iloc[1].tolist() == [
        *("COMEDY", "1.42", "1.36", "13.56", "13.46")
    ]


def test_gold_has_a_length_and_no_score():
    assert shown_rescored(RESCORED).iloc[1].tolist() == [
        *("MSC", "what was said", 491, "–", "–", "29.8")
    ]
    shown = shown_comedy(RESCORED[3:4].assign(rule="raw"))
    assert shown.iloc[0].tolist() == ["mean", "raw", 1035, "1.36", "13.46", "53.2"]


def test_a_comparison_says_when_it_cannot_tell():
    frame = _frame(
        "dataset,first,second,metric,difference,low,high,n,episodes,differs\n"
        "msc,memory-update,theanine,bleu4,-0.243,-0.65,0.26,491,50,False\n"
        "cc,comedy,theanine,rouge_l,9.01,7.79,10.14,544,50,True\n"
        "cc,comedy,theanine,rouge_l,9.01,,,12,1,\n"
    )
    shown = shown_comparison(frame)
    assert shown["points"].tolist() == [*("−0.24 [−0.65, +0.26]", "+9.01 [+7.79, +10.14]", "+9.01")]
    assert shown["differs?"].tolist() == ["cannot tell", "yes", "not tested"]
    assert shown["difference"].iloc[0] == "Theanine minus Memory Update"


def test_length_and_memories():
    frame = _frame(
        "dataset,system,reference,cut,n,bleu4,rouge_l,words\n"
        "cc,msc-retrieval,theanine,words,544,5.754,21.752,18.21\n"
    )
    assert shown_length(frame).iloc[0].tolist() == [
        *("CC", "Memory Retrieval", "cut by words", "18.2", "5.75", "21.75")
    ]
    counts = _frame("dataset,session,episodes,memories,mean,least,most\ncc,1,200,1053,5.265,2,9\n")
    assert shown_memories(counts).iloc[0].tolist() == ["CC", 1, 200, 1053, "5.3", 2, 9]


def test_agreement_is_clustered_and_unscored_is_not_zero():
    base = {"dataset": "msc", "metric": "overlap", "k": 6, "unscored": None}
    items = pd.DataFrame(
        [
            {**base, "system": "dense", "conversation": name, "query_id": str(i), "value": value}
            for i, (name, value) in enumerate([("a", 1.0), ("a", 0.5), ("b", 0.0), ("b", 0.5)])
        ]
        + [{**base, "system": "tfidf", "conversation": "a", "query_id": "0", "value": np.nan}]
    )
    frame = retriever_agreement(items).set_index("system")
    assert frame.loc["dense", "mean"] == 0.5
    assert frame.loc["dense", ["n", "unscored"]].tolist() == [4, 0]
    assert frame.loc["tfidf", ["n", "unscored"]].tolist() == [0, 1]
    shown = shown_retrievers(frame.reset_index())
    assert shown.iloc[1].tolist() == ["MSC", "tfidf", "not available"]
    assert shown.iloc[0, 2].startswith("50.0 [")
