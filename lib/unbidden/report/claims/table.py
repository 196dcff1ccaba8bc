"""The claims with their verdicts as a table, and as numbers for a page's text."""

from __future__ import annotations

import html
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.config import project_root
from unbidden.report.claims.listing import CLAIMS
from unbidden.report.claims.rule import FAILS, HOLDS, OPEN, across, combined, judged
from unbidden.report.tables import escape_markdown, points

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unbidden.report.claims.listing import Claim
    from unbidden.report.claims.rule import Measured

NOT_MEASURED = "not measured"
_LABEL = re.compile(r"[a-z][a-z0-9-]{1,60}")


def claim_rows(evidence: Iterable[Measured], claims: Iterable[Claim] | None = None) -> pd.DataFrame:
    """Return one row for each claim and data set, with its verdict by the rule.

    A claim without evidence has one row, which says what it would take.

    Returns
    -------
    DataFrame
        Columns ``claim, paper, text, quantity, bound, dataset, model, measured, n, verdict,
        chapter, table``.
    """
    listed = list(CLAIMS.values() if claims is None else claims)
    parts = list(evidence)
    rows: list[dict[str, Any]] = []
    for claim in listed:
        own = [part for part in parts if part.claim == claim.key]
        groups = groupby(sorted(own, key=_group), key=_group)
        found = [_row(claim, list(group)) for _, group in groups]
        rows += found or [_open(claim)]
    return pd.DataFrame(rows)


def _group(part: Measured) -> tuple[str, str, str, str]:
    return part.dataset, part.model, part.chapter, part.table


def _row(claim: Claim, parts: Sequence[Measured]) -> dict[str, Any]:
    first = parts[0]
    notes = "; ".join(dict.fromkeys(part.note for part in parts if part.note))
    sizes = sorted({part.n for part in parts})
    return {
        **_head(claim),
        "dataset": first.dataset,
        "model": first.model,
        "measured": "; ".join(map(_text, parts)) + (f" ({notes})" if notes else ""),
        "n": "–".join(str(size) for size in dict.fromkeys((sizes[0], sizes[-1]))),
        "verdict": combined(judged(part, claim.bound) for part in parts),
        "chapter": first.chapter,
        "table": first.table,
    }


def _open(claim: Claim) -> dict[str, Any]:
    return {
        **_head(claim),
        "dataset": "–",
        "model": "–",
        "measured": f"{NOT_MEASURED}; it takes {claim.needs}",
        "n": "0",
        "verdict": OPEN,
        "chapter": "",
        "table": "",
    }


def _head(claim: Claim) -> dict[str, Any]:
    return {
        "claim": claim.key,
        "paper": claim.paper,
        "text": claim.text,
        "quantity": claim.quantity,
        "bound": _bound_text(claim),
    }


def _bound_text(claim: Claim) -> str:
    value = claim.bound.value
    small = 0 < abs(value) < 0.5  # a share, shown in points like the measured ones
    shown = points(value, 0) + " points" if small else f"{value:g}"
    return f"{claim.bound.side} {shown}"


def _text(part: Measured) -> str:
    scale = 1.0 if part.unit == "share" else 0.01
    values = [
        None if value is None or pd.isna(value) else scale * value
        for value in (part.estimate, part.low, part.high)
    ]
    mean, low, high = (points(value, 1) for value in values)
    if part.exact or values[1] is None or values[2] is None:
        return f"{part.part} {mean}"
    return f"{part.part} {mean} [{low}, {high}]"


