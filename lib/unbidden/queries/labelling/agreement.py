"""How far people's labels agree, and how many queries pass."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from unbidden.queries.labelling.checks import CHECKS, passes
from unbidden.queries.labelling.labels import Labels, labels_error, parse_labels
from unbidden.stats.agreement import ONE_VALUE, cohen_kappa, krippendorff_alpha

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unbidden.queries.labelling.checks import Check

NO_PAIRS = "no item has labels of two people"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Three tables.

    Attributes
    ----------
    checks : DataFrame
        Columns ``style, check, level, items, people, raw, kappa, alpha, unscored``: items with
        labels of two people or more, their mean agreement over pairs of people, mean kappa over
        pairs of people, alpha, and why alpha is missing.
    pairs : DataFrame
        Columns ``style, check, a, b, items, raw, kappa, unscored``.
    passed : DataFrame
        Columns ``style, annotator, items, finished, tied, passed, rate, naturalness``. `rate` is
        over finished items. The rows of "(majority)" count an item by more than half of those
        who finished it; a tie is in neither.
    """

    checks: pd.DataFrame
    pairs: pd.DataFrame
    passed: pd.DataFrame


def agreement(exports: Sequence[Labels | Mapping[str, Any]]) -> Agreement:
    """Return how far people agree and how many queries pass.

    Parameters
    ----------
    exports : sequence of Labels or parsed export
        One of each person, of the same packet.

    Raises
    ------
    DataError
        If an export is malformed, packets differ, or a person is there twice.
    """
    people = [
        item if isinstance(item, Labels) else parse_labels(item, f"export {position}")
        for position, item in enumerate(exports)
    ]
    if not people or len({item.packet for item in people}) > 1:
        raise labels_error("the exports", "one packet", str(sorted({p.packet for p in people})))
    names = [item.annotator for item in people]
    if len(set(names)) < len(names):
        raise labels_error("the exports", "one export of each person", str(names))
    checks, pairs = [], []
    for style, check, table in _tables(people):
        rows = [_pair(style, check, table, a, b) for a, b in combinations(names, 2)]
        pairs.extend(rows)
        checks.append(_summary(style, check, table, rows))
    passed = [row for style in CHECKS for row in _passed(style, people)]
    return Agreement(
        pd.DataFrame(
            checks,
            columns=[
                *("style", "check", "level", "items", "people", "raw", "kappa", "alpha", "unscored")
            ],
        ),
        pd.DataFrame(
            pairs, columns=["style", "check", "a", "b", "items", "raw", "kappa", "unscored"]
        ),
        pd.DataFrame(passed),
    )


def _tables(people: Sequence[Labels]) -> list[tuple[str, Check, pd.DataFrame]]:
    """Return labels by unit (row) and person (column) for each check that has an item."""
    found = []
    for style, checks in CHECKS.items():
        homes = [(item, n) for item, (kind, n) in people[0].items.items() if kind == style]
        for check in checks if homes else ():
            units = [(item, key) for item, n in homes for key in check.keys(n)]
            columns = {
                person.annotator: [person.labels.get(item, {}).get(key) for item, key in units]
                for person in people
            }
            found.append((style, check, pd.DataFrame(columns, dtype=object)))
    return found


def _pair(style: str, check: Check, table: pd.DataFrame, a: str, b: str) -> dict[str, Any]:
    both = table[[a, b]].dropna()
    raw = kappa = float("nan")
    why: str | None = NO_PAIRS
    if len(both):
        raw = float((both[a] == both[b]).mean())
        kappa = cohen_kappa(both[a].tolist(), both[b].tolist())
        why = ONE_VALUE if np.isnan(kappa) else None
    row = {"style": style, "check": check.id, "a": a, "b": b, "items": len(both)}
    return row | {"raw": raw, "kappa": kappa, "unscored": why}


def _summary(
    style: str, check: Check, table: pd.DataFrame, pairs: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    shared = table[table.notna().sum(axis=1) >= 2]
    raws = [
        np.mean([a == b for a, b in combinations(row.dropna(), 2)]) for _, row in shared.iterrows()
    ]
    kappas = [row["kappa"] for row in pairs if not np.isnan(row["kappa"])]
    alpha, why = _alpha(shared, check)
    return {
        "style": style,
        "check": check.id,
        "level": check.level,
        "items": len(shared),
        "people": int(table.notna().any().sum()),
        "raw": float(np.mean(raws)) if raws else float("nan"),
        "kappa": float(np.mean(kappas)) if kappas else float("nan"),
        "alpha": alpha,
        "unscored": why,
    }


def _alpha(table: pd.DataFrame, check: Check) -> tuple[float, str | None]:
    """Return alpha of labels by unit (row) and person (column), and why there is none."""
    if table.empty:
        return float("nan"), NO_PAIRS
    ranks = {value: rank for rank, value in enumerate(check.values)}
    numbers = [[ranks.get(cell, np.nan) for cell in row] for row in table.to_numpy()]
    return krippendorff_alpha(np.transpose(numbers), check.level)


def _passed(style: str, people: Sequence[Labels]) -> list[dict[str, Any]]:
    homes = {item: n for item, (kind, n) in people[0].items.items() if kind == style}
    if not homes:
        return []
    votes = {
        person.annotator: [
            passes(style, n, person.labels.get(item, {})) for item, n in homes.items()
        ]
        for person in people
    }
    natural = {
        person.annotator: [
            int(found["naturalness"])
            for item in homes
            if "naturalness" in (found := person.labels.get(item, {}))
        ]
        for person in people
    }
    rows = [_rate(style, name, found, 0, natural[name]) for name, found in votes.items()]
    shares = [
        [vote for vote in item if vote is not None] for item in zip(*votes.values(), strict=True)
    ]
    majority = [
        None if not item or 2 * sum(item) == len(item) else 2 * sum(item) > len(item)
        for item in shares
    ]
    tied = sum(bool(item) and 2 * sum(item) == len(item) for item in shares)
    every = [value for values in natural.values() for value in values]
    return [*rows, _rate(style, "(majority)", majority, tied, every)]


def _rate(
    style: str, name: str, votes: Sequence[bool | None], tied: int, natural: Sequence[int]
) -> dict[str, Any]:
    finished = [vote for vote in votes if vote is not None]
    return {
        "style": style,
        "annotator": name,
        "items": len(votes),
        "finished": len(finished),
        "tied": tied,
        "passed": sum(finished),
        "rate": sum(finished) / len(finished) if finished else float("nan"),
        "naturalness": float(np.mean(natural)) if natural else float("nan"),
    }
