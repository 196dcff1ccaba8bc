"""Results for other tools: what another program makes of them is what we say."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.report.comparing.conftest import item, project, write_run  # noqa: F401
from unbidden.corpus import load_corpus
from unbidden.errors import DataError
from unbidden.queries.build import build_queries
from unbidden.report.export import export_csv, export_trec
from unbidden.report.summary import select
from unbidden.retrieval import retrieve, score_rankings
from unbidden.retrieval.rows import GOLD_COLUMNS, RANKING_COLUMNS, gold_rows, ranking_rows

IR_MEASURES = Path(sys.executable).with_name("ir_measures")


@pytest.fixture
def kept(project):  # noqa: F811
    """A run of bm25 over one conversation of harbour, its rankings kept, and its scores."""
    corpus = load_corpus("harbour", conversations=("harbour-1",))
    queries = build_queries(corpus)
    rankings = retrieve(corpus, queries, ["bm25"], depth=10)
    items = score_rankings("harbour", rankings, ks=[10])
    folder = write_run(project, "mine", [])
    items.to_parquet(folder / "items.parquet", index=False)
    ranking_rows(rankings).to_parquet(folder / "rankings.parquet", index=False)
    gold_rows(queries).to_parquet(folder / "gold.parquet", index=False)
    return items


def ir_measures(*arguments: str) -> dict[str, float]:
    done = subprocess.run(
        [str(IR_MEASURES), *arguments], capture_output=True, text=True, timeout=300, check=True
    )
    return {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}


def test_the_ir_measures_command_gives_our_numbers(kept, tmp_path):
    written, notes = export_trec("mine", tmp_path / "trec")
    assert [path.name for path in written] == ["qrels", "bm25.run"]
    assert notes == ["category 5 is left out"]
    found = ir_measures(*(str(path) for path in written), "R@10", "RR", "SetR", "nDCG")
    for theirs, ours in (("R@10", "recall"), ("SetR", "recall"), ("RR", "mrr"), ("nDCG", "ndcg")):
        assert found[theirs] == pytest.approx(select(kept, ours, 10)["value"].mean(), abs=5e-5)


def frames(*rows):
    rankings = pd.DataFrame(rows, columns=RANKING_COLUMNS)
    gold = pd.DataFrame(
        [("c 1", "c 1#0", "dialog", 4, "D1:1"), ("c 1", "c 1#1", "dialog", 5, "D1:2")],
        columns=GOLD_COLUMNS,
    )
    types = {"category": "Int8", "rank": "Int32"}
    return rankings.astype(types), gold.astype({"category": "Int8"})


def exported(project, tmp_path, *rows):  # noqa: F811
    folder = write_run(project, "mine", [])
    for name, frame in zip(("rankings", "gold"), frames(*rows), strict=True):
        frame.to_parquet(folder / f"{name}.parquet", index=False)
    written, notes = export_trec("mine", tmp_path / "trec")
    return {path.name: path.read_text().splitlines() for path in written}, notes


def test_names_and_turns_that_trec_cannot_take(project, tmp_path):  # noqa: F811
    key = ("c 1", "c 1#0", "dialog", 4, "mine:Mine/x")
    files, _ = exported(
        project,
        tmp_path,
        (*key, 1, "D1:2", 0.5),
        (*key, 2, "D1:1", 0.5),
        (*key, 2, "D1:2", 0.5),
        ("c 1", "c 1#1", "dialog", 5, "mine:Mine/x", 1, "D1:1", 0.5),
    )
    assert files["qrels"] == ["dialog:c%201#0 0 c%201/D1:1 1"]
    assert files["mine%3AMine%2Fx.run"] == [
        "dialog:c%201#0 Q0 c%201/D1:2 1 2 mine%3AMine%2Fx",
        "dialog:c%201#0 Q0 c%201/D1:1 2 1 mine%3AMine%2Fx",
    ]


def test_unscored_queries_are_no_zeros(project, tmp_path):  # noqa: F811
    files, notes = exported(
        project,
        tmp_path,
        ("c 1", "c 1#0", "dialog", 4, "failed", None, None, None),
        ("c 1", "c 1#0", "dialog", 4, "partly", None, None, None),
        ("c 1", "c 1#2", "dialog", 4, "partly", 0, None, None),
        ("c 1", "c 1#0", "dialog", 4, "sourceless", 1, None, 1.0),
    )
    assert set(files) == {"qrels", "partly.run", "partly.qrels"}
    assert files["partly.qrels"] == files["partly.run"] == []
    assert "failed: not exported, as no query is scored" in notes
    assert "partly: 1 queries are unscored; use partly.qrels" in notes
    assert "sourceless: not exported, as it cannot name source turns" in notes


def test_a_run_without_rankings_says_so(project, tmp_path):  # noqa: F811
    write_run(project, "mine", [])
    with pytest.raises(DataError, match="kept no rankings"):
        export_trec("mine", tmp_path)


def test_csv_of_every_parquet(project, tmp_path):  # noqa: F811
    rows = [item("a#1", 0.1 + 0.2), item("a#2", None, unscored="no gold, “really”")]
    write_run(project, "mine", rows)
    (path,) = export_csv("mine", tmp_path / "csv")
    assert path.name == "02_retrieval.items.csv"
    back = pd.read_csv(path)
    assert back["value"].tolist()[0] == 0.1 + 0.2
    assert back["unscored"].tolist()[1] == "no gold, “really”"
