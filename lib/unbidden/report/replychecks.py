"""What to think of the scores of replies: judges on labelled replies, and what rules change."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from unbidden.judge.labelled import load_items
from unbidden.judge.panel import run_similarity, run_words
from unbidden.judge.scoring import form_of, missing_record, model_verdicts, word_verdicts
from unbidden.judge.trust import comparison, run_judge
from unbidden.memory.embed import embedder as load_embedder
from unbidden.reply.study import reply_all
from unbidden.report.judges import WORDS, accuracy
from unbidden.report.replies import NOT_RUN, headline
from unbidden.report.replyrun import JUDGE_NAMES, judge_name, record_only, tabled
from unbidden.report.tables import points, with_interval
from unbidden.stats import clustered_mean

if TYPE_CHECKING:
    from unbidden.config_replies import RepliesConfig
    from unbidden.llm import LLM
    from unbidden.report.replyrun import ReplyRun

ALL_RUBRICS = "all"
AS_ZERO = "a missing reply or verdict counts as 0"
READ_ALL = "the judge reads thoughts and cut replies too"
WORDING = "the judge's wording"
BEST = "the best judge of each rubric"
"""For each rubric the judge that agrees with most labels, a rule without a model included."""


def trust(config: RepliesConfig, llm: LLM) -> pd.DataFrame:
    """Return how far the run's judges agree with the labelled set, on the run's rubrics.

    No judge is asked: verdicts that are not on record (they are made by the chapter on judges) are
    counted as not run.

    Returns
    -------
    DataFrame
        Columns ``judge, rubric, not_run, items, unscored, accuracy, low, high, words``; one more
        row a judge for all rubrics together. `words` is the word rule's accuracy on the replies
        that the judge has a verdict on.
    """
    items = load_items(split="test", rubrics=config.rubrics)
    rule = run_words(items)
    frames = {}
    if "model" in config.judges:
        frames[judge_name(config)] = _model(config, record_only(llm))
    if "words" in config.judges:
        frames[WORDS] = rule
    if "similarity" in config.judges:
        frames[JUDGE_NAMES["similarity"]] = run_similarity(items, load_embedder(config.embedder))
    records = []
    for judge, frame in frames.items():
        labels = frame[frame["part"] == ""]
        for name in [*dict.fromkeys(labels["rubric"]), ALL_RUBRICS]:
            own = labels if name == ALL_RUBRICS else labels[labels["rubric"] == name]
            pending = sum(missing_record(reason) for reason in own["unscored"])
            found = accuracy(own)
            found["unscored"] -= pending
            same = accuracy(rule[rule["item"].isin(own.loc[own["judged"].notna(), "item"])])
            keys = {"judge": judge, "rubric": name, "not_run": pending}
            records.append({**keys, **found, "words": same["accuracy"]})
    return pd.DataFrame(records)


def best_judges(table: pd.DataFrame) -> dict[str, str]:
    """Return the judge that agrees with most labels, for each rubric of `trust`.

    Of equals the first; a judge without a verdict on the labelled set is no candidate.
    """
    rated = table[table["rubric"].ne(ALL_RUBRICS) & table["accuracy"].notna()]
    first = rated.sort_values("accuracy", ascending=False, kind="stable").drop_duplicates("rubric")
    return dict(zip(first["rubric"], first["judge"], strict=True))


def with_best(items: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return items with a further judge before them: for each rubric the best of `trust`.

    A run with one judge has no further one.
    """
    best = best_judges(table)
    if items["judge"].nunique() < 2 or not best:
        return items
    chosen = items[[best.get(m) == j for m, j in zip(items["metric"], items["judge"], strict=True)]]
    return pd.concat([chosen.assign(judge=BEST), items], ignore_index=True)


def best_note(table: pd.DataFrame) -> str:
    """Return which judge stands behind the headline, for each rubric."""
    best = best_judges(table)
    if not best:
        return "No judge's verdicts on labelled replies are on record, so none is preferred."
    by_judge: dict[str, list[str]] = {}
    for rubric, judge in best.items():
        by_judge.setdefault(judge, []).append(rubric)
    parts = [f"{judge} for {', '.join(rubrics)}" for judge, rubrics in by_judge.items()]
    return f"Of these judges the one that agrees best with the labels is {'; '.join(parts)}."


def _model(config: RepliesConfig, llm: LLM) -> pd.DataFrame:
    frames = [comparison([], [])]
    for name in config.rubrics:
        own = load_items(split="test", rubrics=[name])
        form = form_of(name, config.judge_form)
        frames.append(run_judge(llm, own, protocol=config.judge_protocol, form=form))
    return pd.concat(frames, ignore_index=True)


def shown_trust(table: pd.DataFrame) -> pd.DataFrame:
    """Return `trust` as text."""
    return pd.DataFrame(
        {
            "judge": table["judge"],
            "rubric": table["rubric"],
            "n": table["items"],
            "unscored": table["unscored"],
            NOT_RUN: table["not_run"],
            "accuracy": [
                NOT_RUN if pd.isna(value) and waiting else with_interval(value, low, high)
                for value, low, high, waiting in zip(
                    *(table[name] for name in ("accuracy", "low", "high", "not_run")), strict=True
                )
            ],
            "word rule, same replies": [points(value) for value in table["words"]],
        },
        dtype=object,
    )


def trust_note(config: RepliesConfig, table: pd.DataFrame) -> str:
    """Return a sentence on the model as a judge, with a warning where it is below the word rule."""
    if "model" not in config.judges:
        return "No model judges in this run."
    name = judge_name(config)
    (own,) = table[(table["judge"] == name) & (table["rubric"] == ALL_RUBRICS)].to_dict("records")
    if pd.isna(own["accuracy"]):
        return (
            f"How far {name} can be trusted is not known here: its verdicts on the labelled set "
            "are not on record, so its scores may be no better than a rule without a model."
        )
    done = own["items"] - own["not_run"] - own["unscored"]
    found = (
        f"On {done} labelled replies {name} agrees with the label in {points(own['accuracy'])} %, "
        f"the word rule in {points(own['words'])} %."
    )
    if own["accuracy"] <= own["words"]:
        return f"{found} It is not above that floor: read its scores with the word rule's beside."
    return found


def rule_effects(
    config: RepliesConfig, run: ReplyRun, items: pd.DataFrame, llm: LLM
) -> pd.DataFrame:
    """Return what single rules of the paper change, on the same recorded calls.

    Returns
    -------
    DataFrame
        Columns ``rule, judge, changed, ours, ours_low, ours_high, ours_n, paper, paper_low,
        paper_high, paper_n``: `changed` is the number of replies whose score the rule changes; the
        means are over all ways and styles.
    """
    ours = headline(items)
    by_judge = {judge: ours[ours["judge"] == judge] for judge in dict.fromkeys(ours["judge"])}
    rows = []
    for judge, own in by_judge.items():
        made = own[[not missing_record(reason) for reason in own["unscored"]]]
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
        found = clustered_mean(values, homes)
        row |= {side: found.mean, f"{side}_n": found.n}
        row |= {
            f"{side}_low": None if found.low is None else max(0.0, found.low),
            f"{side}_high": None if found.high is None else min(1.0, found.high),
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
