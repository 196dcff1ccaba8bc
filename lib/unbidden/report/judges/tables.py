"""Judges against the labelled set, as the chapter on judges shows them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.judge.labelled import balance
from unbidden.judge.registry import rubric
from unbidden.judge.trust import agreement_table, by_tag, confusion
from unbidden.report.tables import points, with_interval
from unbidden.stats import clustered_share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unbidden.judge.labelled import Item

MISLEAD = "words-mislead"
"""Tag of items that were written after the word rule, so that words point the wrong way."""
WORDS = "word rule"
LEAST_COVERAGE = 0.8
"""Share of the labelled replies asked about of which a judge needs a verdict to be chosen."""
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
            "accuracy": _accuracies(table),
            **{name: _decimals(table, name) for name in ("kappa", "alpha")},
        },
        dtype=object,
    )


def shown_grid(table: pd.DataFrame, protocol: str, measure: str = "accuracy") -> pd.DataFrame:
    """Return `agreements` as a grid of one measure: rows are rubrics, columns judges, as text.

    Parameters
    ----------
    protocol : str
        Only judges asked in its words (`unbidden.judge.panel.Run.name` ends with it).
    measure : {"accuracy", "kappa", "alpha"}
    """
    ending = f", {protocol}"
    own = (
        table[(table["part"] == "") & table["judge"].str.endswith(ending)] if len(table) else table
    )
    if own.empty:
        return pd.DataFrame()
    own = own.assign(cell=_accuracies(own) if measure == "accuracy" else _decimals(own, measure))
    rows = []
    for name, group in own.groupby("rubric", sort=False):
        cells = {
            judge.removesuffix(ending): cell
            for judge, cell in zip(group["judge"], group["cell"], strict=True)
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
    found = clustered_share(right(labels).to_numpy(), labels["conversation"].tolist())
    return {
        "items": len(labels),
        "unscored": int(labels["judged"].isna().sum()),
        "accuracy": found.mean,
        "low": found.low,
        "high": found.high,
    }


def scored_ids(frame: pd.DataFrame) -> set[str]:
    """Return the items whose label has a verdict."""
    return set(frame.loc[(frame["part"] == "") & frame["judged"].notna(), "item"])


def jointly_scored(*frames: pd.DataFrame) -> list[pd.DataFrame]:
    """Return each judge's verdicts on the items that all of them scored, without parts."""
    shared = set.intersection(*(scored_ids(frame) for frame in frames)) if frames else set()
    return [frame[(frame["part"] == "") & frame["item"].isin(shared)] for frame in frames]


def covers(scored: int, asked: int) -> bool:
    """Return whether a judge has enough verdicts to be chosen: what it has none on is no merit.

    >>> covers(12, 15), covers(2, 15), covers(0, 0)
    (True, False, False)
    """
    return asked > 0 and scored >= LEAST_COVERAGE * asked


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


def shown_confusions(judges: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return what judges made of each label, one row for each rubric and label, as text."""
    tables: dict[str, dict[str, pd.DataFrame]] = {}
    for judge, frame in judges.items():
        for name in dict.fromkeys(frame["rubric"]):
            tables.setdefault(str(name), {})[judge] = confusion(frame, str(name))
    records = []
    for name, found in tables.items():
        for label in dict.fromkeys(label for table in found.values() for label in table.index):
            sums = {judge: int(table.loc[label].sum()) for judge, table in found.items()}
            if not any(sums.values()):
                continue
            record: dict[str, Any] = {"rubric": name, "label": label, "n": max(sums.values())}
            for judge in judges:
                so, otherwise = _said(found.get(judge), label)
                record |= {f"{judge}: so": so, f"{judge}: otherwise": otherwise}
            records.append(record)
    return pd.DataFrame(records, dtype=object)


def _said(table: pd.DataFrame | None, label: str) -> tuple[int | str, str]:
    """Return how often a label was given rightly, and what else was said in its place."""
    if table is None or label not in table.index:
        return "–", "–"
    said = Counter(dict(zip(table.columns, map(int, table.loc[label]), strict=True)))
    right_ones = said.pop(label)
    others = [f"{other} {count}" for other, count in said.most_common() if count]
    return right_ones, ", ".join(others) or "–"


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


def _accuracies(table: pd.DataFrame) -> list[str]:
    columns = (table[f"accuracy{end}"] for end in ("", "_low", "_high"))
    return [with_interval(*triple) for triple in zip(*columns, strict=True)]


def _decimals(table: pd.DataFrame, name: str) -> list[str]:
    texts = []
    for row in table[[name, f"{name}_low", f"{name}_high"]].itertuples(index=False):
        # Adding 0 turns a rounded -0.0 into 0.0.
        value, low, high = (
            "–" if pd.isna(v) else f"{round(v, 2) + 0:.2f}".replace("-", "−") for v in row
        )
        texts.append(value if low == "–" else f"{value} [{low}, {high}]")
    return texts
