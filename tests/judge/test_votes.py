"""The audit's real answers: read against LoCoMo, and the known rates come out."""

import json

import pytest

from unbidden.corpus.load import load_corpus
from unbidden.errors import DataError
from unbidden.judge import Verdict
from unbidden.judge.votes import KEY_FAULTS, SOURCES, faulty_keys, load_answers, subset, vote_table

WRONG = [source for source in SOURCES if source.startswith("wrong")]


def record(index=0, **changes):
    return {
        "question_id": f"locomo_0_qa{index}",
        "question": "What did Ana sell?",
        "golden_answer": "the red boat",
        "generated_answer": "a boat",
        "llm_judgments": {"judgment_1": True, "judgment_2": True, "judgment_3": False},
        "category": "4",
        **changes,
    }


@pytest.fixture
def tiny(sample, write):
    return load_corpus(str(write([sample])))


def folder(tmp_path, records, source=WRONG[0]):
    path = tmp_path / SOURCES[source]
    path.write_text(json.dumps({"detailed_results": {"locomo_exp_user_0": records}}))
    return tmp_path


def test_answers_are_read(tiny, tmp_path):
    (answer,) = load_answers(folder(tmp_path, [record()]), tiny, sources=[WRONG[0]])
    assert (answer.question_id, answer.conversation, answer.category) == ("tiny-1#0", "tiny-1", 4)
    assert (answer.votes, answer.accepted, answer.wrong) == ((True, True, False), None, True)
    assert answer.case.facts[0].text == "What did Ana sell: the red boat"
    table = vote_table([answer])
    assert table.loc[0, "accepted"] == 1, "the majority of the audit's votes"
    table = vote_table([answer], [Verdict.none("down")])
    assert (table.loc[0, "items"], table.loc[0, "unscored"]) == (1, 1)
    assert table["accepted"].isna().all()


@pytest.mark.parametrize(
    "change",
    [
        {"question": "Something else?"},
        {"question_id": "locomo_1_qa0"},
        {"question_id": "locomo_0_qa99"},
        {"question_id": "0#0"},
        {"llm_judgments": {}},
        {"llm_judgments": {"judgment_1": "false"}},
        {"category": None},
    ],
)
def test_what_does_not_fit_is_refused(tiny, tmp_path, change):
    with pytest.raises(DataError, match="audit's form"):
        load_answers(folder(tmp_path, [record(), record(**change)]), tiny, sources=[WRONG[0]])


def test_malformed_key_faults_are_refused(tiny, tmp_path):
    (tmp_path / KEY_FAULTS).write_text('[{"question_id": "x"}]')
    with pytest.raises(DataError, match="audit's form"):
        faulty_keys(tmp_path, tiny)


def test_the_real_audit(real_data):
    corpus, place = load_corpus("locomo"), real_data / "locomo-audit"
    answers = load_answers(place, corpus)
    assert len(answers) == 4 * 1_540
    assert {len(answer.votes) for answer in answers} == {3}
    table = vote_table(answers).set_index(["source", "group"])
    # The audit's own counts: 163 and 967 of 1,540 wrong answers, mean accuracies 0.926 and 0.743.
    assert table.loc[("wrong: specific", "all"), "accepted"] == pytest.approx(0.106, abs=0.002)
    assert table.loc[("wrong: vague", "all"), "accepted"] == pytest.approx(0.628, abs=0.002)
    assert table.loc[("real: gpt-4.1-mini", "all"), "accepted"] == pytest.approx(0.926, abs=0.002)
    assert table.loc[("real: gpt-4o-mini", "all"), "accepted"] == pytest.approx(0.743, abs=0.002)
    assert table.loc[("real: gpt-4o-mini", "all votes reject"), "items"] == 388
    assert table.loc[("real: gpt-4o-mini", "all votes accept"), "rejected"] == 0
    faulty = faulty_keys(place, corpus)
    assert len(faulty) == 99
    assert vote_table(answers, excluded=faulty)["items"].iloc[0] == 1_540 - 99
    drawn = subset(answers, 50, seed=1)
    assert len(drawn) == 200
    assert len({answer.question_id for answer in drawn}) == 50, "the same questions in each source"
    assert {a.question_id for a in subset(answers, 20, seed=1)} < {a.question_id for a in drawn}
    assert subset(list(reversed(answers)), 50, seed=1)[:50] == drawn[150:]
    assert {a.question_id for a in subset(answers, 50, seed=2)} != {a.question_id for a in drawn}


def test_real_replies_are_clipped_and_none_is_taken_for_an_order(real_data):
    from unbidden.judge.guards import INSTRUCTS, MAX_CHARACTERS, guard

    answers = load_answers(real_data / "locomo-audit", load_corpus("locomo"))
    found = [guard(answer.answer) for answer in answers]
    assert max(len(answer.answer) for answer in answers) > 50_000
    assert max(len(one.text) for one in found) <= MAX_CHARACTERS + 20
    assert not [one for one in found if INSTRUCTS in one.notes]
    assert len([one for one in found if one.notes]) == 2
