"""The command line, as a user meets it."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.conftest import ROOT

UNBIDDEN = str(Path(sys.executable).with_name("unbidden"))


def unbidden(*arguments, cwd=ROOT, **env):
    import os

    return subprocess.run(
        [UNBIDDEN, *arguments],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


@pytest.mark.realdata
def test_data_check_of_the_real_file(real_data):
    done = unbidden("data", "check", str(real_data / "locomo" / "locomo10.json"), "--json")
    report = json.loads(done.stdout)
    assert {key: report[key] for key in list(report)[:6]} == {
        "conversations": 10,
        "sessions": 272,
        "turns": 5_882,
        "questions": 1_986,
        "pairs_paper": 1_069,
        "pairs_repaired": 1_081,
    }
    assert {"kind", "where", "detail"} == set(report["irregularities"][0])


def test_errors_are_one_clear_message(tmp_path):
    path = tmp_path / "cut.json"
    path.write_text('[{"sample_id": "x", ')
    done = unbidden("data", "check", str(path))
    assert done.returncode == 1
    assert done.stderr.startswith("DataError: cut.json is not a whole JSON file")
    assert "Traceback" not in done.stderr
    done = unbidden("run", "02_retrieval", "-p", "top_k")
    assert "NAME=VALUE" in done.stderr


def test_a_console_that_cannot_show_everything(tmp_path, write, sample):
    sample["qa"][0]["evidence"] = ["D1:1", "漢"]
    done = unbidden(
        "data", "check", str(write([sample])), PYTHONIOENCODING="cp1252", PYTHONUTF8="0"
    )
    assert done.returncode == 0
    assert "\\u6f22" in done.stdout


def test_systems_are_listed():
    done = unbidden("systems")
    assert [line.split()[0] for line in done.stdout.splitlines()][:3] == ["bm25", "dense", "rrf"]


BLIND = """
from unbidden.memory import IngestReport, Retrieved, SystemInfo


class Blind:
    info = SystemInfo("blind", "my paper", needs_llm=False, provenance="none", licence="MIT")

    def ingest(self, conversation):
        self.texts = [turn.text for turn in conversation.turns]
        return IngestReport(units=len(self.texts), memories=len(self.texts))

    def search(self, query, *, k, speaker=None):
        return [Retrieved(text, (), score=1.0) for text in self.texts[:k]]
"""


def test_a_folder_and_a_users_own_system(write, sample, cluster, tmp_path):
    """What the guide promises: own data and own memory system, in one command."""
    write([sample], "set/locomo10_dialog.json")
    write([cluster], "set/locomo10_multimem_full.json")
    guide = ROOT / "book" / "guide" / "my_memory.py"
    assert len([line for line in guide.read_text().splitlines() if line.strip()]) < 20
    (tmp_path / "my_memory.py").write_text(guide.read_text())
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")
    done = unbidden(
        *("run", "02_retrieval", "--run", "check", "-p", "dataset=set", "-p", "ks=[1,10]"),
        *("-p", 'systems=["bm25","my_memory:Shared"]'),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "results" / "runs" / "check" / "02_retrieval"
    items = pd.read_parquet(folder / "items.parquet")
    assert list(items.columns) == [
        *("dataset", "conversation", "query_id", "style", "category", "system", "condition"),
        *("metric", "k", "value", "unscored"),
    ]
    assert set(items["system"]) == {"bm25", "my_memory:Shared"}
    figures = {path.stem: path.read_text("utf-8") for path in (folder / "figures").glob("*.svg")}
    assert {"recall_by_style", "recall_by_k", "drop_by_style"} <= set(figures)
    assert [name for name, svg in figures.items() if "my_memory:Shared</text>" not in svg] == []
    assert items["value"].dropna().between(0, 1).all()
    assert items["value"].isna().equals(items["unscored"].notna())
    record = json.loads((folder / "run.json").read_text())
    assert record["parameters"]["ks"] == [1, 10]
    assert record["parameters"]["dataset"] == "set"
    done = unbidden("run", "02_retrieval", "-p", 'systems=["bm26"]', cwd=tmp_path)
    assert "did you mean bm25" in done.stderr


def test_a_system_that_knows_no_turn_ids_is_not_available_and_breaks_no_page(
    write, sample, tmp_path
):
    """Its recall by ids is unscored, never 0; what can be scored without ids still is."""
    write([sample], "set/locomo10_dialog.json")
    (tmp_path / "blind.py").write_text(BLIND)
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")
    done = unbidden(
        *("run", "02_retrieval", "--run", "check", "-p", "dataset=set"),
        *("-p", 'systems=["blind:Blind"]'),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "results" / "runs" / "check" / "02_retrieval"
    items = pd.read_parquet(folder / "items.parquet").set_index("metric")
    assert items.loc[["recall", "recall_tokens"], "value"].isna().all()
    assert items.loc[["recall", "recall_tokens"], "unscored"].notna().all()
    words = items.loc["text_recall", "value"].dropna()
    assert len(words) and (words == 1).all(), "it returned everything that was said"
    table = pd.read_csv(folder / "tables" / "recall.csv")
    assert table["mean"].isna().all()
    assert (table["unscored"] > 0).all()
    page = (folder / "02_retrieval.ipynb").read_text("utf-8")
    assert "the systems share no conversation with a score by turn ids" in page
