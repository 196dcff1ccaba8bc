"""Judges against the labelled set, as the chapter on judges shows them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.judge.labelled import balance
from unbidden.judge.registry import rubric
from unbidden.judge.trust import agreement_table, by_tag
from unbidden.report.tables import points, with_interval
from unbidden.stats import clustered_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unbidden.judge.labelled import Item

MISLEAD = "words-mislead"
"""Tag of items that were written after the word rule, so that words point the wrong way."""
WORDS = "word rule"
AGREEMENT = [
    *("judge", "rubric", "part", "items", "unscored", "majority"),
    *(f"{name}{end}" for name in ("accuracy", "kappa", "alpha") for end in ("", "_low", "_high")),
    "note",
]
"""Columns of `agreements`."""


def shown_labelled(items: Sequence[Item]) -> pd.DataFrame:
    """Return the size and balance of each rubric's items, as text."""
    rows = []
    for name, labels in balance(items).items():
        own = [item for item in items if item.rubric == name]
        splits = Counter(item.split for item in own)
        rows.append(
            {
                "rubric": name,
                "judges": rubric(name).about,
                "items": len(own),
                "dev": splits["dev"],
                "test": splits["test"],
                "labels": ", ".join(f"{label} {n}" for label, n in labels.most_common()),
            }
        )
    return pd.DataFrame(rows)


def agreements(
    frames: Mapping[str, pd.DataFrame], *, resamples: int, seed: int = 0
) -> pd.DataFrame:
    """Return `agreement_table` of several judges, with a column ``judge`` before it."""
    found = []
    for judge, frame in frames.items():
        if len(frame):
            table = agreement_table(frame, resamples=resamples, seed=seed)
            table.insert(0, "judge", judge)
            found.append(table)
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=AGREEMENT)


def shown_agreements(table: pd.DataFrame) -> pd.DataFrame:
    """Return `agreements` as text."""
    if table.empty:
        return table
    return pd.DataFrame(
        {
            "judge": table["judge"],
            "rubric": [
                f"{name}: {part}" if part else name
                for name, part in zip(table["rubric"], table["part"], strict=True)
            ],
            "n": table["items"],
            "unscored": table["unscored"],
            "commonest label": [points(value) for value in table["majority"]],
            "accuracy": [
                with_interval(*triple)
                for triple in zip(
                    table["accuracy"], table["accuracy_low"], table["accuracy_high"], strict=True
                )
            ],
            **{name: _decimals(table, name) for name in ("kappa", "alpha")},
        },
        dtype=object,
    )


def shown_accuracies(table: pd.DataFrame, protocol: str) -> pd.DataFrame:
    """Return `agreements` as a grid of accuracies: a row for each rubric, a column for each judge.

    Parameters
    ----------
    protocol : str
        Only judges asked in its words (`unbidden.judge.panel.Run.name` ends with it).
    """
    ending = f", {protocol}"
    own = (
        table[(table["part"] == "") & table["judge"].str.endswith(ending)] if len(table) else table
    )
    if own.empty:
        return pd.DataFrame()
    rows = []
    for name, group in own.groupby("rubric", sort=False):
        cells = {
            row["judge"].removesuffix(ending): with_interval(
                row["accuracy"], row["accuracy_low"], row["accuracy_high"]
            )
            for row in group.to_dict("records")
        }
        rows.append({"rubric": name, "n": int(group["items"].max()), **cells})
    return pd.DataFrame(rows, dtype=object).fillna("–")


