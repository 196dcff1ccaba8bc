"""How far TeaFarm's judges can be trusted, and which of them gives the chapter's headline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.judge.labelled import load_items
from unbidden.judge.panel import run_words
from unbidden.judge.teafarm_agents import MESSAGE_RUBRIC
from unbidden.reply.teafarm import FIXED
from unbidden.report.judges.tables import accuracy, accuracy_text, covers, jointly_scored
from unbidden.report.tables import points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.judge.panel import Run

NOT_RUN = "not run"
WORDS = "words"
JUDGES = {"repaired": "our rubric", "paper": "the paper's judge", WORDS: "the word rule"}


def trust_table(runs: Sequence[Run]) -> pd.DataFrame:
    """Return the accuracy of the judge and of the word rule on the labelled set, by rubric.

    Returns
    -------
    DataFrame
        Columns ``rubric, protocol, form, n, scored, accuracy, accuracy_text, both, on_both, floor,
        floor_text, verdict``: `n` replies were asked about, `accuracy` is over the `scored` ones;
        `on_both` and `floor` (the word rule) are over the `both` that judge and rule scored.
        Accuracies in 0..1, as text with their intervals; missing where calls are not on record.
    """
    rows = []
    for run in runs:
        for name in run.rubrics:
            if name == MESSAGE_RUBRIC and run.protocol != runs[0].protocol:
                continue  # both protocols have the same wording of it
            own = load_items(split="test", rubrics=[name])
            keys = {"rubric": name, "protocol": run.protocol, "form": run.form, "n": len(own)}
            frame = run.frame[run.frame["rubric"] == name]
            rows.append(keys | _beside(frame, run_words(own)))
    return pd.DataFrame(rows)


def _beside(frame: pd.DataFrame, words: pd.DataFrame) -> dict[str, Any]:
    """Return how a judge and the word rule agree with the labels of one rubric."""
    done = accuracy(frame)
    mine, rule = (accuracy(side) for side in jointly_scored(frame, words))
    return {
        "scored": done["items"] - done["unscored"],
        "accuracy": done["accuracy"],
        "accuracy_text": accuracy_text(done) if len(frame) else NOT_RUN,
        "both": mine["items"],
        "on_both": mine["accuracy"],
        "floor": rule["accuracy"],
        "floor_text": accuracy_text(rule),
        "verdict": _against_floor(mine["accuracy"], rule["accuracy"]),
    }


def _against_floor(judge: float | None, floor: float | None) -> str:
    if judge is None or floor is None:
        return "not known"
    return "below the floor" if judge < floor else "not below the floor"


def shown_trust(table: pd.DataFrame) -> pd.DataFrame:
    """Return `trust_table` as text."""
    if table.empty:
        return table
    names = {"repaired": "ours", "paper": "the paper's"}
    return pd.DataFrame(
        {
            "rubric": table["rubric"],
            "wording": [names[name] for name in table["protocol"]],
            "n": table["n"],
            "scored": table["scored"],
            "judge": table["accuracy_text"],
            "both scored": table["both"],
            "judge there": [points(value) for value in table["on_both"]],
            "word rule there": table["floor_text"],
            "the judge is": table["verdict"],
        },
        dtype=object,
    )


def headline_judge(talk: pd.DataFrame, table: pd.DataFrame, protocol: str) -> str:
    """Return the judge that gives the headline: the model's under `protocol`, or the word rule.

    The model's does not where `objection` has one.

    Parameters
    ----------
    talk : DataFrame
        Verdicts of all judges, on the fixed agents too, from
        `unbidden.report.teafarm.runs.TeaRuns.talk`.
    table : DataFrame
        From `trust_table`.
    """
    return protocol if objection(talk, table, protocol) is None else WORDS


def objection(talk: pd.DataFrame, table: pd.DataFrame, protocol: str) -> str | None:
    """Return why a model's verdicts cannot give the headline, as the end of a sentence, or None.

    Whatever its agreement with labels, a judge that sees success in an agent that always says the
    same does not, nor one without enough verdicts to know: what is unscored is no merit.
    """
    own = talk[talk["judge"] == protocol]
    fixed = own[own["system"].isin(FIXED)]
    fooled = fixed[fixed["value"] > 0]
    if len(fooled):
        names = list(dict.fromkeys(fooled["system"]))
        said = int(fixed["system"].isin(names).sum())
        return (
            f"as the model sees success in {len(fooled)} of {said} replies of {' and '.join(names)}"
        )
    rated = table[(table["rubric"] == "teafarm") & (table["protocol"] == protocol)]
    if rated.empty or not rated["scored"].iloc[0]:
        return "as it is not on record how far a model agrees with the labelled replies"
    row = rated.iloc[0]
    if not covers(row["scored"], row["n"]):
        return f"as the model has a verdict on just {row['scored']} of {row['n']} labelled replies"
    if row["verdict"] != "not below the floor":
        return "as the model agrees with fewer labels"
    if not covers(int(fixed["value"].notna().sum()), len(fixed)):
        return "as the model has too few verdicts on the agents that never look"
    if own[~own["system"].isin(FIXED)]["value"].isna().all():
        return "as the model has no verdict here"
    return None


def choice_note(talk: pd.DataFrame, table: pd.DataFrame, protocol: str) -> str:
    """Return why `headline_judge` is what it is, as the end of a sentence."""
    return objection(talk, table, protocol) or (
        "which agrees with at least as many labels as the word rule, and sees no success in agents "
        "that always say the same"
    )


def trust_note(table: pd.DataFrame, model: str, protocol: str) -> str:
    """Return a sentence on the model as the judge, over the replies that it and the rule scored."""
    own = table[(table["rubric"] == "teafarm") & (table["protocol"] == protocol)]
    if own.empty or not own["both"].iloc[0]:
        return f"How far {model} can be trusted as this judge is not on record here."
    row = own.iloc[0]
    return (
        f"On the {row['both']} of {row['n']} labelled replies of this rubric that both scored, the "
        f"judge {model} is right in {points(row['on_both'])} %, the word rule in "
        f"{points(row['floor'])} %: it is {row['verdict']}."
    )
