"""Which conversations and systems can stand side by side in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unbidden.report.summary import scored_systems, shared_conversations

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import pandas as pd

    from unbidden.retrieval import Rankings


def lossy_systems(rankings: Iterable[Rankings]) -> set[str]:
    """Return the systems that stored a conversation and were refused for what they lost of it."""
    return {found.system for found in rankings if found.lost}


def comparable(rows: pd.DataFrame, lossy: Collection[str] = ()) -> pd.DataFrame:
    """Return the rows of shared conversations, and of systems that are scored in all of them.

    Conversations are shared that every scored system has a value in. A system that lost one does
    not take it from the others: the conversations it kept are those in which it did well, no fair
    sample. It stays if it is scored wherever the others are.

    Parameters
    ----------
    rows : DataFrame
        Items of one measure or several.
    lossy : collection of str
        From `lossy_systems`.
    """
    rows = scored_systems(rows)
    steady = rows[~rows["system"].isin(list(lossy))]
    shared = shared_conversations(rows if steady.empty else steady)["conversation"].unique()
    rows = rows[rows["conversation"].isin(shared)]
    scored = rows[rows["value"].notna()].groupby("system")["conversation"].nunique()
    return rows[rows["system"].isin(scored[scored == len(shared)].index)]
