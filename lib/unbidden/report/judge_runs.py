"""A model as a judge, asked in several ways, as the chapter on judges shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.report.judges import WORDS, accuracy, accuracy_text, misled, right
from unbidden.report.summary import paired_differences
from unbidden.report.tables import points, with_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from unbidden.config import JudgesConfig
    from unbidden.judge.labelled import Item
    from unbidden.judge.panel import Run


def shown_runs(runs: Sequence[Run], words: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each way to ask each model: its accuracy, or what it would take."""
    records = []
    for run in runs:
        done, rule = accuracy(run.frame), accuracy(_same(words, run.frame))
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
                "word rule, same items": accuracy_text(rule) if run.asked else "–",
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
    rule = words[words["part"] == ""].set_index("item")
    for judge, frame in judges.items():
        labels = frame[frame["part"] == ""].set_index("item")
        shared = [item for item in labels.index if item in rule.index]
        if shared:
            first, second = (right(side.loc[shared]).to_numpy() for side in (rule, labels))
            yield {"judge": judge}, first, second, labels.loc[shared, "conversation"].tolist()


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
        "votes_source": "of this run" if config.votes == "count" else "recorded",
    }
    found = misled({WORDS: words})
    if len(found):
        (row,) = found.query("rubric == 'all' and tagged").to_dict("records")
        numbers["words_misled"] = with_interval(row["accuracy"], row["low"], row["high"])
    return numbers


def judge_note(runs: Sequence[Run], words: pd.DataFrame, model: str) -> str:
    """Return a sentence on the judges by a model; the best is named only if there are several."""
    scored = [run for run in runs if run.frame["judged"].notna().any()]
    if not scored:
        calls = sum(run.calls for run in runs)
        return (
            f"No judge by a model is on record here: {model} would be asked up to {calls:,} times."
        )
    shared = set.intersection(*(_ids(run.frame) for run in scored))
    rates = {
        run.name: accuracy(run.frame[run.frame["item"].isin(shared)])["accuracy"] for run in scored
    }
    best = max(rates, key=lambda name: rates[name] or 0.0)
    rule = accuracy(words[words["item"].isin(shared)])["accuracy"]
    floor = (
        "" if (rates[best] or 0.0) > (rule or 0.0) else " No judge by a model is above that floor."
    )
    return (
        f"Of {len(scored)} judges by a model, {best} agrees with most labels: "
        f"{points(rates[best])} % of the {len(shared)} replies all of them judged; the word rule "
        f"agrees with {points(rule)} %.{floor}"
    )


def _ids(frame: pd.DataFrame) -> set[str]:
    return set(frame["item"])


def _same(words: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    return words[words["item"].isin(_ids(frame))]


def shown_steadiness(table: pd.DataFrame) -> pd.DataFrame:
    """Return `unbidden.judge.panel.steadiness` as text."""
    run = [not calls for calls in table["calls"]]
    return pd.DataFrame(
        {
            "what changes": table["changed"],
            "rubric": table["rubric"],
            "n": table["items"],
            "unscored": [
                int(value) if done else "–"
                for value, done in zip(table["unscored"], run, strict=True)
            ],
            "same verdict": [
                points(value) if done else "not run"
                for value, done in zip(table["same"], run, strict=True)
            ],
            "still to ask": [f"{calls:,} calls" if calls else "–" for calls in table["calls"]],
        },
        dtype=object,
    )
