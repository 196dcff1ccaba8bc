"""Whether a judge keeps to its verdict when only the order or the wording changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.judge.asking import judge, judge_views
from unbidden.judge.registry import rubric
from unbidden.judge.rubrics.pairwise import SWAPPED
from unbidden.stats import clustered_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.judge.case import Case
    from unbidden.judge.rubric import Form
    from unbidden.llm.base import LLM

WORDINGS = ("plain", "paper", "reader")
"""Three ways to ask for partial fact use: by what the reply says, by the paper's criteria, and by
what a reader of the reply would know."""
WORDING_SUMMARY = [
    *("wording", "items", "unscored", "mean", "low", "high"),
    *("unanimous", "unanimous_low", "unanimous_high"),
]
"""Columns of `wording_summary`."""


def order_swaps(llm: LLM, name: str, cases: Sequence[Case], *, form: Form = "json") -> pd.DataFrame:
    """Return a pair judge's verdicts in both orders.

    Returns
    -------
    DataFrame
        Columns ``case, conversation, given, swapped, consistent, kept_place, unscored``: the label
        in the given order, the label after the swap in terms of the given order, whether they are
        equal, and whether the judge chose the same place twice ("first", "second" or missing).
    """
    rows = []
    for case, verdicts in zip(cases, judge_views(llm, rubric(name), cases, form=form), strict=True):
        missing = next((v.unscored for v in verdicts if v.unscored), None)
        labels = [v.label for v in verdicts] if missing is None else [None, None]
        given, other = labels
        same = given is not None and given == other and given != "tie"
        swapped = None if other is None else SWAPPED[other]
        rows.append(
            {
                "case": case.id,
                "conversation": case.conversation,
                "given": given,
                "swapped": swapped,
                "consistent": None if given is None else given == swapped,
                "kept_place": given if same else None,
                "unscored": missing,
            }
        )
    return pd.DataFrame(rows)


def order_summary(swaps: pd.DataFrame) -> dict[str, Any]:
    """Return the share of consistent pairs with its interval, and how often a place was kept.

    Returns
    -------
    dict
        ``items, unscored, consistent, low, high, kept_first, kept_second``; the shares are over
        scored pairs and None without any.
    """
    scored = swaps[swaps["unscored"].isna()]
    interval = clustered_mean(
        scored["consistent"].astype(float).to_numpy(), scored["conversation"].tolist()
    )
    kept = {
        f"kept_{place}": float((scored["kept_place"] == place).mean()) if len(scored) else None
        for place in ("first", "second")
    }
    return {
        "items": len(swaps),
        "unscored": len(swaps) - len(scored),
        "consistent": interval.mean,
        "low": interval.low,
        "high": interval.high,
        **kept,
    }


def wording_grid(
    llm: LLM,
    cases: Sequence[Case],
    *,
    wordings: Sequence[str] = WORDINGS,
    form: Form = "json",
    name: str = "fact_use",
) -> pd.DataFrame:
    """Return verdicts on the same replies under several wordings.

    Returns
    -------
    DataFrame
        Columns ``case, conversation, wording, label, score, unscored``.
    """
    rows: list[dict[str, Any]] = []
    for wording in wordings:
        verdicts = judge(llm, rubric(name), cases, form=form, wording=wording)
        rows.extend(
            {
                "case": case.id,
                "conversation": case.conversation,
                "wording": wording,
                "label": verdict.label,
                "score": verdict.score,
                "unscored": verdict.unscored,
            }
            for case, verdict in zip(cases, verdicts, strict=True)
        )
    columns = ["case", "conversation", "wording", "label", "score", "unscored"]
    return pd.DataFrame(rows, columns=columns)


def wording_summary(grid: pd.DataFrame) -> pd.DataFrame:
    """Return the mean score under each wording, and how often each agrees with all others.

    Returns
    -------
    DataFrame
        Columns `WORDING_SUMMARY`: `unanimous` is the share, of the cases that every wording scored,
        on which all give one label, with its interval; the same in each row.
    """
    table = grid.pivot(index=["case", "conversation"], columns="wording", values="label")
    whole = table.dropna()
    same = clustered_mean(
        (whole.nunique(axis=1) == 1).to_numpy(dtype=float),
        whole.index.get_level_values("conversation").tolist(),
    )
    rows = []
    for wording, group in grid.groupby("wording", sort=False):
        scores = group["score"].astype("float64")
        interval = clustered_mean(scores.to_numpy(), group["conversation"].tolist())
        rows.append(
            {
                "wording": wording,
                "items": len(group),
                "unscored": int(scores.isna().sum()),
                "mean": interval.mean,
                "low": interval.low,
                "high": interval.high,
                "unanimous": same.mean,
                "unanimous_low": same.low,
                "unanimous_high": same.high,
            }
        )
    return pd.DataFrame(rows, columns=WORDING_SUMMARY)
