import dataclasses

import pandas as pd
import pytest
import yaml

from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError
from unbidden.queries.build import build_queries
from unbidden.queries.export import SCHEMAS, export_corpus


@pytest.fixture
def corpus(sample, cluster, write, tmp_path):
    sample["conversation"]["session_1"][0]["text"] = "</td> {{ x }} \u2028 'drop'"
    write([sample], "set/locomo10_dialog.json")
    write([cluster], "set/locomo10_multimem_full.json")
    return load_corpus(str(tmp_path / "set"))


def _header(text):
    start, header, body = text.split("---\n", 2)
    assert start == ""
    return yaml.safe_load(header), body


def test_tables_load_with_pandas(corpus, tmp_path):
    files = export_corpus(corpus, tmp_path / "out", licence="cc-by-4.0")
    assert sorted(path.relative_to(tmp_path / "out").as_posix() for path in files) == [
        *("README.md", "data/conversations.parquet", "data/queries.parquet", "data/turns.parquet"),
    ]
    assert sorted(p for p in (tmp_path / "out").rglob("*") if p.is_file()) == sorted(files)
    tables = {name: pd.read_parquet(tmp_path / "out/data" / f"{name}.parquet") for name in SCHEMAS}
    for name, table in tables.items():
        assert list(table.columns) == SCHEMAS[name].names
    turns = tables["turns"].set_index("turn")
    assert turns.loc["D1:1", "text"] == "</td> {{ x }} \u2028 'drop'"
    assert turns.loc["D1:1", "time"] == pd.Timestamp("2023-05-03 00:09")
    assert turns.loc["D1:3", "caption"] == "a man on a pier"
    queries = tables["queries"].set_index(["style", "query_id"])
    assert list(queries["text"]) == [query.text for query in build_queries(corpus)]
    composed = queries.loc[("composed", "tiny-1#0+1")]
    assert list(composed["answers"]) == ["the red boat", "it was painted blue"]
    assert list(composed["gold"]) == ["D1:1", "D1:3", "D2:2"]
    assert composed["expected_memory_use"] == "both"
    assert pd.isna(composed["category"])
    assert queries.loc[("counterfactual", "tiny-1#0"), "asserted_wrong"] == "still has it"
    assert queries.loc[("question", "tiny-1#4"), "trap"] == "the red boat"
    assert tables["conversations"].loc[0, "turns"] == 6


def test_card_counts_come_from_the_data(corpus, tmp_path):
    export_corpus(corpus, tmp_path, licence="cc-by-4.0", languages=["en", "zh"])
    header, body = _header((tmp_path / "README.md").read_text("utf-8"))
    assert (header["license"], header["language"]) == ("cc-by-4.0", ["en", "zh"])
    assert header["size_categories"] == ["n<1K"]
    files = [file["path"] for config in header["configs"] for file in config["data_files"]]
    assert all((tmp_path / file).is_file() for file in files)
    assert [config["config_name"] for config in header["configs"] if config.get("default")] == [
        "queries"
    ]
    assert "| turns | 6 |" in body
    assert "| question | 5 | 1 | 1 | 1 | 1 | 1 |" in body
    assert "| composed | 1 | 0 | 0 | 0 | 0 | 0 |" in body
    assert "drop" not in body  # no text of the data


def test_a_hostile_name_stays_a_name(corpus, tmp_path):
    named = dataclasses.replace(corpus, name="x\n---\n# <script>: [a](b)")
    export_corpus(named, tmp_path, licence="other: 'x'\n---")
    header, body = _header((tmp_path / "README.md").read_text("utf-8"))
    assert header["pretty_name"] == "x --- # <script>: [a](b)"
    assert header["license"] == "other: 'x' ---"
    assert "<script>" not in body.replace("\\<script\\>", "")


def test_a_licence_is_asked_for(corpus, tmp_path):
    with pytest.raises(ConfigError, match="licence"):
        export_corpus(corpus, tmp_path, licence=" ")
    assert not list(tmp_path.glob("README.md"))


def test_harbour(tmp_path):
    corpus = load_corpus("harbour")
    export_corpus(corpus, tmp_path, licence="cc-by-4.0")
    assert len(pd.read_parquet(tmp_path / "data/queries.parquet")) == len(build_queries(corpus))
    first = (tmp_path / "data/queries.parquet").read_bytes()
    export_corpus(corpus, tmp_path, licence="cc-by-4.0")
    assert (tmp_path / "data/queries.parquet").read_bytes() == first
