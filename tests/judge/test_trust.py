"""Trust in judges: agreement against labels, computed where the answer is known."""

import json

import numpy as np
import pytest

from unbidden.judge import Verdict
from unbidden.judge.labelled import cases, load_items
from unbidden.judge.steadiness import WORDINGS, wording_grid, wording_summary
from unbidden.judge.trust import UNSCORED, agreement_table, by_tag, comparison, confusion, run_judge
from unbidden.llm import ScriptedLLM

ITEMS = load_items(rubrics=["fact_use"])
SCORES = {"correct": 1.0, "partial": 0.5, "wrong": 0.0}


def says(label):
    return Verdict(label, SCORES[label])


def test_a_perfect_judge():
    frame = comparison(ITEMS, [says(item.label) for item in ITEMS])
    (row,) = agreement_table(frame, resamples=20).to_dict("records")
    assert (row["items"], row["unscored"], row["note"]) == (len(ITEMS), 0, None)
    assert row["accuracy"] == row["kappa"] == row["alpha"] == pytest.approx(1)
    assert row["kappa_low"] == row["kappa_high"] == pytest.approx(1)
    assert row["majority"] == pytest.approx(1 / 3)


def test_a_judge_that_says_one_thing():
    frame = comparison(ITEMS, [says("partial") for _ in ITEMS])
    (row,) = agreement_table(frame, resamples=20).to_dict("records")
    assert row["accuracy"] == pytest.approx(row["majority"])
    assert row["kappa"] == pytest.approx(0)
    assert row["alpha"] == pytest.approx(0, abs=0.02)


def test_kappa_and_alpha_by_hand():
    items = ITEMS[:2] + [i for i in ITEMS if i.label == "wrong"][:2]
    verdicts = [says("correct"), says("wrong"), says("wrong"), says("wrong")]
    (row,) = agreement_table(comparison(items, verdicts), resamples=5).to_dict("records")
    assert row["accuracy"] == 0.75
    # 2 of 4 correct against 1 of 4: chance is (2*1 + 2*3) / 16 = 0.5, so kappa is 0.5.
    assert row["kappa"] == pytest.approx(0.5)
    # Ordinal with two of three labels in use: as nominal, 1 - (n-1) * o / (n_c * n_k)
    # = 1 - 7 * 2 / (3 * 5) / 2 with the coincidences o = 2 of both directions.
    assert row["alpha"] == pytest.approx(1 - 7 * 1 / (3 * 5))


def test_unscored_verdicts_are_counted_beside():
    verdicts = [says(item.label) for item in ITEMS]
    verdicts[0] = Verdict.none("timeout: slow")
    frame = comparison(ITEMS, verdicts)
    (row,) = agreement_table(frame, resamples=5).to_dict("records")
    assert (row["unscored"], row["accuracy"]) == (1, 1.0)
    left = [item.label for item in ITEMS[1:]]
    assert row["majority"] == pytest.approx(max(map(left.count, left)) / len(left))
    table = confusion(frame, "fact_use")
    assert table.loc["correct", UNSCORED] == 1
    assert table.to_numpy().sum() == len(ITEMS)
    none = comparison(ITEMS, [Verdict.none("down")] * len(ITEMS))
    (row,) = agreement_table(none, resamples=5).to_dict("records")
    assert row["unscored"] == len(ITEMS)
    assert row["accuracy"] is None or np.isnan(row["accuracy"])
    assert np.isnan(row["kappa"])
    assert np.isnan(row["alpha"])
    assert np.isnan(row["majority"])
    assert row["note"] == "no scored item"


def test_notes_stand_beside_the_verdicts():
    verdicts = [says("wrong").noted("reply clipped", "orders"), says("wrong")]
    found = comparison(ITEMS[:2], verdicts)
    assert found["notes"].tolist() == ["reply clipped; orders", ""]


def test_one_value_throughout_has_no_alpha():
    right = [item for item in ITEMS if item.label == "correct"]
    frame = comparison(right, [says("correct")] * len(right))
    (row,) = agreement_table(frame, resamples=5).to_dict("records")
    assert "agreement beyond chance is not defined" in row["note"]
    assert np.isnan(row["kappa"])


