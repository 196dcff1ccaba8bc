import json

import pandas as pd
import pytest

from unbidden.atomic import replacing
from unbidden.config import RunConfig
from unbidden.corpus import load_corpus
from unbidden.report import figures
from unbidden.report.folder import RunFolder
from unbidden.report.summary import means


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("UNBIDDEN_OUT", str(tmp_path / "out"))
    return RunFolder(RunConfig.of(chapter="01_dataset", run="x"))


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail():
        with replacing(path) as partial:
            partial.write_text("half")
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_run_json_has_what_a_reader_needs_and_no_path(folder, write, sample, tmp_path):
    path = write([sample])
    config = RunConfig.of(chapter="01_dataset", run="x", dataset=str(path))
    out = RunFolder(config)
    out.numbers["n"] = "5,882"
    record = out.finish(load_corpus(str(path)), model="none")
    text = (out.path / "run.json").read_text()
    assert json.loads(text) == record
    assert str(tmp_path) not in text
    assert record["parameters"]["dataset"] == "mine.json"
    assert record["data"][0]["sha256"]
    assert record["packages"]["numpy"]
    assert record["code"]["library_sha256"]
    assert json.loads((out.path / "numbers.json").read_text()) == {"n": "5,882"}


def test_figures_are_the_same_bytes_twice(folder):
    rows = pd.DataFrame(
        {
            "conversation": list("aabb"),
            "style": ["question", "implicit"] * 2,
            "system": "mine",
            "k": 10,
            "value": [1.0, 0.2, 0.8, 0.1],
        }
    )
    figures.use_style()
    summary = means(rows, ["style", "system"])
    made = []
    for _ in range(2):
        folder.figure("f", figures.recall_by_style(summary, k=10))
        made.append((folder.path / "figures" / "f.svg").read_bytes())
    assert made[0] == made[1]
    assert b"Recall@10" in made[0]


def test_plotted_values_are_the_means():
    rows = pd.DataFrame(
        {"conversation": list("ab"), "style": "implicit", "system": "s", "value": [0.2, 0.4]}
    )
    figure = figures.recall_by_style(means(rows, ["style", "system"]), k=10)
    (line, *_) = figure.axes[0].get_lines()
    assert line.get_ydata()[0] == pytest.approx(30)
