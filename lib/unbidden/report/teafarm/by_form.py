"""The same questions in both forms: misled in TeaFarm's talk, and in LoCoMo-Conv's message."""

from __future__ import annotations

from typing import Any

import pandas as pd

from unbidden.judge.teafarm_agents import waits
from unbidden.report.tables import points, with_interval
from unbidden.report.teafarm.runs import MADE, OWN
from unbidden.stats import clustered_share, compare_paired

DIRECTIONS = {OWN: "LoCoMo-Conv's, asked as TeaFarm", MADE: "TeaFarm's, asked as LoCoMo-Conv"}


def both_forms(talk: pd.DataFrame, messages: pd.DataFrame) -> pd.DataFrame:
    """Return whether the same agent succeeds in both forms, by where the question comes from.

    Success in LoCoMo-Conv's form is a premise that is corrected; one that is doubted is none.

    Parameters
    ----------
    talk : DataFrame
        Verdicts of one judge in TeaFarm's form.
    messages : DataFrame
        Verdicts on the same items in LoCoMo-Conv's form.

    Returns
    -------
    DataFrame
        Columns ``source, system, n, conversations, talk, message, both, neither, agree, low,
        high, detectable``; shares over questions scored in both forms, and the difference of the
        two success rates that so many questions would show.
    """
    keys = ["source", "query_id", "system"]
    left = talk.set_index(keys)[["value", "conversation"]].rename(columns={"value": "talk"})
    both = messages.set_index(keys)["value"].rename("message").to_frame().join(left, how="inner")
    both = both[both["talk"].notna() & both["message"].notna()].reset_index()
    records = []
    for (source, system), group in both.groupby(["source", "system"], sort=False):
        first, second = group["talk"] == 1, group["message"] == 1
        found = clustered_share((first == second).to_numpy(float), list(group["conversation"]))
        records.append(
            {
                "source": source,
                "system": system,
                "n": len(group),
                "conversations": found.clusters,
                "talk": float(first.mean()),
                "message": float(second.mean()),
                "both": float((first & second).mean()),
                "neither": float((~first & ~second).mean()),
                "agree": found.mean,
                "low": found.low,
                "high": found.high,
                "detectable": compare_paired(
                    first.astype(float), second.astype(float), list(group["conversation"])
                ).detectable,
            }
        )
    columns = ["source", "system", "n", "conversations", "talk", "message", "both", "neither"]
    return pd.DataFrame(records, columns=[*columns, "agree", "low", "high", "detectable"])


def shown_both_forms(table: pd.DataFrame) -> pd.DataFrame:
    """Return `both_forms` as text."""
    if table.empty:
        return table
    return pd.DataFrame(
        {
            "questions": [DIRECTIONS[name] for name in table["source"]],
            "agent": table["system"],
            "n": table["n"],
            "as TeaFarm": [points(value) for value in table["talk"]],
            "as LoCoMo-Conv": [points(value) for value in table["message"]],
            "both": [points(value) for value in table["both"]],
            "neither": [points(value) for value in table["neither"]],
            "forms agree": [
                with_interval(*triple)
                for triple in zip(table["agree"], table["low"], table["high"], strict=True)
            ],
            "detectable": [points(value) for value in table["detectable"]],
        },
        dtype=object,
    )


def shown_messages(messages: pd.DataFrame) -> pd.DataFrame:
    """Return what agents do about the premise in LoCoMo-Conv's form, as text."""
    rows = []
    for agent, group in messages.groupby("system", sort=False) if len(messages) else ():
        scored = group[group["value"].notna()]
        waiting = group["unscored"].map(waits)
        record: dict[str, Any] = {"agent": agent, "n": len(scored)}
        for label in ("corrected", "ambiguous", "unaware"):
            share = float((scored["label"] == label).mean()) if len(scored) else None
            record[label] = points(share) if len(scored) else "not run"
        found = clustered_share(scored["value"].to_numpy(float), list(scored["conversation"]))
        record["score"] = with_interval(found.mean, found.low, found.high)
        record["unscored"] = int((group["value"].isna() & ~waiting).sum())
        record["not run"] = int(waiting.sum())
        rows.append(record)
    return pd.DataFrame(rows, dtype=object)