def claim_verdicts(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row a claim with one word on it from its verdicts on all data sets.

    Parameters
    ----------
    rows : DataFrame
        From `claim_rows`.

    Returns
    -------
    DataFrame
        Columns ``claim, paper, text, verdict, data``; the verdict may be "mixed", and `data` are
        the data sets on which anything was measured.
    """
    records = []
    for key, group in rows.groupby("claim", sort=False):
        first = group.iloc[0]
        measured = group.loc[group["table"] != "", "dataset"]
        records.append(
            {
                "claim": str(key),
                "paper": first["paper"],
                "text": first["text"],
                "verdict": across(group["verdict"]),
                "data": ", ".join(dict.fromkeys(measured)),
            }
        )
    return pd.DataFrame(records, columns=["claim", "paper", "text", "verdict", "data"])


def claim_numbers(rows: pd.DataFrame) -> dict[str, str]:
    """Return how many claims hold, do not, differ between data sets, and cannot be told, as text.

    Names: ``claims``, ``claims_hold``, ``claims_fail``, ``claims_mixed``, ``claims_open`` and
    ``claims_measured``; and ``claim_KEY``, the word on one claim.
    """
    table = claim_verdicts(rows)
    words = dict(zip(table["claim"], table["verdict"], strict=True))
    counts = Counter(words.values())
    measured = int((table["data"] != "").sum())
    return {
        "claims": str(len(words)),
        "claims_hold": str(counts[HOLDS]),
        "claims_fail": str(counts[FAILS]),
        "claims_mixed": str(counts["mixed"]),
        "claims_open": str(counts[OPEN]),
        "claims_measured": str(measured),
        **{f"claim_{key}": word for key, word in words.items()},
    }


@lru_cache(maxsize=512)
def _chapter_text(chapter: str) -> str:
    path = project_root() / "notebooks" / f"{chapter}.py"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def is_shown(chapter: str, table: str) -> bool:
    """Return whether a chapter of this study shows a table of that name."""
    wanted = bool(_LABEL.fullmatch(table)) and bool(re.fullmatch(r"\d\d_[a-z_]+", chapter))
    return wanted and f'"{table}"' in _chapter_text(chapter)


@dataclass(frozen=True)
class ClaimsTable:
    """The claims as a numbered table whose last column leads to the table behind each verdict.

    Every cell is escaped but the references, which are built from names that were looked up.

    Attributes
    ----------
    rows : DataFrame
        From `claim_rows`.
    """

    rows: pd.DataFrame
    name: str
    caption: str

    def shown(self) -> pd.DataFrame:
        """Return the table as text, a claim named once."""
        first = ~self.rows.duplicated("claim")
        text = [
            f"{text} ({quantity}, {bound})" if new else ""
            for text, quantity, bound, new in zip(
                self.rows["text"], self.rows["quantity"], self.rows["bound"], first, strict=True
            )
        ]
        papers = [
            paper if new else "" for paper, new in zip(self.rows["paper"], first, strict=True)
        ]
        return pd.DataFrame(
            {
                "claim": text,
                "paper": papers,
                "data": self.rows["dataset"],
                "model": self.rows["model"],
                "measured": self.rows["measured"],
                "n": self.rows["n"],
                "verdict": self.rows["verdict"],
            },
            dtype=object,
        )

    def _references(self, *, markdown: bool) -> list[str]:
        found = []
        for chapter, table in zip(self.rows["chapter"], self.rows["table"], strict=True):
            if is_shown(chapter, table):
                link = f'<a href="{chapter}.ipynb">{chapter}, {table}</a>'
                found.append(f"{{numref}}`{table}`" if markdown else link)
            else:
                plain = ", ".join(part for part in (chapter, table) if part) or "–"
                found.append(escape_markdown(plain) if markdown else html.escape(plain))
        return found

    def _repr_markdown_(self) -> str:
        frame = self.shown()
        head = "| " + " | ".join([*map(str, frame.columns), "shown in"]) + " |"
        rules = "|" + "|".join([":---"] * (frame.shape[1] + 1)) + "|"
        rows = [
            "| " + " | ".join([*(escape_markdown(str(cell)) or " " for cell in row), where]) + " |"
            for row, where in zip(
                frame.itertuples(index=False), self._references(markdown=True), strict=True
            )
        ]
        body = "\n".join([head, rules, *rows])
        return f":::{{table}} {escape_markdown(self.caption)}\n:name: {self.name}\n\n{body}\n:::\n"

    def _repr_html_(self) -> str:
        frame = self.shown()
        head = "".join(
            f"<th>{html.escape(str(name))}</th>" for name in [*frame.columns, "shown in"]
        )
        rows = "".join(
            "<tr>"
            + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row)
            + f"<td>{where}</td></tr>"
            for row, where in zip(
                frame.itertuples(index=False), self._references(markdown=False), strict=True
            )
        )
        return (
            f'<table class="dataframe"><caption>{html.escape(self.caption)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        )

    def __repr__(self) -> str:
        return f"{self.caption}\n{self.shown().to_string(index=False)}"
