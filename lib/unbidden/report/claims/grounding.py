"""Evidence on claims about replies, from the tables of the chapter on implicit grounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unbidden.grounding.silent import BOTH_ORDERS, ORACLE, TOTAL
from unbidden.report.claims.rule import Measured
from unbidden.stats import Interval, clustered_mean
from unbidden.stats.decomposition import after_over_within

if TYPE_CHECKING:
    import pandas as pd

CHAPTER = "05_implicit_grounding"


@dataclass(frozen=True, slots=True)
class Source:
    """On which data, and with which models, a run's replies and verdicts were made."""

    dataset: str
    model: str

    def part(self, claim: str, part: str, found: Interval, table: str) -> Measured:
        """Return an interval as evidence."""
        return Measured(
            claim,
            part,
            self.dataset,
            self.model,
            found.mean,
            found.low,
            found.high,
            found.n,
            found.clusters,
            CHAPTER,
            table,
            note="over items of one conversation" if found.clusters == 1 else "",
        )


def reply_evidence(source: Source, scored: pd.DataFrame, base: pd.DataFrame) -> list[Measured]:
    """Return what replies from a system's memories, and from the gold turns, tell of the claims.

    Parameters
    ----------
    scored : DataFrame
        From `unbidden.grounding.scored.scored_replies`, of one judge.
    base : DataFrame
        Items of the same judge, with the column ``way``.
    """
    found = []
    for way in dict.fromkeys(scored["way"]):
        own = scored[scored["way"] == way]
        full = own[own["recall"] >= 0.999]
        lost = clustered_mean(1 - full["score"], list(full["conversation"]))
        found.append(source.part("retrieval_not_grounding", way, lost, "tab-buckets"))
        after = after_over_within(
            own["recall"], own["score"], own["oracle"], list(own["conversation"])
        )
        found.append(source.part("loss_after_retrieval", way, after, "tab-decomposition"))
    best = base[(base["way"] == ORACLE) & (base["metric"] == "composed")]
    gap = clustered_mean(1 - best["value"], list(best["conversation"]))
    found.append(source.part("composed_ceiling", "gold turns", gap, "tab-decomposition"))
    return [part for part in found if part.n]


def margin_evidence(
    source: Source, margins: pd.DataFrame, reasoned: pd.DataFrame, *, silent_only: bool = True
) -> list[Measured]:
    """Return what the margins tell: those of both orders, and of replies that chose their memories.

    Parameters
    ----------
    silent_only : bool
        Whether the margins are of replies that do not state the fact; others are no evidence on
        silent grounding.
    margins : DataFrame
        From `unbidden.report.grounding.silence.margins_table`.
    reasoned : DataFrame
        From `unbidden.report.grounding.silence.reasoned_table`.
    """
    silent = margins[
        silent_only
        & (margins["counted"] == BOTH_ORDERS)
        & (margins["limits"] == "equal")
        & margins["compared"].str.startswith(f"{ORACLE} −")
    ]
    chosen = reasoned[
        (reasoned["pool"] == "all")
        & (reasoned["part"] == TOTAL)
        & (reasoned["counted"] == "graded alone, repaired")
    ]
    found = [
        source.part(claim, str(row["compared"]), _interval(row), table)
        for claim, rows, table in (
            ("silent_grounding", silent, "tab-side-by-side"),
            ("reasoned_as_good", chosen, "tab-reasoned"),
        )
        for row in rows.to_dict("records")
    ]
    return [part for part in found if part.n]


def _interval(row: dict[Any, Any]) -> Interval:
    return Interval(
        row["margin"], row["low"], row["high"], int(row["n"]), int(row["conversations"]), ""
    )
