"""Reading a release made by hand, and the real one against the numbers THEANINE prints."""

import json

import pytest

from unbidden.errors import ConfigError, DataError
from unbidden.reply import published
from unbidden.reply.published import SYSTEMS, released_turns
from unbidden.reply.rescoring import (
    comedy_by_rule,
    compare_released,
    length_matched,
    released,
    replies_with_gold,
    rescore,
)
from unbidden.report.published import theanine_table

pytest.importorskip("sacrebleu", reason="needs the package sacrebleu")
pytest.importorskip("rouge_score", reason="needs the package rouge-score")

TALK = ["Ana: Hi: all well?", "Ben: Yes.", "Ben: And you?"]


def _release(folder, monkeypatch, change=lambda files: None):
    """Write one episode of three records in the five systems' own forms."""
    keys = [f"e0-s5-t{n}" for n in (1, 2, 3)]
    files = {
        "theanine": [
            {
                "utter_id": key,
                "current_dialogue": "\n".join(TALK[: n + 1]),
                "speaker": "Ana",
                "raw_prediction": f"theanine {n}",
            }
            for n, key in enumerate(keys)
        ]
    }
    for system in SYSTEMS[1:]:
        records = {
            key: {"current_dialogue": TALK[: n + 1], published._FILES[system][1]: f"{system} {n}"}
            for n, key in enumerate(keys)
        }
        files[system] = records
    change(files)
    paths = {}
    for system, value in files.items():
        paths[system] = folder / f"msc_{system}.json"
        paths[system].write_text(json.dumps(value))
    monkeypatch.setattr(published, "release_files", lambda dataset: paths)


def test_the_gold_is_the_line_the_next_record_adds(tmp_path, monkeypatch):
    _release(tmp_path, monkeypatch)
    turns = released_turns("msc")
    assert [(turn.gold_speaker, turn.gold) for turn in turns] == [
        ("Ben", "Yes."),
        ("Ben", "And you?"),  # the same speaker again, whatever the field says
        (None, None),
    ]
    assert [turn.stated_speaker for turn in turns] == ["Ana"] * 3
    assert turns[1].replies["comedy"] == "comedy 1"
    replies, gold, episodes = replies_with_gold(turns)
    assert (gold, episodes) == (["Yes.", "And you?"], [0, 0])
    assert replies["theanine"] == ["theanine 0", "theanine 1"]


def _later(files):
    files["theanine"][1]["current_dialogue"] = "Ana: Other words\nBen: Yes."
    for system in SYSTEMS[1:]:
        files[system]["e0-s5-t2"]["current_dialogue"] = ["Ana: Other words", "Ben: Yes."]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda files: files["comedy"].pop("e0-s5-t2"), "the same 3 turns"),
        (lambda files: files["comedy"]["e0-s5-t2"].update(current_dialogue=["x"]), "same dialogue"),
        (_later, "this dialogue and one line more"),
        (lambda files: files["theanine"][0].update(utter_id="x"), "the same 3 turns"),
    ],
)
def test_a_release_that_disagrees_with_itself_is_refused(tmp_path, monkeypatch, change, expected):
    _release(tmp_path, monkeypatch, change)
    with pytest.raises(DataError, match="THEANINE's release") as error:
        released_turns("msc")
    assert expected in str(error.value)


def test_an_unknown_set_is_named(monkeypatch, tmp_path):
    with pytest.raises(ConfigError, match="unknown released data set"):
        released_turns("locomo")
    monkeypatch.setenv("UNBIDDEN_DATA", str(tmp_path))
    monkeypatch.setenv("UNBIDDEN_CACHE", str(tmp_path))
    with pytest.raises(DataError, match="unbidden data get theanine"):
        released_turns("msc")


# What follows reads the release. Numbers: our reference, section 7.


@pytest.fixture(scope="module")
def turns():
    import os
    from pathlib import Path

    from tests.conftest import _real_data

    folder = _real_data()
    if folder is None or not (Path(folder) / "theanine" / "msc_theanine.json").is_file():
        pytest.skip("THEANINE's release is not on this machine (set UNBIDDEN_DATA)")
    before = os.environ.get("UNBIDDEN_DATA")
    os.environ["UNBIDDEN_DATA"] = str(folder)
    yield released()
    if before is None:
        del os.environ["UNBIDDEN_DATA"]
    else:
        os.environ["UNBIDDEN_DATA"] = before


