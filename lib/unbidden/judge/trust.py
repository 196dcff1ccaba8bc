"""How far a judge can be trusted: its verdicts against labels, with intervals and confusions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from unbidden.judge.asking import judge
from unbidden.judge.labelled import cases
from unbidden.judge.registry import rubric
from unbidden.stats import clustered_share
from unbidden.stats.agreement import ONE_VALUE, cohen_kappa, krippendorff_alpha

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unbidden.corpus.models import Corpus
    from unbidden.judge.labelled import Item
    from unbidden.judge.rubric import Form, ProtocolName
    from unbidden.judge.verdict import Verdict
    from unbidden.llm.base import LLM

ORDERED: dict[str, tuple[str, ...]] = {
    "fact_use": ("wrong", "partial", "correct"),
    "counterfactual": ("unaware", "ambiguous", "corrected"),
    "composed": ("none", "some", "all"),
    "pairwise": ("second", "tie", "first"),
    "helpfulness": ("second", "tie", "first"),
}
"""Labels of rubrics that are ordinal, lowest first; parts are ordinal by their score."""
UNSCORED = "(unscored)"
_COLUMNS = [
    *("item", "conversation", "rubric", "part", "split", "tags", "gold", "judged", "unscored"),
    "notes",
]


def run_judge(
    llm: LLM,
    items: Sequence[Item],
    *,
    protocol: ProtocolName = "repaired",
    form: Form = "json",
    wording: str | None = None,
    corpus: Corpus | None = None,
) -> pd.DataFrame:
    """Return a judge's verdicts on labelled items, beside their labels; see `comparison`.

    Parameters
    ----------
    protocol, form, wording
        As in `unbidden.judge.judge`, for every rubric of the items.

    Raises
    ------
    ConfigError
        If a rubric of the items has no such form or wording.
    """
    built = cases(items, corpus)
    verdicts: list[Verdict | None] = [None] * len(items)
    for name in dict.fromkeys(item.rubric for item in items):
        places = [place for place, item in enumerate(items) if item.rubric == name]
        found = judge(
            llm,
            rubric(name),
            [built[place] for place in places],
            protocol=protocol,
            form=form,
            wording=wording,
        )
        for place, verdict in zip(places, found, strict=True):
            verdicts[place] = verdict
    return comparison(items, [verdict for verdict in verdicts if verdict is not None])


def comparison(items: Sequence[Item], verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """Return labels and verdicts side by side, of a judge or of a floor.

    Returns
    -------
    DataFrame
        Columns ``item, conversation, rubric, part, split, tags, gold, judged, unscored, notes``.
        `part` is empty in the row of the label; each part of an item has a further row. `judged` is
        missing where `unscored` says why; `notes` are what the guards found in the reply.
    """
    rows: list[list[Any]] = []
    for item, verdict in zip(items, verdicts, strict=True):
        judged = dict(verdict.parts)
        pairs: list[tuple[str, str, str | None]] = [("", item.label, verdict.label)]
        for part, value in item.parts.items():
            said = judged.get(part)
            pairs.append((part, f"{value:g}", None if said is None else f"{said:g}"))
        for part, gold, label in pairs:
            why = verdict.unscored or (None if label is not None else "no such part")
            rows.append(
                [
                    *(item.id, item.conversation, item.rubric, part, item.split),
                    *(" ".join(item.tags), gold, label, why, verdict.noted_text),
                ]
            )
    return pd.DataFrame(rows, columns=_COLUMNS)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Gold and judged labels of the scored items of one group."""

    gold: tuple[str, ...]
    judged: tuple[str, ...]
    order: tuple[str, ...]
    ordinal: bool

    def take(self, places: np.ndarray[Any, Any]) -> _Pairs:
        gold = tuple(self.gold[place] for place in places)
        judged = tuple(self.judged[place] for place in places)
        return _Pairs(gold, judged, self.order, self.ordinal)


def agreement_table(
    frame: pd.DataFrame, *, resamples: int = 499, level: float = 0.95, seed: int = 0
) -> pd.DataFrame:
    """Return accuracy, kappa and alpha of each rubric and part.

    Accuracy has a t interval clustered by conversation, cut off at 0 and 1. Kappa and alpha have
    percentile intervals from resampling whole conversations; with harbour's six these are rather
    narrow. Krippendorff's alpha is ordinal where the labels are ordered.

    Returns
    -------
    DataFrame
        Columns ``rubric, part, items, unscored, majority, accuracy, accuracy_low, accuracy_high,
        kappa, kappa_low, kappa_high, alpha, alpha_low, alpha_high, note``. `majority` is the
        accuracy of always giving the commonest label. All values are over scored items and
        missing without any; `note` says why kappa or alpha is missing.
    """
    rows = []
    for (name, part), group in frame.groupby(["rubric", "part"], sort=False):
        rows.append(_agreement_row(str(name), str(part), group, resamples, level, seed))
    return pd.DataFrame(rows)


