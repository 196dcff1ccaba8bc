"""The papers' printed numbers beside ours: which can be compared, and plainly where not.

Each printed number meets the first rule of `unbidden.report.beside.rules` that fits it, and every
one meets a rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.report.published import PAPERS, published, published_path

if TYPE_CHECKING:
    from unbidden.report.published import Paper

from unbidden.report.beside.rules import RULES, Printed


def beside() -> pd.DataFrame:
    """Return every printed number with ours.

    Returns
    -------
    DataFrame
        Columns ``paper, section, row, column, printed, ours, place, kind, why``, in the order of
        the files; `ours` is empty where there is none.
    """
    return pd.DataFrame([_met(paper, row) for paper in PAPERS for row in _rows(paper)])


def _rows(paper: Paper) -> list[Printed]:
    """Return the rows of a file; `printed` is the number as it stands there, zeros included."""
    text = pd.read_csv(published_path(paper), dtype=str, keep_default_na=False)
    frame = published(paper).assign(
        printed=[
            " to ".join(part for part in pair if part)
            for pair in zip(text["value"], text["upper"], strict=True)
        ]
    )
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]


def _met(paper: Paper, row: Printed) -> dict[str, str]:
    rule = next(rule for rule in RULES if rule.paper == paper and rule.fits(row))
    found = rule.ours(row) if rule.ours else None
    kind, why = (rule.kind, rule.why) if found or not rule.ours else ("no", "not recorded here")
    if paper == "theanine":
        section, name, column = row["table"], row["row"], row["column"]
    else:
        of = ", ".join(part for part in (row["system"], row["style"]) if part)
        section, name, column = row["place"], row["quantity"], of
    return {
        "paper": paper,
        "section": section,
        "row": name,
        "column": column,
        "printed": printed_text(row),
        "ours": found[0] if found else "",
        "place": found[1] if found else "",
        "kind": kind,
        "why": ". ".join(part for part in (why, row["note"]) if part),
    }


def printed_text(row: Printed) -> str:
    """Return a printed number with its unit.

    >>> printed_text({"printed": "36 to 198", "unit": "clusters"})
    '36 to 198 clusters'
    """
    if "=" in row["unit"]:
        return f"{row['printed']} ({row['unit']})"
    return f"{row['printed']} {row['unit']}"