@pytest.mark.realdata
def test_the_turns_are_those_described(turns):
    assert {name: len(items) for name, items in turns.items()} == {"msc": 541, "cc": 594}
    gold = {name: [t for t in items if t.gold is not None] for name, items in turns.items()}
    assert {name: len(items) for name, items in gold.items()} == {"msc": 491, "cc": 544}
    wrong = {
        name: [t for t in items if t.gold_speaker != t.stated_speaker]
        for name, items in gold.items()
    }
    assert {name: len(items) for name, items in wrong.items()} == {"msc": 5, "cc": 24}
    assert {t.turn for t in wrong["cc"]} == {1}


@pytest.mark.slow
@pytest.mark.realdata
def test_the_released_replies_give_the_printed_scores(turns):
    frame = rescore(turns).set_index(["dataset", "system"])
    expected = {
        "theanine": (4.33, 19.39),
        "msc-retrieval": (3.34, 18.20),
        "memory-update": (3.01, 17.53),
        "memochat": (1.84, 15.01),
        "comedy": (1.36, 13.46),
    }
    printed = theanine_table(9).query("session == '5'").set_index(["system", "metric"])["value"]
    for system, (bleu, rouge) in expected.items():
        row = frame.loc[("mean", system)]
        assert row["bleu4"] == pytest.approx(bleu, abs=0.03)
        assert row["rouge_l"] == pytest.approx(rouge, abs=0.03)
        assert abs(row["bleu4"] - printed[system, "bleu4"]) <= 0.13
        assert abs(row["rouge_l"] - printed[system, "rouge_l"]) <= 0.26
    assert frame.loc[("msc", "theanine"), ["bleu4", "rouge_l", "words"]].round(2).tolist() == [
        *(1.98, 16.31, 21.50)
    ]
    assert frame.loc[("cc", "msc-retrieval"), ["bleu4", "rouge_l"]].round(2).tolist() == [
        *(4.47, 20.34)
    ]
    assert frame.loc[("msc", "gold"), "words"] == pytest.approx(29.8, abs=0.05)
    assert frame.loc[("cc", "gold"), "words"] == pytest.approx(18.3, abs=0.05)
    assert frame["bleu4"].isna().sum() == 3  # gold has no score of its own


@pytest.mark.slow
@pytest.mark.realdata
def test_cut_to_one_length_most_of_the_gap_goes(turns):
    frame = length_matched(turns).set_index(["dataset", "system", "cut"])
    found = frame[["bleu4", "rouge_l"]].round(2)
    assert found.loc[("cc", "msc-retrieval", "words")].tolist() == [5.75, 21.75]
    assert found.loc[("cc", "msc-retrieval", "sentences")].tolist() == [4.83, 20.53]
    assert found.loc[("msc", "msc-retrieval", "words")].tolist() == [1.83, 16.24]
    assert frame.loc[("cc", "msc-retrieval", "sentences"), "words"] == pytest.approx(13.5, abs=0.05)
    assert ("cc", "theanine", "words") not in frame.index


@pytest.mark.slow
@pytest.mark.realdata
def test_the_bootstrap_tells_an_effect_on_one_set_only(turns):
    frame = compare_released(turns).query("first == 'msc-retrieval'")
    found = frame.set_index(["dataset", "metric"])
    expected = {
        ("msc", "bleu4"): (-0.23, -0.66, 0.23),
        ("msc", "rouge_l"): (0.24, -0.37, 0.85),
        ("cc", "bleu4"): (2.19, 1.23, 3.11),
        ("cc", "rouge_l"): (2.13, 0.85, 3.33),
    }
    for key, values in expected.items():
        # Bounds of 2,000 resamples differ by some 0.05 from one seed to another.
        got = found.loc[key, ["difference", "low", "high"]].astype(float).tolist()
        assert got == pytest.approx(list(values), abs=0.08)
    assert found["differs"].tolist() == [False, False, True, True]


@pytest.mark.slow
@pytest.mark.realdata
def test_the_rule_for_comedy_is_stated_and_matters_little(turns):
    frame = comedy_by_rule(turns).query("dataset == 'mean'").set_index("rule")
    assert frame["bleu4"].round(2).to_dict() == {
        "raw": 1.22,
        "last_colon": 1.36,
        "first_turn": 1.45,
    }
    assert frame["rouge_l"].to_dict() == pytest.approx(
        {"raw": 12.95, "last_colon": 13.46, "first_turn": 13.65}, abs=0.01
    )