def _agreement_row(
    name: str, part: str, group: pd.DataFrame, resamples: int, level: float, seed: int
) -> dict[str, Any]:
    scored = group[group["judged"].notna()]
    right = (scored["gold"] == scored["judged"]).to_numpy(dtype=float)
    homes = scored["conversation"].tolist()
    interval = clustered_share(right, homes, level=level)
    row: dict[str, Any] = {
        "rubric": name,
        "part": part,
        "items": len(group),
        "unscored": len(group) - len(scored),
        "majority": float(scored["gold"].value_counts(normalize=True).max()),
        "accuracy": interval.mean,
        "accuracy_low": interval.low,
        "accuracy_high": interval.high,
    }
    pairs = _pairs(name, part, scored)
    notes = []
    for measure, compute in (("kappa", _kappa), ("alpha", _alpha)):
        value, why = compute(pairs)
        low, high = (
            (float("nan"),) * 2
            if np.isnan(value)
            else _bootstrap(pairs, homes, compute, resamples, level, seed)
        )
        row |= {measure: value, f"{measure}_low": low, f"{measure}_high": high}
        notes.extend([] if why is None else [why])
    return row | {"note": "; ".join(dict.fromkeys(notes)) or None}


def _pairs(name: str, part: str, scored: pd.DataFrame) -> _Pairs:
    gold, judged = tuple(scored["gold"]), tuple(scored["judged"])
    seen = sorted({*gold, *judged})
    order = tuple(sorted(seen, key=float)) if part else ORDERED.get(name, tuple(seen))
    return _Pairs(gold, judged, order, bool(part) or name in ORDERED)


def _kappa(pairs: _Pairs) -> tuple[float, str | None]:
    if not pairs.gold:
        return float("nan"), "no scored item"
    value = cohen_kappa(pairs.gold, pairs.judged)
    return value, ONE_VALUE if np.isnan(value) else None


def _alpha(pairs: _Pairs) -> tuple[float, str | None]:
    if not pairs.gold:
        return float("nan"), "no scored item"
    ranks = {label: rank for rank, label in enumerate(pairs.order)}
    data = [[ranks[label] for label in side] for side in (pairs.gold, pairs.judged)]
    return krippendorff_alpha(data, "ordinal" if pairs.ordinal else "nominal")


def _bootstrap(
    pairs: _Pairs,
    homes: Sequence[str],
    compute: Callable[[_Pairs], tuple[float, str | None]],
    resamples: int,
    level: float,
    seed: int,
) -> tuple[float, float]:
    """Return percentile bounds over resampled conversations; NaN with fewer than two of them."""
    names = sorted(set(homes))
    if len(names) < 2:
        return float("nan"), float("nan")
    places = {name: np.flatnonzero(np.array(homes) == name) for name in names}
    rng = np.random.default_rng(seed)
    values = []
    for _ in range(resamples):
        drawn = rng.integers(len(names), size=len(names))
        taken = np.concatenate([places[names[number]] for number in drawn])
        values.append(compute(pairs.take(taken))[0])
    known = np.array(values)[~np.isnan(values)]
    if not len(known):
        return float("nan"), float("nan")
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def confusion(frame: pd.DataFrame, name: str, part: str = "") -> pd.DataFrame:
    """Return how often each label was given for each gold label (rows), unscored apart."""
    group = frame[(frame["rubric"] == name) & (frame["part"] == part)]
    order = ORDERED.get(name, tuple(sorted({*group["gold"], *group["judged"].dropna()})))
    if part:
        order = tuple(sorted({*group["gold"], *group["judged"].dropna()}, key=float))
    table = pd.crosstab(group["gold"], group["judged"].fillna(UNSCORED))
    return table.reindex(index=list(order), columns=[*order, UNSCORED], fill_value=0)


def by_tag(frame: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy by tag, over the labels of all rubrics; the hardest tag first.

    Returns
    -------
    DataFrame
        Columns ``tag, items, unscored, accuracy``.
    """
    labels = frame[frame["part"] == ""]
    long = labels.assign(tag=labels["tags"].str.split()).explode("tag")
    long = long[long["tag"].notna()]
    rows = []
    for tag, group in long.groupby("tag"):
        scored = group[group["judged"].notna()]
        right = (scored["gold"] == scored["judged"]).mean() if len(scored) else float("nan")
        rows.append(
            {
                "tag": tag,
                "items": len(group),
                "unscored": len(group) - len(scored),
                "accuracy": float(right),
            }
        )
    table = pd.DataFrame(rows, columns=["tag", "items", "unscored", "accuracy"])
    return table.sort_values(["accuracy", "tag"], ignore_index=True)
