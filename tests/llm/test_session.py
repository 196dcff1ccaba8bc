"""A chapter's calls: recorded once, resumed, replayed, planned; no secret anywhere."""

import sqlite3

import nbformat
import pytest

from unbidden.config import ModelConfig
from unbidden.errors import ConfigError
from unbidden.execute import ChapterFailed, plan_chapter, run_chapter
from unbidden.llm.session import open_llm

PARAMETERS = """
run = "default"
llm_mode = "replay"
local_model = ""
stop_after = 0
max_calls = None
"""
WORK = """
from pathlib import Path
from unbidden.config import ModelConfig
from unbidden.llm.session import open_llm

config = ModelConfig.of(
    chapter="09_toy", run=run, llm_mode=llm_mode, local_model=local_model,
    answer_model="m", max_calls=max_calls,
)
with open_llm(config) as llm:
    asked = [
        llm.ask("reply.v1", {"memories": [], "speaker": "Ana", "message": f"item {i}"})
        for i in range(6)
        if not (stop_after and i >= stop_after)
    ]
if stop_after:
    raise RuntimeError("stopped half way")
text = "\\n".join(f"{o.status} {o.text}" for o in asked)
config.folder.mkdir(parents=True, exist_ok=True)
(config.folder / "replies.txt").write_text(text)
print(text)
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "study.yaml").write_text("presets: {}")
    monkeypatch.chdir(tmp_path)
    notebook = nbformat.v4.new_notebook()
    notebook.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    notebook.cells = [
        nbformat.v4.new_code_cell(PARAMETERS, id="a", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell(WORK, id="b"),
    ]
    nbformat.write(notebook, tmp_path / "notebooks" / "09_toy.ipynb")
    return tmp_path


def replies(folder):
    return (folder / "replies.txt").read_text()


def test_a_chapter_is_resumed_without_paying_twice(project, endpoint, monkeypatch):
    server = endpoint()
    canary = "sk-canary-5f2e9a"
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", canary)
    with pytest.raises(ChapterFailed, match="half way"):
        run_chapter("09_toy", run="a", parameters={"llm_mode": "record", "stop_after": 4})
    assert server.stats()["requests"] == 4
    folder = run_chapter("09_toy", run="a", parameters={"llm_mode": "record"})
    assert server.stats()["requests"] == 6
    whole = run_chapter("09_toy", run="b", parameters={"llm_mode": "record"})
    assert replies(folder) == replies(whole)
    for path in project.rglob("*"):
        if path.is_file():
            assert canary.encode() not in path.read_bytes(), path
    with sqlite3.connect(project / "results" / "runs" / "a" / "ledger.sqlite") as ledger:
        assert ledger.execute("PRAGMA user_version").fetchone()[0] >= 1


def test_a_missing_call_in_replay_says_how_to_record(project):
    with pytest.raises(ChapterFailed, match="model calls of 09_toy") as error:
        run_chapter("09_toy", run="a", parameters={})
    for part in ("09_toy, run a", "reply.v1", "mode 'record'"):
        assert part in str(error.value)


@pytest.mark.fault(
    "the budget of calls is spent in a chapter", "a clean stop; the next run goes on"
)
def test_a_budget_stops_a_chapter_cleanly(project, endpoint, monkeypatch):
    server = endpoint()
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    with pytest.raises(ChapterFailed, match="BudgetExceeded"):
        run_chapter("09_toy", run="a", parameters={"llm_mode": "record", "max_calls": 2})
    assert server.stats()["requests"] == 2
    run_chapter("09_toy", run="a", parameters={"llm_mode": "record"})
    assert server.stats()["requests"] == 6


def test_a_plan_makes_no_call_and_leaves_nothing(project, endpoint, monkeypatch):
    server = endpoint()
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    text = plan_chapter("09_toy", parameters={"llm_mode": "record"})
    assert "6 calls to make, 0 already answered" in text
    assert server.stats()["requests"] == 0
    assert not (project / "results").exists()
    with pytest.raises(ChapterFailed):
        run_chapter("09_toy", run="scratch", parameters={"llm_mode": "record", "stop_after": 4})
    monkeypatch.chdir(project)
    text = plan_chapter("09_toy", parameters={"run": "scratch"})
    assert "2 calls to make, 4 already answered" in text


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ({}, 180),
        ({"call_seconds": 600}, 600),
        ({"local_model": "m"}, 900),
        ({"local_model": "m", "call_seconds": 2000}, 2000),
    ],
)
def test_a_chapter_says_how_long_to_wait_for_a_call(project, given, seconds):
    config = ModelConfig.of(chapter="09_toy", run="a", answer_model="m", **given)
    with open_llm(config) as llm:
        assert llm.settings.timeout == seconds


def test_no_time_at_all_is_out_of_range():
    with pytest.raises(ConfigError, match="call_seconds"):
        ModelConfig.of(chapter="09_toy", call_seconds=0)
