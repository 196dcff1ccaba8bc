"""A model as a judge, asked in several ways, as the chapter on judges shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.report.judges.tables import (
    LEAST_COVERAGE,
    WORDS,
    accuracy,
    accuracy_text,
    covers,
    jointly_scored,
    misled,
    right,
    scored_ids,
)
from unbidden.report.paired import paired_differences
from unbidden.report.tables import points, with_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from unbidden.config import JudgesConfig
    from unbidden.judge.labelled import Item
    from unbidden.judge.panel import Run


def shown_runs(runs: Sequence[Run], words: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each way to ask each model: its accuracy, or what it would take.

    The first accuracy is over all that the model scored; the other two are over the replies that
    both the model and the word rule scored (it has none for some rubrics).
    """
    records = []
    for run in runs:
        done, (own, rule) = accuracy(run.frame), jointly_scored(run.frame, words)
        todo = f"{run.calls:,} calls, some {run.input_tokens:,} input tokens" if run.calls else "–"
        records.append(
            {
                "model": run.model,
                "form": run.form,
                "protocol": run.protocol,
                "rubrics": f"{len(run.asked)} of {len(run.rubrics)}",
                "n": done["items"],
                "unscored": done["unscored"],
                "accuracy": accuracy_text(done) if run.asked else "not run",
                "both scored": len(own),
                "accuracy there": accuracy_text(accuracy(own)) if len(own) else "–",
                "word rule there": accuracy_text(accuracy(rule)) if len(own) else "–",
                "still to ask": todo,
            }
        )
    return pd.DataFrame(records, dtype=object)


def compare_with_words(
    judges: Mapping[str, pd.DataFrame], words: pd.DataFrame, *, seed: int = 0
) -> pd.DataFrame:
    """Return each judge's accuracy minus the word rule's, on items that both judged."""
    table = paired_differences(_pairs(judges, words), seed=seed)
    return table if len(table) else table.assign(judge=None)


def all_items(judges: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the verdicts of all judges as one long table, with a column ``judge`` before it."""
    frames = [frame.assign(judge=name) for name, frame in judges.items() if len(frame)]
    found = pd.concat(frames, ignore_index=True)
    return found[["judge", *found.columns.drop("judge")]]


def _pairs(
    judges: Mapping[str, pd.DataFrame], words: pd.DataFrame
) -> Iterator[tuple[dict[str, str], Any, Any, list[str]]]:
    for judge, frame in judges.items():
        own, rule = (side.set_index("item") for side in jointly_scored(frame, words))
        if len(own):
            first, second = right(rule.loc[own.index]).to_numpy(), right(own).to_numpy()
            yield {"judge": judge}, first, second, own["conversation"].tolist()


def judge_numbers(
    items: Sequence[Item], config: JudgesConfig, words: pd.DataFrame, runs: Sequence[Run]
) -> dict[str, str]:
    """Return what the chapter's text says of the labelled set and the judges, as text."""
    model = config.judge_model or config.answer_model
    numbers = {
        "items": f"{len(items):,}",
        "conversations": str(len({item.conversation for item in items})),
        "split": config.split,
        "words_accuracy": accuracy_text(accuracy(words)),
        "words_misled": "–",
        "judge_model": model,
        "also_judges": " and ".join(config.also_judges) or "no other model",
        "judge_note": judge_note(runs, words, model),
        "best_judge": best.name if (best := best_run(runs, words)) else "none",
        "votes_source": "of this run" if config.votes == "count" else "recorded",
    }
    found = misled({WORDS: words})
    if len(found):
        (row,) = found.query("rubric == 'all' and tagged").to_dict("records")
        numbers["words_misled"] = with_interval(row["accuracy"], row["low"], row["high"])
    return numbers


def candidates(runs: Sequence[Run]) -> list[Run]:
    """Return the runs with a verdict on enough of the replies they were asked about."""
    return [run for run in runs if covers(len(scored_ids(run.frame)), accuracy(run.frame)["items"])]


def best_run(runs: Sequence[Run], words: pd.DataFrame) -> Run | None:
    """Return the run that agrees with most labels; None if there is none to choose.

    Compared are the replies that every candidate and the word rule scored.
    """
    ready = candidates(runs)
    *found, _ = jointly_scored(*(run.frame for run in ready), words)
    if not ready or found[0].empty:
        return None
    rates = [float(right(frame).mean()) for frame in found]
    return ready[rates.index(max(rates))]


def judge_note(runs: Sequence[Run], words: pd.DataFrame, model: str) -> str:
    """Return a sentence on the judges by a model: the best of them beside the word rule."""
    if not any(run.frame["judged"].notna().any() for run in runs):
        calls = sum(run.calls for run in runs)
        return (
            f"No judge by a model is on record here: {model} would be asked up to {calls:,} times."
        )
    ready, best = candidates(runs), best_run(runs, words)
    if best is None:
        return (
            f"No judge by a model can be compared here: none has a verdict on "
            f"{points(LEAST_COVERAGE, 0)} % of the replies it was asked about and on replies that "
            "the word rule scored."
        )
    *found, rule = jointly_scored(*(run.frame for run in ready), words)
    own, floor = right(found[ready.index(best)]).mean(), right(rule).mean()
    level = "" if own > floor else " No judge by a model is above that floor."
    return (
        f"Of {len(ready)} judges by a model, {best.name} agrees with most labels: "
        f"{points(own)} % of the {len(rule)} replies that all of them and the word rule scored; "
        f"the word rule agrees with {points(floor)} %.{level}"
    )


def shown_steadiness(table: pd.DataFrame) -> pd.DataFrame:
    """Return the shares of `unbidden.judge.panel.steadiness` as text."""
    records = []
    for row in table.to_dict("records"):
        done = not row["calls"]
        records.append(
            {
                "what changes": row["changed"],
                "rubric": row["rubric"],
                "n": row["items"],
                "unscored": int(row["unscored"]) if done else "–",
                "same verdict": with_interval(row["same"], row["low"], row["high"])
                if done
                else "not run",
                "first place twice": points(row["kept_first"]),
                "second place twice": points(row["kept_second"]),
                "still to ask": f"{row['calls']:,} calls" if row["calls"] else "–",
            }
        )
    return pd.DataFrame(records, dtype=object)


def shown_wordings(table: pd.DataFrame) -> pd.DataFrame:
    """Return `unbidden.judge.steadiness.wording_summary` as text."""
    return pd.DataFrame(
        {
            "wording": table["wording"],
            "n": table["items"],
            "unscored": table["unscored"],
            "mean score": [
                with_interval(*triple)
                for triple in zip(table["mean"], table["low"], table["high"], strict=True)
            ],
        },
        dtype=object,
    )
