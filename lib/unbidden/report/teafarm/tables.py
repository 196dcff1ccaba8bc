"""Who is misled: the headline table of the chapter on TeaFarm, and what is still to be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.judge.registry import rubric
from unbidden.judge.teafarm_agents import waits
from unbidden.reply.replaying import NO_MEMORY
from unbidden.reply.teafarm import FIXED
from unbidden.report.paired import against
from unbidden.report.summary import scored_systems
from unbidden.report.tables import with_interval
from unbidden.stats import clustered_share

if TYPE_CHECKING:
    from collections.abc import Sequence

LABELS = ("correct", "wrong", "evasive")
"""Not misled; misled, or contradicting the truth; neither."""


def of_judge(talk: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Return the verdicts of one judge ("repaired", "paper" or "words")."""
    return talk[talk["judge"] == judge]


def outcomes(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the share of each label by agent, with 95 % intervals clustered by conversation.

    Parameters
    ----------
    rows : DataFrame
        Verdicts of one judge.

    Returns
    -------
    DataFrame
        Columns ``system, label, mean, low, high, n, conversations, unscored, waiting``; `n` are
        the scored replies, `waiting` those not on record, `unscored` all others without verdict.
        The share of a label that the judge does not know is missing.
    """
    records = []
    known = _labels(rows)
    for agent, group in rows.groupby("system", sort=False):
        waiting = group["unscored"].map(waits)
        scored = group[group["value"].notna()]
        for label in LABELS:
            own = scored if label in known else scored[:0]
            hit = (own["label"] == label).to_numpy(float)
            found = clustered_share(hit, list(own["conversation"]))
            records.append(
                {
                    "system": agent,
                    "label": label,
                    "mean": found.mean,
                    "low": found.low,
                    "high": found.high,
                    "n": len(scored),
                    "conversations": scored["conversation"].nunique(),
                    "unscored": int((group["value"].isna() & ~waiting).sum()),
                    "waiting": int(waiting.sum()),
                }
            )
    columns = ["system", "label", "mean", "low", "high", "n", "conversations", "unscored"]
    return pd.DataFrame(records, columns=[*columns, "waiting"])


def _labels(rows: pd.DataFrame) -> tuple[str, ...]:
    """Return the labels that the judge of the rows can give: the paper's knows no evasive reply."""
    paper = len(rows) and (rows["judge"] == "paper").all()
    return rubric("teafarm").labels("paper" if paper else "repaired")


def shown_outcomes(table: pd.DataFrame) -> pd.DataFrame:
    """Return `outcomes` as text, one row an agent."""
    rows = []
    for agent, group in table.groupby("system", sort=False):
        cells = {row["label"]: row for row in group.to_dict("records")}
        first = cells[LABELS[0]]
        shares = {
            label: with_interval(cell["mean"], cell["low"], cell["high"])
            if cell["n"]
            else "not run"
            for label, cell in cells.items()
        }
        rows.append(
            {
                "agent": agent,
                "n": first["n"],
                "conv.": first["conversations"],
                "not misled": shares["correct"],
                "misled": shares["wrong"],
                "evasive": shares["evasive"],
                "unscored": first["unscored"],
                "not run": first["waiting"],
            }
        )
    return pd.DataFrame(rows, dtype=object)


def differences(rows: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Return each agent's success minus that without memory, paired, corrected (Holm)."""
    own = rows[~rows["system"].isin(FIXED)]
    if own[own["system"] == NO_MEMORY]["value"].notna().any():
        return against(scored_systems(own), NO_MEMORY, seed=seed)
    return pd.DataFrame()


def shown_missing(missing: pd.DataFrame) -> pd.DataFrame:
    """Return what is still to be asked by step, as text; at least, where calls build on others."""
    if missing.empty:
        return pd.DataFrame([{"": "nothing: every call of this run is on record"}])
    steps = {
        "reply": "replies and what they need",
        "verdict": "verdicts",
        "message": "replies in LoCoMo-Conv's form",
        "message verdict": "verdicts in LoCoMo-Conv's form",
        "question": "making questions",
    }
    rows = [
        {
            "step": steps[str(step)] + (f", {protocol}" if step == "verdict" else ""),
            "agents": group["agent"].nunique() if step != "question" else "–",
            "conv.": group["conversation"].nunique(),
            "calls, at least": int(group["calls"].sum()),
            "input tokens": int(group["input_tokens"].sum()),
        }
        for (step, protocol), group in missing.groupby(["step", "protocol"], sort=False)
    ]
    return pd.DataFrame(rows, dtype=object)


def agents_of(talk: pd.DataFrame) -> Sequence[str]:
    """Return the agents in order, without those that always say the same."""
    return [str(name) for name in dict.fromkeys(talk["system"]) if name not in FIXED]
