"""A reader's own metric: called with what was found, unscored where it gives nothing."""

import math

import pytest

from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError, DataError
from unbidden.queries.build import build_queries
from unbidden.retrieval import retrieve, score_rankings
from unbidden.retrieval.metrics import NO_VALUE, own_metric_items
from unbidden.retrieval.score import ITEM_COLUMNS, NO_GOLD

MODULE = """
def recall(found, gold):
    return len(gold & {turn for memory in found for turn in memory.sources}) / len(gold)

def nothing(found, gold):
    return None

def count(found, gold):
    return len(found)

def alone(found):
    return 0.0
"""


@pytest.fixture
def rankings(write, sample, tmp_path, monkeypatch):
    (tmp_path / "their_metrics.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    corpus = load_corpus(str(write([sample])))
    return retrieve(corpus, build_queries(corpus), ["bm25"], depth=5)


def own(rankings, *names, ks=(1, 5)):
    names = [f"their_metrics:{name}" for name in names]
    return own_metric_items("tiny", rankings, names, ks=ks, condition="paper")


def test_our_recall_written_anew_gives_the_same(rankings):
    theirs = own(rankings, "recall")
    ours = score_rankings("tiny", rankings, ks=[1, 5], condition="paper")
    ours = ours[ours["metric"] == "recall"].reset_index(drop=True)
    assert list(theirs.columns) == ITEM_COLUMNS
    assert theirs["value"].equals(ours["value"])
    assert theirs["unscored"].fillna("").tolist() == ours["unscored"].fillna("").tolist()
    assert NO_GOLD in set(theirs["unscored"].dropna())  # one question cites nothing


def test_no_value_is_unscored(rankings):
    items = own(rankings, "nothing")
    assert items["value"].isna().all()
    assert set(items["unscored"]) == {NO_VALUE, NO_GOLD}


def test_no_metric_is_no_row(rankings):
    assert own(rankings).empty
    assert list(own(rankings).columns) == ITEM_COLUMNS


def test_what_is_no_share_is_refused(rankings):
    with pytest.raises(DataError, match="gave what is no share"):
        own(rankings, "count", ks=[5])


def test_what_is_no_metric_is_said(rankings):
    with pytest.raises(ConfigError, match="cannot be called"):
        own(rankings, "alone")
    with pytest.raises(ConfigError, match="an attribute 'absent'"):
        own(rankings, "absent")
    with pytest.raises(ConfigError, match=r"package\.module"):
        own_metric_items("tiny", rankings, ["recalls"], ks=[1], condition="paper")


def test_values_are_numbers(rankings):
    values = own(rankings, "recall")["value"]
    assert values.dtype == float
    assert not any(math.isinf(value) for value in values)
