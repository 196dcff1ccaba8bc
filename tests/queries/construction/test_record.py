"""The recorded construction replays exactly, without engine, endpoint or key."""

import json
import sys
from pathlib import Path

import pytest

from tests.queries.construction.scripts import answer
from unbidden.errors import LLMError
from unbidden.llm import LLMSettings, ScriptedLLM, replay
from unbidden.llm.local.models import local_model
from unbidden.llm.transport import Transport
from unbidden.queries.construction.checking import states
from unbidden.queries.construction.record import build, corpus_of, limited, replayed
from unbidden.report.headline import construction_numbers

RESULTS = Path(__file__).parents[3] / "results"
FOLDERS = sorted((RESULTS / "recorded" / "construction").glob("*"))
NAMES = [folder.name for folder in FOLDERS]


def run_of(folder):
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


@pytest.fixture
def no_engine(monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    monkeypatch.setitem(sys.modules, "openai", None)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    def never(*_):
        raise AssertionError("a replay sent something")

    monkeypatch.setattr(Transport, "run", never)


def test_there_is_a_recorded_construction():
    assert "repaired" in NAMES


@pytest.mark.parametrize("folder", FOLDERS, ids=NAMES)
def test_replay_gives_the_same_report(folder, no_engine):
    made = replayed(folder, RESULTS / "ledger" / "construction.jsonl.gz")
    wanted = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert made.report.as_dict() == wanted
    again = replayed(folder, RESULTS / "ledger" / "construction.jsonl.gz")
    assert again == made


@pytest.mark.parametrize("folder", FOLDERS, ids=NAMES)
def test_the_record_says_how_it_was_made(folder):
    run = run_of(folder)
    model = local_model(run["model"])
    assert run["model_sha256"] == model.sha256
    assert run["protocol"] == folder.name.partition("-")[0]
    assert run["prefix_reuse"] is True
    assert "small local model" in run["note"]
    assert [source["sha256"] for source in run["sources"]] == [
        source.sha256 for source in corpus_of(run).sources
    ]


@pytest.mark.parametrize("folder", FOLDERS, ids=NAMES)
def test_no_kept_query_states_its_answer(folder, no_engine):
    made = replayed(folder, RESULTS / "ledger" / "construction.jsonl.gz")
    questions = made.corpus.conversations[0].questions
    kept = [item for item in made.items if item.kept and item.written.protocol == "repaired"]
    for item in kept:
        for member in item.written.members:
            assert not states(item.written.rewrite.text, questions[member].answer or "")


@pytest.mark.parametrize("folder", FOLDERS, ids=NAMES)
def test_more_than_was_recorded_is_a_clear_error(folder, no_engine, tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(run_of(folder) | {"model": "another"}))
    with pytest.raises(LLMError, match="are not recorded"):
        replayed(tmp_path, RESULTS / "ledger" / "construction.jsonl.gz")


def test_the_recording_is_small_and_complete():
    file = RESULTS / "ledger" / "construction.jsonl.gz"
    assert file.stat().st_size < 500_000
    calls = sum(
        row["calls"]
        for folder in FOLDERS
        for row in json.loads((folder / "report.json").read_text(encoding="utf-8"))["calls"]
    )
    assert 0 < len(replay(file)) <= calls  # two protocols may share a call


def test_a_run_file_is_enough_to_build():
    run = {
        "dataset": "harbour",
        "conversation": "harbour-2",
        "protocol": "repaired",
        "styles": ["dialog", "composed"],
        "questions": 5,
        "groups": 2,
        "seed": 0,
        "regenerations": 1,
        "second_judge": None,
    }
    llm = ScriptedLLM(answer, settings=LLMSettings.of("m"))
    made = build(run, llm)
    assert [row["asked"] for row in made.report.rates] == [5, 2, 7]
    assert made.report.agreement == []
    assert {rule.regenerations for rule in limited("repaired", 1).values()} == {1}
    assert {rule.regenerations for rule in limited("repaired", None).values()} == {3}
    assert {rule.regenerations for rule in limited("paper", 2).values()} == {0, 2}


@pytest.mark.parametrize("folder", FOLDERS, ids=NAMES)
def test_the_numbers_of_the_text_are_those_of_all_styles_once(folder, no_engine):
    made = replayed(folder, RESULTS / "ledger" / "construction.jsonl.gz")
    numbers = construction_numbers(made, run_of(folder))
    assert numbers["construction_asked"] == str(len(made.items))
    assert numbers["construction_kept"] == str(sum(item.kept for item in made.items))
