"""The tables of the chapter on TeaFarm: who is misled, by which judge, and in which form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.judge.registry import rubric
from unbidden.judge.teafarm_agents import waits
from unbidden.reply.replaying import NO_MEMORY
from unbidden.reply.teafarm import FIXED
from unbidden.report.paired import against
from unbidden.report.summary import means, scored_systems
from unbidden.report.tables import points, with_interval
from unbidden.report.teafarm.runs import MADE, OWN
from unbidden.stats import clustered_mean, compare_paired

if TYPE_CHECKING:
    from collections.abc import Sequence

LABELS = ("correct", "wrong", "evasive")
"""Not misled; misled, or contradicting the truth; neither."""
DIRECTIONS = {OWN: "LoCoMo-Conv's, asked as TeaFarm", MADE: "TeaFarm's, asked as LoCoMo-Conv"}


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
            found = clustered_mean(hit, list(own["conversation"]))
            records.append(
                {
                    "system": agent,
                    "label": label,
                    "mean": found.mean,
                    "low": None if found.low is None else max(0.0, found.low),
                    "high": None if found.high is None else min(1.0, found.high),
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


def by_judge(talk: pd.DataFrame) -> pd.DataFrame:
    """Return each agent's success rate by judge; see `unbidden.report.summary.means`."""
    scored = talk[talk["value"].notna()]
    return means(scored, ["system", "judge"]) if len(scored) else pd.DataFrame()


def shown_by_judge(table: pd.DataFrame) -> pd.DataFrame:
    """Return `by_judge` as text, one row an agent."""
    names = {"repaired": "our rubric", "paper": "the paper's", "words": "word rule"}
    rows = []
    for agent, group in table.groupby("system", sort=False) if len(table) else ():
        found = {
            names[row["judge"]]: f"{with_interval(row['mean'], row['low'], row['high'])}"
            f" (n {row['n']})"
            for row in group.to_dict("records")
        }
        rows.append(
            {"agent": agent, **{name: found.get(name, "not run") for name in names.values()}}
        )
    return pd.DataFrame(rows, dtype=object)


def judges_agree(talk: pd.DataFrame, first: str) -> pd.DataFrame:
    """Return how often two judges say the same about success, over replies both judged.

    Returns
    -------
    DataFrame
        Columns ``first, second, n, same, low, high, only_first, only_second, detectable``: numbers
        of replies that only one of them counts as a success, and the difference of their success
        rates that so many replies would show (see `unbidden.stats.Comparison`).
    """
    keys = ["source", "query_id", "system"]
    records = []
    one = of_judge(talk, first).set_index(keys)
    for second in dict.fromkeys(talk["judge"]):
        if second == first:
            continue
        both = one[["value", "conversation"]].join(
            of_judge(talk, second).set_index(keys)["value"].rename("other")
        )
        both = both[both["value"].notna() & both["other"].notna()]
        found = clustered_mean(
            (both["value"] == both["other"]).to_numpy(float), list(both["conversation"])
        )
        records.append(
            {
                "first": first,
                "second": second,
                "n": found.n,
                "same": found.mean,
                "low": None if found.low is None else max(0.0, found.low),
                "high": None if found.high is None else min(1.0, found.high),
                "only_first": int((both["value"] > both["other"]).sum()),
                "only_second": int((both["value"] < both["other"]).sum()),
                "detectable": compare_paired(
                    both["value"], both["other"], list(both["conversation"])
                ).detectable,
            }
        )
    return pd.DataFrame(records)


def shown_judges_agree(table: pd.DataFrame) -> pd.DataFrame:
    """Return `judges_agree` as text."""
    names = {"repaired": "our rubric", "paper": "the paper's", "words": "word rule"}
    return pd.DataFrame(
        {
            "judges": [
                f"{names[a]} and {names[b]}"
                for a, b in zip(table["first"], table["second"], strict=True)
            ],
            "n": table["n"],
            "same verdict": [
                with_interval(*triple) if n else "not run"
                for n, *triple in zip(
                    table["n"], table["same"], table["low"], table["high"], strict=True
                )
            ],
            "only the first accepts": table["only_first"],
            "only the second accepts": table["only_second"],
            "detectable": [points(value) for value in table["detectable"]],
        },
        dtype=object,
    )


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
        found = clustered_mean((first == second).to_numpy(float), list(group["conversation"]))
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
                "low": None if found.low is None else max(0.0, found.low),
                "high": None if found.high is None else min(1.0, found.high),
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
        found = clustered_mean(scored["value"].to_numpy(float), list(scored["conversation"]))
        low, high = found.low, found.high
        record["score"] = with_interval(
            found.mean,
            None if low is None else max(0.0, low),
            None if high is None else min(1.0, high),
        )
        record["unscored"] = int((group["value"].isna() & ~waiting).sum())
        record["not run"] = int(waiting.sum())
        rows.append(record)
    return pd.DataFrame(rows, dtype=object)


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
