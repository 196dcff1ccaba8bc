"""Numbers a page may cite: the run's own, and the default run's where it has no page."""

import json

from unbidden.pages import collect_numbers


def test_a_chapter_the_run_lacks_brings_the_default_run_s_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "study.yaml").write_text("presets: {}\n", encoding="utf-8")
    for place, numbers in {
        "runs/default/02_retrieval": {"k": "10", "only_default": "1"},
        "runs/default/05_implicit_grounding": {"claims": "28"},
        "runs/locomo/02_retrieval": {"k": "5"},
        "recorded/locomo/02_retrieval": {"k": "20"},
    }.items():
        folder = tmp_path / "results" / place
        folder.mkdir(parents=True)
        (folder / "numbers.json").write_text(json.dumps(numbers), encoding="utf-8")
    assert collect_numbers("locomo") == {
        "run": "locomo",
        "run_k": "5",
        "run_claims": "28",
        "locomo_k": "20",
    }
