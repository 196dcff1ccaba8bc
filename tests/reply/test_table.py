"""Replies as a table: kept, read back, and refused where keys clash."""

import pandas as pd
import pytest

from unbidden.corpus.load import load_corpus
from unbidden.errors import DataError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.queries.build import build_queries
from unbidden.reply.answer import answer_all
from unbidden.reply.conditions import condition
from unbidden.reply.material import Material
from unbidden.reply.table import ALL_COLUMNS, answer_table, read_answers, write_answers


@pytest.fixture
def answers(sample, write):
    corpus = load_corpus(str(write([sample])))
    queries = build_queries(corpus, styles=["implicit", "question"])

    def say(seen):
        rich = "rich" in seen.messages[-1]["content"]
        return Outcome("refused", "no") if rich else "You sold the boat; 林悦 <b>"

    conditions = [condition("no_memory"), condition("oracle")]
    return answer_all(Material(corpus, queries), conditions, ScriptedLLM(say))


def test_round_trip(answers, tmp_path):
    table = answer_table("mine", "scripted", answers)
    assert list(table.columns) == list(ALL_COLUMNS)
    assert len(table) == len(answers)
    assert table["text"].notna().sum() + table["unscored"].notna().sum() == len(table)
    path = tmp_path / "deep" / "replies.parquet"
    write_answers(path, table)
    back = read_answers(path)
    pd.testing.assert_frame_equal(back, table, check_dtype=False)
    assert back["text"].map(lambda x: x is None).equals(table["text"].map(lambda x: x is None))
    assert [p.name for p in path.parent.iterdir()] == ["replies.parquet"]


def test_clashing_keys_and_foreign_files_are_refused(answers, tmp_path):
    with pytest.raises(DataError, match="same key"):
        answer_table("mine", "m", [*answers, answers[0]])
    other = tmp_path / "other.parquet"
    pd.DataFrame({"a": [1]}).to_parquet(other)
    with pytest.raises(DataError, match="no table of replies"):
        read_answers(other)
    other.write_text("not parquet")
    with pytest.raises(DataError, match="cannot be read"):
        read_answers(other)
