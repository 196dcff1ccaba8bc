"""What single rules of the paper change in the scores of replies, on the same recorded calls."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from unbidden.judge.scoring import missing_record, model_verdicts, word_verdicts
from unbidden.reply.study import reply_all
from unbidden.report.judges.tables import WORDS
from unbidden.report.replies.run import judge_name, record_only, tabled
from unbidden.report.replies.tables import NOT_RUN, headline
from unbidden.report.tables import with_interval
from unbidden.stats import clustered_share

if TYPE_CHECKING:
    from unbidden.config import RepliesConfig
    from unbidden.llm import LLM
    from unbidden.report.replies.run import ReplyRun

AS_ZERO = "a missing reply or verdict counts as 0"
READ_ALL = "the judge reads thoughts and cut replies too"
WORDING = "the judge's wording"


_EFFECT_COLUMNS = ["rule", "judge", "changed"] + [
    side + part for side in ("ours", "paper") for part in ("", "_low", "_high", "_n")
]


def rule_effects(
    config: RepliesConfig, run: ReplyRun, items: pd.DataFrame, llm: LLM
) -> pd.DataFrame:
    """Return what single rules of the paper change, on the same recorded calls.

    Returns
    -------
    DataFrame
        Columns ``rule, judge, changed, ours, ours_low, ours_high, ours_n, paper, paper_low,
        paper_high, paper_n``: `changed` is the number of replies whose score the rule changes; the
        means are over all ways and styles. No rows if no rubric of the run is a style's headline.
    """
    ours = headline(items)
    if ours.empty:
        return pd.DataFrame(columns=_EFFECT_COLUMNS)
    by_judge = {judge: ours[ours["judge"] == judge] for judge in dict.fromkeys(ours["judge"])}
    rows = []
    for judge, own in by_judge.items():
        made = own.loc[[not missing_record(reason) for reason in own["unscored"]]]
        rows.append(_effect(AS_ZERO, judge, made, made["value"].fillna(0.0)))
    llm = record_only(llm)
    read = _as_the_paper_reads(config, run, llm)
    if "words" in config.judges:
        by_words = word_verdicts(run.corpus, read, config.rubrics, evidence=config.evidence)
        rows.append(_effect(READ_ALL, WORDS, by_judge[WORDS], headline(by_words)["value"]))
    if "model" in config.judges:
        name = judge_name(config)
        again = _again(config, read, run, llm)
        rows.append(_effect(READ_ALL, name, by_judge[name], again))
        again = _again(config.model_copy(update={"judge_protocol": "paper"}), run.table, run, llm)
        if config.judge_protocol == "repaired":
            rows.append(_effect(WORDING, name, by_judge[name], again))
    return pd.DataFrame(rows)


def _effect(rule: str, judge: str, own: pd.DataFrame, other: pd.Series[float]) -> dict[str, Any]:
    first, second = own["value"].to_numpy(dtype=float), other.to_numpy(dtype=float)
    changed = ~np.isnan(second) & (np.isnan(first) | (first != second))
    homes = own["conversation"].tolist()
    row: dict[str, Any] = {"rule": rule, "judge": judge, "changed": int(changed.sum())}
    for side, values in (("ours", first), ("paper", second)):
        found = clustered_share(values, homes)
        row |= {side: found.mean, f"{side}_n": found.n}
        row |= {
            f"{side}_low": found.low,
            f"{side}_high": found.high,
        }
    return row


def _as_the_paper_reads(config: RepliesConfig, run: ReplyRun, llm: LLM) -> pd.DataFrame:
    """Return the same replies with thoughts before them, and cut ones kept (fault J1)."""
    rules = replace(run.rules, cut_replies="kept")
    answers = reply_all(run.corpus, run.queries, run.ways, run.found, llm, rules)
    joined = [
        one
        if one.text is None or not one.thoughts
        else replace(one, text=f"{one.thoughts}\n{one.text}")
        for one in answers
    ]
    return tabled(config, run.corpus, joined)


def _again(config: RepliesConfig, table: pd.DataFrame, run: ReplyRun, llm: LLM) -> pd.Series[float]:
    found = model_verdicts(
        llm,
        run.corpus,
        table,
        config.rubrics,
        form=config.judge_form,
        protocol=config.judge_protocol,
        evidence=config.evidence,
    )
    return headline(found)["value"]


def shown_rule_effects(table: pd.DataFrame) -> pd.DataFrame:
    """Return `rule_effects` as text."""
    sides = {}
    for side in ("ours", "paper"):
        columns = [table[name] for name in (side, f"{side}_low", f"{side}_high", f"{side}_n")]
        sides[side] = [
            with_interval(mean, low, high) if n else NOT_RUN
            for mean, low, high, n in zip(*columns, strict=True)
        ]
    return pd.DataFrame(
        {
            "rule of the paper": table["rule"],
            "judge": table["judge"],
            "score by our rule": sides["ours"],
            "n": table["ours_n"],
            "by the paper's": sides["paper"],
            "n, paper": table["paper_n"],
            "scores changed": table["changed"],
        },
        dtype=object,
    )
