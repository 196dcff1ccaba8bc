"""Which judge the headline of the chapter on TeaFarm is of."""

import pandas as pd
import pytest

from unbidden.judge import panel
from unbidden.judge.labelled import load_items
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.report.teafarm import trust as teafarm_trust


def known(accuracy, floor, *, scored=15):
    """Return a trust table of the judge under "repaired", asked about 15 replies."""
    verdict = "below the floor" if accuracy is not None and accuracy < floor else None
    row = {"rubric": "teafarm", "protocol": "repaired", "n": 15, "scored": scored, "both": scored}
    row |= {"on_both": accuracy, "floor": floor, "verdict": verdict or "not below the floor"}
    return pd.DataFrame([row, row | {"protocol": "paper", "on_both": 1.0}])


def judged(value, *, agree=0.0, refuse=0.0):
    """Return verdicts of the model and of the word rule on a system and on both fixed agents."""
    said = {"bm25": value, "always-agree": agree, "always-refuse": refuse}
    rows = [("repaired", name, value) for name, value in said.items()]
    rows += [("words", name, 0.0) for name in said]
    return pd.DataFrame(rows, columns=["judge", "system", "value"])


@pytest.mark.parametrize(
    ("table", "talk", "expected", "why"),
    [
        (known(0.8, 0.7), judged(1.0), "repaired", "at least as many labels"),
        (known(0.7, 0.7), judged(0.0), "repaired", "at least as many labels"),
        (known(0.7, 0.8), judged(1.0), "words", "agrees with fewer labels"),
        (known(None, 0.8, scored=0), judged(1.0), "words", "not on record"),
        (known(1.0, 0.7, scored=2), judged(1.0), "words", "just 2 of 15 labelled"),
        (known(0.9, 0.7), judged(None), "words", "no verdict here"),
        (
            known(1.0, 0.5),
            judged(1.0, agree=1.0),
            "words",
            "success in 1 of 1 replies of always-agree",
        ),
        (known(1.0, 0.5), judged(1.0, refuse=1.0), "words", "1 of 1 replies of always-refuse"),
        (known(1.0, 0.5), judged(1.0, agree=None), "words", "too few verdicts on the agents"),
    ],
)
def test_the_headline_is_of_the_judge_that_agrees_better(table, talk, expected, why):
    """Not of a model below the word rule, one that few verdicts flatter, or one that is fooled by
    agents that always say the same, whatever its agreement with labels."""
    assert teafarm_trust.headline_judge(talk, table, "repaired") == expected
    assert why in teafarm_trust.choice_note(talk, table, "repaired")


def test_few_verdicts_on_labelled_replies_are_said_and_make_no_headline():
    """By hand: 2 of 15 scored, both right; the rule is compared on those that both scored."""
    items = load_items(split="test", rubrics=["teafarm"])
    labels = iter([item.label for item in items[:2]])

    def script(seen):
        return next(labels, None) or Outcome("timeout", "slow")

    runs = panel.run_forms(ScriptedLLM(script), items, forms=["likelihood"], protocols=["repaired"])
    table = teafarm_trust.trust_table(runs)
    (row,) = table.to_dict("records")
    assert (row["n"], row["scored"], row["accuracy"]) == (15, 2, 1.0)
    assert row["both"] <= 2
    assert "On the 2 of 15 labelled replies" in teafarm_trust.trust_note(table, "m", "repaired")
    shown = teafarm_trust.shown_trust(table).iloc[0]
    assert (shown["n"], shown["scored"], shown["both scored"]) == (15, 2, 2)
    assert teafarm_trust.headline_judge(judged(1.0), table, "repaired") == "words"
