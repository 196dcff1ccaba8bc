import json

import pandas as pd
import pytest

from unbidden.corpus import load_corpus
from unbidden.judge.labelled import load_items
from unbidden.judge.panel import run_words
from unbidden.queries.build import build_queries
from unbidden.reply.table import ALL_COLUMNS
from unbidden.report.explorer import read_run
from unbidden.retrieval import Rules, retrieve
from unbidden.retrieval.returned import RETURNED_COLUMNS, returned_items


@pytest.fixture(scope="module")
def corpus():
    return load_corpus("harbour")


@pytest.fixture(scope="module")
def rankings(corpus):
    one = load_corpus("harbour", conversations=["harbour-1"])
    return retrieve(one, build_queries(one, limit=6), ["bm25"], depth=20, rules=Rules())


@pytest.fixture
def chapter(corpus, tmp_path):
    def _chapter(name, **facts):
        folder = tmp_path / name
        folder.mkdir()
        data = [{"file": one.name, "sha256": one.sha256} for one in corpus.sources]
        run = {"parameters": {"dataset": "harbour", "evidence": "paper"}, "data": data, **facts}
        (folder / "run.json").write_text(json.dumps(run))
        return folder

    return _chapter


def test_what_was_returned_is_read_back(chapter, rankings):
    frame = returned_items(rankings, k=10)
    assert list(frame.columns) == RETURNED_COLUMNS
    assert frame.groupby(["query_id", "style"])["rank"].max().max() == 10
    folder = chapter("02_retrieval")
    frame.to_parquet(folder / "returned.parquet")
    found = read_run({"02_retrieval": folder})
    assert len(found.items) == len(rankings[0].queries)
    assert not found.notes
    for item, query, hits in zip(found.items, rankings[0].queries, rankings[0].hits, strict=True):
        assert (item.id, item.style, item.query) == (query.id, query.style, query.text)
        (returned,) = item.returned
        assert [memory.text for memory in returned.memories] == [hit.text for hit in hits[:10]]
        golds = [bool(set(hit.sources) & query.gold) for hit in hits[:10]]
        assert [memory.gold for memory in returned.memories] == golds
        assert {turn for turn, _ in item.gold} == query.gold


def test_unscored_is_not_nothing(chapter, rankings):
    (ranking,) = rankings
    refused = type(ranking)(
        ranking.system, ranking.info, 10, ranking.queries[:2], [[], []], {},
        failures={0: "the model timed out"},
    )  # fmt: skip
    folder = chapter("02_retrieval")
    returned_items([refused], k=10).to_parquet(folder / "returned.parquet")
    first, second = read_run({"02_retrieval": folder}).items
    assert first.returned[0].unscored == "the model timed out"
    assert second.returned[0].unscored is None
    assert second.returned[0].memories == ()


def test_verdicts_on_labelled_replies(chapter):
    items = load_items()[:20]
    folder = chapter("08_judges")
    run_words(items).assign(judge="word rule").to_parquet(folder / "items.parquet")
    found = read_run({"08_judges": folder})
    replies = [reply for item in found.items for reply in item.replies]
    assert len(replies) == 20
    labels = {reply.by.split()[2].rstrip(","): reply.judgements[0].label for reply in replies}
    assert labels == {item.id: item.label for item in items}
    assert all(reply.judgements[1].judge == "word rule" for reply in replies)


def test_replies_with_their_verdicts(chapter):
    row = dict.fromkeys(ALL_COLUMNS)
    row |= {
        **{"dataset": "harbour", "conversation": "harbour-1", "query_id": "harbour-1#0"},
        **{"style": "dialog", "system": "none", "condition": "oracle", "repeat": 0, "model": "m"},
    }
    said, missing = {**row, "text": "No shellfish."}, {**row, "repeat": 1, "unscored": "planned"}
    folder = chapter("03_replies")
    pd.DataFrame([said, missing]).assign(way="oracle").to_parquet(folder / "replies.parquet")
    verdict = {**row, "judge": "word rule", "metric": "fact_use", "label": "correct"}
    pd.DataFrame([verdict]).to_parquet(folder / "items.parquet")
    found = read_run({"03_replies": folder})
    (item,) = found.items
    (reply,) = item.replies
    assert (reply.by, reply.text) == ("oracle", "No shellfish.")
    assert [(one.judge, one.label) for one in reply.judgements] == [("word rule", "correct")]
    assert found.notes == ["03_replies: 1 of 2 replies are not on record"]


@pytest.mark.parametrize("data", [[], [{"file": "harbour_dialog.json", "sha256": "0" * 64}]])
def test_texts_of_other_data_are_left_out(chapter, rankings, data):
    folder = chapter("02_retrieval", data=data)
    returned_items(rankings, k=10).to_parquet(folder / "returned.parquet")
    found = read_run({"02_retrieval": folder})
    assert not found.items
    assert "may not be passed on" in found.notes[0]


def test_a_chapter_without_the_table_is_said(chapter):
    found = read_run({"02_retrieval": chapter("02_retrieval")})
    assert not found.items
    assert "returned.parquet" in found.notes[0]
