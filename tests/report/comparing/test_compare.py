"""Two runs as a reader compares them."""

import json

import pandas as pd
import pytest

from tests.conftest import ROOT
from tests.report.comparing.conftest import item, write_run
from unbidden.errors import DataError
from unbidden.report.comparing import (
    Choice,
    compare_runs,
    comparison_page,
    known_runs,
    open_run,
    write_comparison,
)

TABLE = pd.DataFrame({"system": ["bm25", "rrf"], "k": [10, 10], "mean": [0.5, 0.25], "n": [4, 4]})


def changed(found):
    (chapter,) = found.chapters
    return {
        (row["what"], row["name"]): (row["first"], row["second"])
        for _, row in chapter.changed.iterrows()
    }


def test_equal_runs_differ_in_nothing(project):
    for run in ("one", "two"):
        write_run(project, run, [item("a#1", 1.0), item("b#1", 0.0)], tables={"recall": TABLE})
    found = compare_runs("one", "two")
    assert changed(found) == {}
    assert found.chapters[0].tables["state"].tolist() == ["equal"]
    page = comparison_page(found)
    assert "Nothing: the same parameters, code, packages and data." in page
    assert "same values" in page


def test_what_changed_is_named(project):
    write_run(project, "one", [item("a#1", 1.0)], embedder="x", numbers={"k": "10", "old": "1"})
    write_run(
        project,
        "two",
        [item("a#1", 1.0)],
        parameters={"run": "two", "top_k": 20, "seed": 0},
        code={"version": "1", "commit": None, "changed": True, "library_sha256": "e" * 64},
        packages={"numpy": "3"},
        data=[{"file": "toy.json", "sha256": "b" * 64, "bytes": 10}],
        embedder="y",
        numbers={"k": "20"},
    )
    found = compare_runs("one", "two")
    rows = changed(found)
    assert rows["parameter", "top_k"] == ("10", "20")
    assert rows["code", "commit"] == ("c" * 12, "unknown")
    assert rows["code", "library sha256"] == ("d" * 12, "e" * 12)
    assert rows["package", "numpy"] == ("2", "3")
    assert rows["data", "toy.json"][1] == f"sha256 {'b' * 12}, 10 bytes"
    assert rows["fact", "embedder"] == ("x", "y")
    assert ("parameter", "run") not in rows  # it names the run, and explains nothing
    numbers = found.chapters[0].numbers.set_index("number").to_dict("index")
    assert numbers["old"] == {"first": "1", "second": "absent"}
    assert any("the data differs" in note for note in found.chapters[0].notes)


def test_numbers_that_move_without_a_cause_are_called_so(project):
    write_run(project, "one", [], numbers={"x": "1"})
    write_run(project, "two", [], numbers={"x": "2"})
    page = comparison_page(compare_runs("one", "two"))
    assert "not repeatable" in page
    assert "no file of items in both runs" in page


def test_a_run_without_any_score_is_shown_as_such(project):
    for run in ("one", "two"):
        write_run(project, run, [item(f"{c}#1", float("nan"), unscored="not run") for c in "ab"])
    found = compare_runs("one", "two")
    (row,) = found.chapters[0].items["items"].table.to_dict("records")
    assert (row["n"], row["difference"], row["verdict"]) == (0, None, "not tested")
    assert "| – | – | – | 0 |" in comparison_page(found, escape=str)


def test_tables_cell_by_cell(project):
    other = TABLE.assign(mean=[0.5, 0.75])
    more = pd.concat(
        [TABLE, pd.DataFrame({"system": ["mine"], "k": [10], "mean": [1.0], "n": [4]})]
    )
    tables = {"same": TABLE, "moved": TABLE, "grown": TABLE, "lost": TABLE, "form": TABLE}
    write_run(project, "one", [], tables=tables)
    write_run(
        project,
        "two",
        [],
        tables={"same": TABLE, "moved": other, "grown": more, "form": TABLE.drop(columns="n")},
    )
    table = compare_runs("one", "two").chapters[0].tables.set_index("table")
    assert table["state"].to_dict() == {
        "same": "equal",
        "moved": "differs",
        "grown": "differs",
        "lost": "only in the first run",
        "form": "other columns",
    }
    assert table.loc["moved", ["cells", "cells_differ", "largest_change"]].tolist() == [4, 1, 0.5]
    assert table.loc["grown", ["rows", "rows_in_one", "cells_differ"]].tolist() == [2, 1, 0]


def test_runs_and_chapters_that_are_not_there(project):
    with pytest.raises(DataError, match="there is no run 'one'"):
        compare_runs("one", "two")
    write_run(project, "one", [])
    write_run(project, "two", [], chapter="01_dataset")
    with pytest.raises(DataError, match="no chapter in common"):
        compare_runs("one", "two")
    with pytest.raises(DataError, match="not in both runs"):
        compare_runs("one", "one", Choice(chapters=("03_other",)))
    with pytest.raises(DataError, match="did you mean one"):
        open_run("ones")
    (project / "results" / "runs" / "one" / "02_retrieval" / "run.json").write_text("{")
    with pytest.raises(DataError, match="cannot be read"):
        compare_runs("one", "one")


def test_chapters_of_one_run_alone_are_named(project):
    write_run(project, "one", [])
    write_run(project, "one", [], chapter="01_dataset")
    write_run(project, "two", [])
    found = compare_runs("one", "two")
    assert (found.only_first, found.only_second) == (("01_dataset",), ())
    assert "Only in the first run: 01" in comparison_page(found)


def test_texts_of_a_run_are_escaped(project):
    write_run(project, "one", [item("a#1", 1.0)], note="<script>|x")
    write_run(project, "two", [item("a#1", 1.0)], note="{{ x }}")
    page = comparison_page(compare_runs("one", "two"))
    assert "<script>" not in page
    assert "{{" not in page


def test_files_beside_the_page(project, tmp_path):
    for run in ("one", "two"):
        write_run(project, run, [item("a#1", 1.0), item("b#1", 0.0)], tables={"recall": TABLE})
    written = write_comparison(compare_runs("one", "two"), tmp_path / "out" / "x.md")
    assert {path.name for path in written} == {
        "x.md",
        *(
            f"x.02_retrieval.{name}.csv"
            for name in ("changed", "tables", "numbers", "paired-items")
        ),
    }
    paired = pd.read_csv(tmp_path / "out" / "x.02_retrieval.paired-items.csv")
    assert paired["difference"].tolist() == [0.0]


def test_recorded_runs_of_the_study(monkeypatch):
    """The subset's items are part of the whole run's, so what both have is the same."""
    monkeypatch.chdir(ROOT)
    assert {"recorded/locomo", "recorded/subset"} <= set(known_runs())
    found = compare_runs("recorded/locomo", "recorded/subset")
    (chapter,) = found.chapters
    table = chapter.items["items"].table
    assert set(table["system"]) == {"bm25", "dense", "rrf", "unbidden"}
    assert table["difference"].abs().max() == 0
    assert (table["conversations"] == 1).all()
    facts = json.loads((ROOT / "results/recorded/subset/02_retrieval/run.json").read_text())
    assert changed(found)["parameter", "conversations"][1] == json.dumps(
        facts["parameters"]["conversations"]
    )
