"""Models and floors on the audit's answers: shares by hand, what is not on record left out."""

import io
import json

import pandas as pd
import pytest

from tests.report.judges.test_votes import ANSWERS, answer
from unbidden.config import JudgesConfig
from unbidden.judge import Verdict
from unbidden.llm import LLMSettings, ScriptedLLM, connect
from unbidden.report.judges import voting as votes_judges
from unbidden.report.judges.votes import VOTES, WORDS

SPECIFIC = [answer("wrong: specific", index, (False,) * 3, "b") for index in range(2)]
FOUND = {
    VOTES: None,
    "model": [
        *(Verdict("correct", 1.0), Verdict("correct", 1.0), Verdict("partial", 0.5)),
        *(Verdict("correct", 1.0), Verdict("wrong", 0.0), Verdict.none("empty")),
    ],
}


def config(**changes):
    given = {"chapter": "08_judges", "audit_per_kind": 2, "similarity": False, "forms": ["json"]}
    return JudgesConfig.of(**(given | changes))


def test_shares_by_hand():
    table = votes_judges.acceptance(ANSWERS, FOUND).set_index(["judge", "source", "group"])
    vague = table.loc[("model", "wrong: vague", "all")]
    assert (vague["items"], vague["unscored"], vague["accepted"]) == (3, 1, 0.5)
    kept = table.loc[("model", "real: gpt-4.1-mini", "all votes accept")]
    assert (kept["items"], kept["accepted"]) == (1, 1.0)
    assert table.loc[(VOTES, "wrong: vague", "all"), "accepted"] == pytest.approx(2 / 3)


def test_the_grid_and_the_note_read_the_same_from_a_file():
    table = votes_judges.acceptance(ANSWERS, FOUND)
    again = pd.read_csv(io.StringIO(table.to_csv(index=False)))
    for one in (table, again):
        shown = votes_judges.shown_acceptance(one).set_index("judge")
        assert shown.loc["model", "wrong, vague"].startswith("50.0")
        assert shown.loc["model", "kept: real, GPT-4.1-mini"].startswith("100.0")
        assert shown.loc["model", "wrong, specific"] == "–", "none of them were judged"
        assert shown.loc["model", "unscored"] == 1
        note = votes_judges.model_note(one)
        assert note == "Of the wrong answers model accepts 50.0 % (wrong, vague)."
    assert votes_judges.model_note(None) == "No model of ours was asked about them here."
    floors = table[table["judge"] == VOTES]
    assert votes_judges.model_note(floors) == "No model of ours was asked about them here."


def test_differences_pair_answers_that_a_judge_scored():
    table = votes_judges.against_votes(ANSWERS, FOUND).set_index("source")
    assert table.loc["wrong: vague", "n"] == 2, "one is unscored"
    assert table.loc["wrong: vague", "difference"] == 0
    assert table.loc["real: gpt-4.1-mini", "difference"] == 0, "two of three either way"
    assert set(table["judge"]) == {"model"}


def test_a_model_is_asked_about_the_same_questions_of_each_kind():
    llm = ScriptedLLM(lambda seen: json.dumps({"use": "correct"}))
    drawn, found = votes_judges.judged_answers([*ANSWERS, *SPECIFIC], llm, config())
    assert [one.source for one in drawn].count("wrong: specific") == 2
    assert len(llm.seen) == len(drawn) == 6
    assert list(found) == [VOTES, WORDS, "qwen2.5-coder-1.5b, json"]
    tables = votes_judges.judged_tables([*ANSWERS, *SPECIFIC], llm, config())
    numbers = votes_judges.audit_numbers(tables)
    assert numbers["audit_per_kind"] == "2"
    assert "accepts 100.0 % (wrong, specific) and 100.0 % (wrong, vague)" in numbers["audit_note"]


def test_what_is_not_on_record_is_left_out(tmp_path):
    with connect(LLMSettings.of("nobody"), "replay", ledger=tmp_path / "l.sqlite") as llm:
        _, found = votes_judges.judged_answers(ANSWERS, llm, config(also_judges=["other"]))
    assert list(found) == [VOTES, WORDS]
    assert votes_judges.audit_numbers({})["audit_per_kind"] == "No part"
