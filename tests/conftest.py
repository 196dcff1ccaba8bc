"""Shared fixtures: hand-made conversations small enough to verify on paper, and the real data."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A slow machine is no failure: no deadline for one example.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parents[1]


def _real_data() -> Path | None:
    for candidate in (os.environ.get("UNBIDDEN_DATA"), ROOT.parent / "shared" / "data"):
        if candidate and (Path(candidate) / "locomo" / "locomo10.json").is_file():
            return Path(candidate)
    return None


@pytest.fixture
def real_data(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of real data, also set as UNBIDDEN_DATA."""
    folder = _real_data()
    if folder is None:
        pytest.skip("the real data is not on this machine (set UNBIDDEN_DATA)")
    monkeypatch.setenv("UNBIDDEN_DATA", str(folder))
    return folder


@pytest.fixture
def sample() -> dict:
    """One conversation of six turns in two sessions, with five questions and all styles."""
    return copy.deepcopy(_SAMPLE)


@pytest.fixture
def write(tmp_path: Path):
    """Write a value as a JSON file and return its path."""

    def _write(value: object, name: str = "mine.json") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
        return path

    return _write


def _turn(speaker: str, dia_id: str, text: str, **more: str) -> dict:
    return {"speaker": speaker, "dia_id": dia_id, "text": text, **more}


_SAMPLE = {
    "sample_id": "tiny-1",
    "conversation": {
        "speaker_a": "Ana",
        "speaker_b": "Ben",
        "session_1_date_time": "12:09 am on 3 May, 2023",
        "session_1": [
            _turn("Ana", "D1:1", "I sold the red boat."),
            _turn("Ben", "D1:2", " Who bought it? "),
            _turn("Ana", "D1:3", "My cousin Rui.", blip_caption="a man on a pier"),
        ],
        "session_2_date_time": "1:56 pm on 8 May, 2023",
        "session_2": [
            _turn("Ben", "D2:1", "I start at the bakery on 7 June."),
            _turn("Ana", "D2:2", "Rui painted the boat blue."),
            _turn("Ben", "D2:3", "Good for him!"),
        ],
        "session_3_date_time": "2:00 pm on 9 May, 2023",
    },
    "qa": [
        {
            "question": "What did Ana sell?",
            "answer": "the red boat",
            "evidence": ["D1:1"],
            "category": 4,
            "dialog_query": "Do you know what I got rid of?",
            "subject_speaker": "speaker_a",
            "implicit_query": "The mooring fee is due again.",
            "expected_memory_use": "the boat is sold",
            "counterfactual_query": "I still have the boat, right where it was.",
            "asserted_wrong": "still has it",
        },
        {
            "question": "What happened to the boat after Ana sold it to Rui?",
            "answer": "it was painted blue",
            "evidence": ["D1:1", "D1:3", "D2:2"],
            "category": 1,
        },
        {"question": "When does Ben start?", "answer": 2023, "evidence": ["D2:1"], "category": 2},
        {"question": "Is Ana rich?", "answer": "unknown", "evidence": [], "category": 3},
        {
            "question": "What did Ben sell?",
            "adversarial_answer": "the red boat",
            "evidence": ["D1:1"],
            "category": 5,
        },
    ],
}


@pytest.fixture
def cluster() -> dict:
    """The composed query that joins the first two questions of `sample`."""
    return {
        "sample_idx": 7,
        "cluster_id": "S7_C0",
        "member_q_idxs": [0, 1],
        "gold_dia_ids": ["D1:1", "D1:3", "D2:2"],
        "member_facts": [
            {"q_idx": 0, "question": "What did Ana sell?"},
            {"q_idx": 1, "question": "What happened to the boat after Ana sold it to Rui?"},
        ],
        "composed_query": "I want to write down how the thing went from me to its new owner.",
        "subject_speaker_name": "Ana",
        "expected_memory_use": "both",
    }


def pytest_addoption(parser):
    parser.addoption(
        "--record-faults", action="store_true", help="keep the outcomes of tests marked `fault`"
    )


_OUTCOMES: dict[str, list[str]] = {}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if item.get_closest_marker("fault") and (report.when == "call" or not report.passed):
        name = item.nodeid.partition("[")[0]
        _OUTCOMES.setdefault(name, []).append(report.outcome)


def pytest_sessionfinish(session):
    if session.config.getoption("--record-faults"):
        from tests.faults.record import write

        write(_OUTCOMES)
