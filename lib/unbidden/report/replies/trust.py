"""How far the judges of the chapter on replies can be trusted, and which one is believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.judge.labelled import load_items
from unbidden.judge.panel import run_similarity, run_words
from unbidden.judge.scoring import form_of, missing_record
from unbidden.judge.trust import comparison, run_judge
from unbidden.memory.embed import embedder as load_embedder
from unbidden.report.judges.tables import WORDS, accuracy, covers, jointly_scored, scored_ids
from unbidden.report.replies.run import JUDGE_NAMES, judge_name, record_only
from unbidden.report.replies.tables import NOT_RUN
from unbidden.report.tables import points, with_interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unbidden.config import RepliesConfig
    from unbidden.llm import LLM

ALL_RUBRICS = "all"
BEST = "the best judge of each rubric"
"""For each rubric the judge that agrees with most labels, a rule without a model included."""


def trust(config: RepliesConfig, llm: LLM) -> pd.DataFrame:
    """Return how far the run's judges agree with the labelled set, on the run's rubrics.

    No judge is asked: verdicts that are not on record (they are made by the chapter on judges) are
    counted as not run.

    Returns
    -------
    DataFrame
        Columns ``judge, rubric, not_run, items, unscored, accuracy, low, high, both, on_both,
        words, common, on_common``; one more row a judge for all rubrics together. `accuracy` is
        over all replies that the judge scored; `on_both` and `words` are its and the word rule's
        over the `both` replies that the two scored; `on_common` is over the `common` replies that
        every judge with enough verdicts scored, and missing for a judge with too few.
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
    labels = {judge: frame[frame["part"] == ""] for judge, frame in frames.items()}
    return pd.DataFrame(
        [
            {"judge": judge, "rubric": name, **agreement(labels, rule, judge, name)}
            for judge, frame in labels.items()
            for name in [*dict.fromkeys(frame["rubric"]), ALL_RUBRICS]
        ]
    )


def agreement(
    labels: dict[str, pd.DataFrame], rule: pd.DataFrame, judge: str, name: str
) -> dict[str, Any]:
    """Return a judge's row of `trust`, without its names."""
    every = {other: _about(frame, name) for other, frame in labels.items()}
    own = every[judge]
    pending = sum(missing_record(reason) for reason in own["unscored"])
    found = accuracy(own)
    found["unscored"] -= pending
    mine, floor = jointly_scored(own, rule)
    ready = {o: frame for o, frame in every.items() if covers(len(scored_ids(frame)), len(frame))}
    common = dict(zip(ready, jointly_scored(*ready.values()), strict=True)).get(judge)
    return {
        "not_run": pending,
        **found,
        "both": len(mine),
        "on_both": accuracy(mine)["accuracy"],
        "words": accuracy(floor)["accuracy"],
        "common": 0 if common is None else len(common),
        "on_common": None if common is None else accuracy(common)["accuracy"],
    }


def _about(labels: pd.DataFrame, rubric: str) -> pd.DataFrame:
    return labels if rubric == ALL_RUBRICS else labels[labels["rubric"] == rubric]


def best_judges(table: pd.DataFrame) -> dict[str, str]:
    """Return the judge that agrees with most labels, for each rubric of `trust`.

    Compared are the replies that every judge with enough verdicts scored; one with fewer is no
    candidate. Of equals the first.
    """
    rated = table[table["rubric"].ne(ALL_RUBRICS) & table["on_common"].notna()]
    first = rated.sort_values("on_common", ascending=False, kind="stable")
    first = first.drop_duplicates("rubric")
    return dict(zip(first["rubric"], first["judge"], strict=True))


def with_best(items: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return items with a further judge before them: for each rubric the best of `trust`.

    A run with one judge has no further one.
    """
    best = best_judges(table)
    if items["judge"].nunique() < 2 or not best:
        return items
    chosen = items.loc[
        [best.get(m) == j for m, j in zip(items["metric"], items["judge"], strict=True)]
    ]
    return pd.concat([chosen.assign(judge=BEST), items], ignore_index=True)


def best_note(table: pd.DataFrame) -> str:
    """Return which judge stands behind the headline, for each rubric, and which were not chosen."""
    best = best_judges(table)
    own = table[table["rubric"].ne(ALL_RUBRICS)]
    few = [
        f"{row['judge']} for {row['rubric']} ({_scored(row)} of {row['items']})"
        for row in own[own["on_common"].isna()].to_dict("records")
    ]
    left_out = f" Too few verdicts to be chosen: {'; '.join(few)}." if few else ""
    if not best:
        return f"No judge has enough verdicts on labelled replies, so none is preferred.{left_out}"
    counts = own[own["on_common"].notna()].set_index(["judge", "rubric"])["common"]
    by_judge: dict[str, list[str]] = {}
    for rubric, judge in best.items():
        by_judge.setdefault(judge, []).append(f"{rubric} (on {counts[judge, rubric]} replies)")
    parts = [f"{judge} for {', '.join(rubrics)}" for judge, rubrics in by_judge.items()]
    return (
        f"Of these judges the one that agrees best with the labels is {'; '.join(parts)}.{left_out}"
    )


def _scored(row: Mapping[Any, Any]) -> int:
    return int(row["items"] - row["not_run"] - row["unscored"])


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
            "both scored": table["both"],
            "accuracy there": [points(value) for value in table["on_both"]],
            "word rule there": [points(value) for value in table["words"]],
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
    if not own["both"]:
        return (
            f"On {_scored(own)} labelled replies {name} agrees with the label in "
            f"{points(own['accuracy'])} %; the word rule has no verdict on them."
        )
    found = (
        f"On {own['both']} of {own['items']} labelled replies, which both scored, {name} agrees "
        f"with the label in {points(own['on_both'])} %, the word rule in {points(own['words'])} %."
    )
    if own["on_both"] <= own["words"]:
        return f"{found} It is not above that floor: read its scores with the word rule's beside."
    return found + _below_note(table[(table["judge"] == name) & table["rubric"].ne(ALL_RUBRICS)])


def _below_note(own: pd.DataFrame) -> str:
    """Return a sentence on the rubrics on which a judge is below the word rule, or nothing."""
    below = [
        f"{row['rubric']} ({points(row['on_both'])} to {points(row['words'])} %, "
        f"{row['both']} replies)"
        for row in own[own["on_both"] < own["words"]].to_dict("records")
    ]
    return f" But it is below the word rule on {', '.join(below)}." if below else ""
