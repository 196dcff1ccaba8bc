"""Votes on real answers: counted by hand, shown the same from a file, absent without one."""

import io

import pandas as pd
import pytest

from tests.conftest import ROOT
from unbidden.config import JudgesConfig
from unbidden.judge import Verdict
from unbidden.judge.votes import Answer
from unbidden.report.folder import RunFolder
from unbidden.report.judges import votes
from unbidden.report.judges.votes import SOUND_KEYS, VotesReport, count, differences

YES, NO = (True,) * 3, (False,) * 3


def answer(source, index, given, conversation="a"):
    return Answer(
        source=source,
        question_id=f"{conversation}#{index}",
        conversation=conversation,
        category=4,
        question="What did Ana sell?",
        gold="the red boat",
        answer="<b>a boat</b>",
        votes=given,
        wrong=source.startswith("wrong"),
    )


ANSWERS = [
    answer("real: gpt-4.1-mini", 0, YES),
    answer("real: gpt-4.1-mini", 1, NO),
    answer("real: gpt-4.1-mini", 0, (True, True, False), "b"),
    answer("wrong: vague", 0, YES),
    answer("wrong: vague", 1, NO),
    answer("wrong: vague", 0, YES, "b"),
]
RULE = [
    *(Verdict("partial", 0.5), Verdict("wrong", 0.0), Verdict("correct", 1.0)),
    *(Verdict("partial", 0.5), Verdict("wrong", 0.0), Verdict.none("no gold answer")),
]


def as_recorded(frame):
    return pd.read_csv(io.StringIO(frame.to_csv(index=False)))


def test_both_judges_are_counted_on_the_same_answers():
    table = count(ANSWERS, RULE).set_index(["judge", "source", "group"])
    by_votes = table.loc[("three GPT votes", "wrong: vague", "all")]
    assert by_votes["accepted"] == pytest.approx(2 / 3)
    assert by_votes["split"] == 0
    assert table.loc[("three GPT votes", "real: gpt-4.1-mini", "all"), "split"] == pytest.approx(
        1 / 3
    )
    rule = table.loc[("word rule", "wrong: vague", "all")]
    assert (rule["items"], rule["unscored"], rule["accepted"], rule["half"]) == (3, 1, 0, 0.5)
    assert table.loc[("word rule", "real: gpt-4.1-mini", "all votes accept"), "items"] == 1


def test_questions_with_a_faulty_key_are_left_out_beside():
    table = count(ANSWERS, RULE, {"a#0"})
    sound = table[(table["keys"] == SOUND_KEYS) & (table["group"] == "all")]
    assert set(sound["items"]) == {2}
    assert set(count(ANSWERS, RULE)["keys"]) == {"all"}


def test_differences_pair_answers_and_leave_unscored_ones_out():
    table = differences(ANSWERS, RULE).set_index("source")
    assert table.loc["wrong: vague", "n"] == 2, "one has no verdict by words"
    assert table.loc["wrong: vague", "difference"] == pytest.approx(-0.5)
    assert table.loc["real: gpt-4.1-mini", "difference"] == pytest.approx(-1 / 3)


def test_tables_read_the_same_from_a_file():
    table = count(ANSWERS, RULE, {"a#1"})
    for show in (votes.shown_votes, votes.shown_kept, votes.shown_keys):
        now, later = show(table), show(as_recorded(table))
        assert now.astype(str).equals(later.astype(str))
    shown = votes.shown_votes(table)
    assert shown["answers"].tolist() == [*["wrong, vague"] * 2, *["real, GPT-4.1-mini"] * 2]
    assert shown["half"].tolist() == ["–", "50.0", "–", "33.3"]
    assert list(votes.shown_keys(table).columns) == [
        *("answers", "judge"),
        "all questions",
        SOUND_KEYS,
    ]
    paired = votes.shown_vote_differences(as_recorded(differences(ANSWERS, RULE)))
    assert paired["answers"].tolist() == ["wrong, vague", "real, GPT-4.1-mini"]
    assert "detectable" in paired


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "study.yaml").touch()
    monkeypatch.chdir(tmp_path)
    return RunFolder(JudgesConfig.of(chapter="08_judges"))


def test_without_a_recording_the_page_says_so(folder):
    report = VotesReport(folder, now=False)
    table = report.table("votes", votes.shown_votes, "tab-votes", "Votes.")
    assert "not recorded here" in table._repr_html_()
    assert report.accepted() is None
    assert set(report.numbers().values()) == {"–"}


def test_a_recording_is_shown(folder, tmp_path):
    place = tmp_path / "results" / "recorded" / "audit" / "08_judges" / "tables"
    place.mkdir(parents=True)
    count(ANSWERS, RULE).to_csv(place / "votes.csv", index=False)
    report = VotesReport(folder, now=False)
    assert report.numbers()["votes_vague"].startswith("66.7 [")
    assert report.numbers()["words_kept_long"] == "0.0"
    assert report.numbers()["words_marks_vague"] == "25.0", "one half and one zero; one unscored"
    assert set(report.accepted()["judge"]) == {"three GPT votes", "word rule"}


@pytest.mark.realdata
def test_the_real_votes_are_counted_and_hold_no_text(real_data, folder):
    report = VotesReport(folder, now=True)
    numbers = report.numbers()
    assert numbers["votes_vague"].startswith("62.7 ")
    assert numbers["votes_specific"].startswith("10.6 ")
    assert len(report.sources) == 5
    written = sorted(path.name for path in (folder.path / "tables").iterdir())
    assert written == ["votes.csv", "votes_difference.csv"]
    kept = ROOT / "results" / "recorded" / "audit" / "08_judges" / "tables"
    for name, frame in report.frames.items():
        recorded = pd.read_csv(kept / f"{name}.csv")
        pd.testing.assert_frame_equal(as_recorded(frame), recorded, rtol=1e-6)
    names = pd.read_csv(kept / "votes.csv")[["judge", "keys", "source", "group"]]
    assert (names.nunique() <= 4).all(), "no text of the data"
