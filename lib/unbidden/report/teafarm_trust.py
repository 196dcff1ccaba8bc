"""How far TeaFarm's judges can be trusted, and which of them gives the chapter's headline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.judge.labelled import load_items
from unbidden.judge.panel import run_words
from unbidden.judge.teafarm_agents import MESSAGE_RUBRIC
from unbidden.report.judges import accuracy, accuracy_text
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
        Columns ``rubric, protocol, form, n, unscored, accuracy, floor, accuracy_text, floor_text,
        verdict``; accuracies in 0..1 over scored items, as text with their intervals; where calls
        are not on record `accuracy` is missing.
    """
    rows = []
    for run in runs:
        for name in run.rubrics:
            if name == MESSAGE_RUBRIC and run.protocol != runs[0].protocol:
                continue  # both protocols have the same wording of it
            own = [item for item in load_items(split="test") if item.rubric == name]
            words = run_words(own)
            floor = accuracy(words)
            frame = run.frame[run.frame["rubric"] == name]
            done = accuracy(frame) if len(frame) else None
            rows.append(
                {
                    "rubric": name,
                    "protocol": run.protocol,
                    "form": run.form,
                    "n": len(own),
                    "unscored": done["unscored"] if done else None,
                    "accuracy": done["accuracy"] if done else None,
                    "floor": floor["accuracy"],
                    "accuracy_text": accuracy_text(done) if done else NOT_RUN,
                    "floor_text": accuracy_text(floor),
                    "verdict": _against_floor(
                        done["accuracy"] if done else None, floor["accuracy"]
                    ),
                }
            )
    return pd.DataFrame(rows)


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
            "judge": table["accuracy_text"],
            "word rule": table["floor_text"],
            "the judge is": table["verdict"],
        },
        dtype=object,
    )


def headline_judge(talk: pd.DataFrame, table: pd.DataFrame, protocol: str) -> str:
    """Return the judge that gives the headline: the best on the labelled replies of this rubric.

    That is the model's under `protocol`, unless it is not on record or below the word rule.
    """
    own = table[(table["rubric"] == "teafarm") & (table["protocol"] == protocol)]
    rated = own[own["accuracy"].notna()]
    judged = talk[(talk["judge"] == protocol) & talk["value"].notna()]
    below = len(rated) and rated["accuracy"].iloc[0] < rated["floor"].iloc[0]
    return WORDS if below or judged.empty else protocol


def choice_note(judge: str, table: pd.DataFrame, protocol: str) -> str:
    """Return why `headline_judge` is what it is, as the end of a sentence."""
    own = table[(table["rubric"] == "teafarm") & (table["protocol"] == protocol)]
    if own.empty or own["accuracy"].isna().all():
        return "as it is not on record how far a model agrees with the labelled replies"
    if judge == WORDS:
        return "as the model agrees with fewer labels or has no verdict here"
    return "which agrees with at least as many labels as the word rule"


def trust_note(table: pd.DataFrame, model: str, protocol: str) -> str:
    """Return a sentence on the judge that gives the headline."""
    own = table[(table["rubric"] == "teafarm") & (table["protocol"] == protocol)]
    if own.empty or pd.isna(own["accuracy"].iloc[0]):
        return f"How far {model} can be trusted as this judge is not on record here."
    row = own.iloc[0]
    return (
        f"On {row['n']} labelled replies of this rubric the judge {model} is right in "
        f"{points(row['accuracy'])} %, the word rule in {points(row['floor'])} %: it is "
        f"{row['verdict']}."
    )
