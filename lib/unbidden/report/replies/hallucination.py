"""Replies to questions without an answer: how often they claim what is not so."""

from __future__ import annotations

import pandas as pd

from unbidden.corpus.models import STYLES
from unbidden.report.replies.sample import HALLUCINATION
from unbidden.report.replies.tables import ALL, NOT_RUN, score_cell, style_means

NOT_ASKED = (
    "This run asks none: they are drawn where `rubrics` names trap or unsupported, and are a "
    "sample of their own."
)


def rates(items: pd.DataFrame) -> pd.DataFrame:
    """Return the share of replies that hallucinate, by judge, rubric, way to remember and style.

    Returns
    -------
    DataFrame
        Columns ``judge, metric, style, way`` and those of
        `unbidden.report.replies.tables.scores`; `mean` is the rate, lower is better.
    """
    rows = items[items["metric"].isin(HALLUCINATION)]
    return style_means(rows, ["judge", "metric", "style", "way"])


def shown_rates(table: pd.DataFrame) -> pd.DataFrame:
    """Return `rates` as text: a row for each judge, rubric and way, a column for each style."""
    styles = [style for style in (*STYLES, ALL) if style in set(table["style"])]
    records = []
    for (judge, metric, way), group in table.groupby(["judge", "metric", "way"], sort=False):
        cells = {row["style"]: row for row in group.to_dict("records")}
        total = cells[ALL]
        records.append(
            {
                "judge": judge,
                "rubric": metric,
                "memories": way,
                **{style: score_cell(cells.get(style)) for style in styles},
                **{name: total[name] for name in ("n", "unscored")},
                NOT_RUN: total["not_run"],
            }
        )
    return pd.DataFrame(records, dtype=object)


def hallucination_note(table: pd.DataFrame) -> str:
    """Return how to read the table, or that this run has none."""
    if table.empty:
        return NOT_ASKED
    return (
        "*trap* is 1 where the reply asserts the adversarial answer, *unsupported* where it claims "
        "what the memories it was shown do not hold. Lower is better, and neither is in any other "
        "score of this page."
    )
