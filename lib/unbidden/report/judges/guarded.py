"""What the guards of a judge found in the replies of a run: cut texts, orders, forged tokens."""

from __future__ import annotations

import pandas as pd

from unbidden.judge.guards import CLIPPED, INSTRUCTS, TEMPLATE
from unbidden.judge.replies import NO_REPLY
from unbidden.judge.teafarm_agents import waits

FOUND = {"clipped": CLIPPED, "orders": INSTRUCTS, "chat tokens": TEMPLATE}
"""Columns of counts, with the beginning of the note each counts."""


def guarded(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return how many replies of each kind a judge's guards clipped or flagged.

    Parameters
    ----------
    rows : DataFrame
        Verdicts of one model, one row a reply, with the column ``notes``. Those without a reply,
        or whose verdict is not on record, are left out.
    by : str
        The column that names the kind, such as ``system``.

    Returns
    -------
    DataFrame
        The column `by`, ``replies``, those of `FOUND`, and ``flagged``; a reply with two notes
        counts in two of them and once in ``flagged``.
    """
    put = [not (str(why).startswith(NO_REPLY) or waits(why)) for why in rows["unscored"]]
    rows = rows[pd.Series(put, index=rows.index, dtype=bool)]
    notes = [text.split("; ") for text in rows["notes"]]
    counts = pd.DataFrame(
        {
            name: [int(any(note.startswith(start) for note in own)) for own in notes]
            for name, start in FOUND.items()
        },
        dtype=int,
    )
    table = counts.assign(replies=1, flagged=counts.max(axis=1).astype(int))
    table[by] = rows[by].to_numpy()
    summed = table.groupby(by, sort=False).sum().reset_index()
    return summed[[by, "replies", *FOUND, "flagged"]]


def guard_note(table: pd.DataFrame) -> str:
    """Return a sentence on what `guarded` found."""
    total, hit = int(table["replies"].sum()), int(table["flagged"].sum())
    if not total:
        return "No verdict of a model on a reply is on record here."
    if not hit:
        return (
            f"Of the {total:,} replies that a model judged none was clipped, gives orders to the "
            "judge or holds tokens of a chat template."
        )
    return (
        f"Of the {total:,} replies that a model judged {hit:,} had to be clipped, give orders to "
        "the judge or hold tokens of a chat template; they are judged all the same, as data."
    )


def shown_guarded(table: pd.DataFrame, heading: str) -> pd.DataFrame:
    """Return `guarded` for a page, the first column under a heading; empty if nothing was found."""
    if not table["flagged"].sum():
        return pd.DataFrame()
    return table.rename(columns={table.columns[0]: heading}).astype(object)