def misled(frames: Mapping[str, pd.DataFrame], tag: str = MISLEAD) -> pd.DataFrame:
    """Return accuracy on items without and with a tag, of rubrics that have both.

    Returns
    -------
    DataFrame
        Columns ``judge, rubric, tagged, items, unscored, accuracy, low, high``; the rubric "all"
        is over every rubric, those without the tag too.
    """
    rows: list[dict[str, Any]] = []
    for judge, frame in frames.items():
        labels = frame[frame["part"] == ""]
        tagged = labels["tags"].str.split().map(lambda tags: tag in tags).astype(bool)
        names = [name for name in dict.fromkeys(labels["rubric"][tagged])]
        for name in [*names, "all"] if names else []:
            own = (labels["rubric"] == name) | (name == "all")
            for value in (False, True):
                rows.append(
                    {
                        "judge": judge,
                        "rubric": name,
                        "tagged": value,
                        **accuracy(labels[own & (tagged == value)]),
                    }
                )
    return pd.DataFrame(rows)


def accuracy(frame: pd.DataFrame) -> dict[str, Any]:
    """Return accuracy over labels with its interval, cut off at 0 and 1.

    Returns
    -------
    dict
        ``items, unscored, accuracy, low, high``; the last three over scored items, or None.
    """
    labels = frame[frame["part"] == ""]
    found = clustered_mean(right(labels).to_numpy(), labels["conversation"].tolist())
    return {
        "items": len(labels),
        "unscored": int(labels["judged"].isna().sum()),
        "accuracy": found.mean,
        "low": None if found.low is None else max(0.0, found.low),
        "high": None if found.high is None else min(1.0, found.high),
    }


def right(labels: pd.DataFrame) -> pd.Series[float]:
    """Return 1 where the verdict is the label, 0 where it is not, missing where unscored."""
    same = (labels["gold"] == labels["judged"]).astype("float64")
    return same.where(labels["judged"].notna())


def shown_misled(table: pd.DataFrame, tag: str = MISLEAD) -> pd.DataFrame:
    """Return `misled` as text, one row for each judge and rubric."""
    records: list[dict[str, Any]] = []
    if table.empty:
        return table
    for (judge, name), group in table.groupby(["judge", "rubric"], sort=False):
        record: dict[str, Any] = {"judge": judge, "rubric": name}
        for row in group.to_dict("records"):
            which = tag if row["tagged"] else "other items"
            record[f"{which}, n"] = row["items"]
            record[which] = with_interval(row["accuracy"], row["low"], row["high"])
        records.append(record)
    return pd.DataFrame(records, dtype=object)


def shown_confusions(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what a judge made of each label, one row for each rubric and label, as text."""
    labels = frame[frame["part"] == ""]
    records = []
    for (name, gold), group in labels.groupby(["rubric", "gold"], sort=False):
        said = group["judged"].fillna("unscored").value_counts()
        others = [f"{label} {count}" for label, count in said.items() if label != gold]
        records.append(
            {
                "rubric": name,
                "label": gold,
                "n": len(group),
                "judged so": int(said.get(gold, 0)),
                "judged otherwise": ", ".join(others) or "–",
            }
        )
    return pd.DataFrame(records, dtype=object)


def shown_tags(frame: pd.DataFrame, *, least: int = 5) -> pd.DataFrame:
    """Return a judge's accuracy by tag, of tags with enough items, the hardest first, as text."""
    table = by_tag(frame)
    table = table[table["items"] >= least]
    return pd.DataFrame(
        {
            "tag": table["tag"],
            "n": table["items"],
            "unscored": table["unscored"],
            "accuracy": [points(value) for value in table["accuracy"]],
        },
        dtype=object,
    )


def accuracy_text(found: Mapping[str, Any]) -> str:
    """Return an `accuracy` as text."""
    return with_interval(found["accuracy"], found["low"], found["high"])


def _decimals(table: pd.DataFrame, name: str) -> list[str]:
    texts = []
    for row in table[[name, f"{name}_low", f"{name}_high"]].itertuples(index=False):
        # Adding 0 turns a rounded -0.0 into 0.0.
        value, low, high = (
            "–" if pd.isna(v) else f"{round(v, 2) + 0:.2f}".replace("-", "−") for v in row
        )
        texts.append(value if low == "–" else f"{value} [{low}, {high}]")
    return texts