def test_the_interval_is_seeded_and_widens_with_disagreement():
    rng = np.random.default_rng(1)
    verdicts = [says(item.label if rng.random() < 0.7 else "wrong") for item in ITEMS]
    frame = comparison(ITEMS, verdicts)
    one, two = (agreement_table(frame, resamples=99, seed=3) for _ in range(2))
    assert one.equals(two)
    assert one["kappa_low"][0] < one["kappa"][0] < one["kappa_high"][0]
    assert one["alpha_low"][0] < one["alpha_high"][0]


def test_confusion_and_tags():
    verdicts = [says("correct" if item.label == "partial" else item.label) for item in ITEMS]
    frame = comparison(ITEMS, verdicts)
    table = confusion(frame, "fact_use")
    assert table.loc["partial", "correct"] == 23
    assert table.loc["wrong", "wrong"] == 23
    tags = by_tag(frame)
    assert tags.iloc[0]["accuracy"] == 0
    assert tags.set_index("tag").loc["partial-list", "accuracy"] == 0
    assert tags.set_index("tag").loc["injection", "accuracy"] == 1


def test_parts_are_compared_one_by_one():
    items = load_items(rubrics=["implicit"])
    always = Verdict("fact only", 0.0, parts=(("fact", 1.0), ("situation", 0.0)))
    table = agreement_table(comparison(items, [always] * len(items)), resamples=5)
    found = table.set_index("part")["accuracy"]
    assert found["fact"] == found["situation"] == 0.5
    assert found[""] == 0.25
    assert (
        confusion(comparison(items, [always] * len(items)), "implicit", "fact").loc["0", "1"] == 12
    )
    lost = comparison(items, [Verdict("both", 1.0)] * len(items))
    assert (lost[lost["part"] == "fact"]["unscored"] == "no such part").all()


def test_a_scripted_judge_runs_over_all_rubrics(harbour):
    answers = {
        "use": {"use": "partial"},
        "handling": {"handling": "unaware"},
        "asserted": {"asserted": "no"},
        "better": {"better": "first"},
        "result": {"result": "wrong"},
        "fact_used": {"fact_used": "no", "situation_tied": "yes"},
        "faithfulness": {"faithfulness": "yes", "relevance": "yes", "engagement": "yes"},
    }

    def answer(seen):
        first = next(iter(seen.schema.model_fields))
        if first == "facts":
            return json.dumps({"facts": [{"number": n, "covered": True} for n in (1, 2)]})
        return json.dumps(answers[first])

    items = load_items()
    frame = run_judge(ScriptedLLM(answer), items, corpus=harbour)
    assert frame["unscored"].isna().all()
    assert set(frame["item"]) == {item.id for item in items}
    table = agreement_table(frame, resamples=3).set_index(["rubric", "part"])
    assert table.loc[("pairwise", ""), "accuracy"] == pytest.approx(1 / 3)
    assert table.loc[("trap", ""), "accuracy"] == 0.5
    assert table.loc[("implicit", "situation"), "accuracy"] == 0.5


def test_the_wording_grid_shows_what_the_wording_does(harbour):
    def answer(seen):
        return json.dumps({"use": "correct" if "reader" in seen.prompt_name else "partial"})

    built = cases(ITEMS[:6], harbour)
    llm = ScriptedLLM(answer)
    grid = wording_grid(llm, built)
    assert list(grid["wording"].unique()) == list(WORDINGS)
    assert len({seen.messages[0]["content"] for seen in llm.seen}) == 3
    assert len({seen.messages[1]["content"] for seen in llm.seen}) == 6, "the item is the same"
    summary = wording_summary(grid).set_index("wording")
    assert summary.loc["reader", "mean"] == 1
    assert summary.loc["plain", "mean"] == 0.5
    assert (summary["unanimous"] == 0).all() and (summary["unanimous_high"] == 0).all()
    down = wording_summary(wording_grid(ScriptedLLM(lambda _: "?"), built))
    assert (down["unscored"] == 6).all()
    assert down["unanimous"].isna().all()
