"""A comparison as a page of Markdown, for the screen and for the book."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from unbidden.report.comparing.changes import unexplained
from unbidden.report.comparing.items import FOUND
from unbidden.report.tables import escape_markdown, points, shown_differences

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unbidden.report.comparing.items import Paired
    from unbidden.report.comparing.together import ChapterComparison, Comparison

_MOST = 60
"""Rows of a table on the page; the CSV beside it holds all of them."""


def one_line(text: str) -> str:
    """Return a text for a screen: one line that cannot break a table."""
    return " ".join(text.split()).replace("|", "/")


def comparison_page(
    found: Comparison, *, title: str = "", escape: Callable[[str], str] = escape_markdown
) -> str:
    """Return the comparison as Markdown.

    Parameters
    ----------
    title : str
        Heading of the page; empty names the two runs.
    escape : callable
        Applied to every text of the runs; `one_line` reads better on a screen.
    """
    a, b = escape(found.first), escape(found.second)
    parts = [
        f"# {title or f'Compare runs: {a} and {b}'}\n",
        f"First run: *{a}*. Second run: *{b}*. A difference is second minus first, paired by item, "
        "with a 95 % interval clustered by conversation.\n",
    ]
    for side, names in (("first", found.only_first), ("second", found.only_second)):
        if names:
            parts.append(f"Only in the {side} run: {', '.join(map(escape, names))}.\n")
    writer = _Writer(escape)
    for chapter in found.chapters:
        parts += writer.chapter(chapter)
    return "\n".join(parts)


@dataclass(frozen=True, slots=True)
class _Writer:
    escape: Callable[[str], str]

    def chapter(self, found: ChapterComparison) -> list[str]:
        name = self.escape(found.chapter)
        parts = [f"## {name}\n", f"### What changed in {name}\n"]
        if found.changed.empty:
            parts.append("Nothing: the same parameters, code, packages and data.\n")
        else:
            parts.append(self.table(found.changed))
        if unexplained(found.changed) and not found.numbers.empty:
            parts.append(
                "Nothing that can move a number differs, and yet numbers do: this chapter is not "
                "repeatable.\n"
            )
        parts += self.bullets(found.notes)
        for file, paired in found.items.items():
            parts += self.items(name, file, paired)
        parts += [f"### Tables of {name}\n", self.table(_shown_tables(found.tables))]
        if not found.numbers.empty:
            parts += [f"### Numbers the text of {name} cites\n", self.table(found.numbers)]
        return parts

    def items(self, chapter: str, file: str, paired: Paired) -> list[str]:
        parts = [f"### Paired differences of {chapter}, {self.escape(file)}\n"]
        if len(paired.table):
            parts.append(self.table(shown_paired(paired.table)))
        else:
            parts.append("No pair of items to compare.\n")
        return parts + self.bullets(paired.notes)

    def bullets(self, notes: Sequence[str], most: int = 20) -> list[str]:
        rest = len(notes) - most
        shown = [f"* {self.escape(note)}" for note in notes[:most]]
        more = [f"* and {rest} more of this kind"] if rest > 0 else []
        return [*shown, *more, ""] if shown else []

    def table(self, frame: pd.DataFrame) -> str:
        head = self.row(frame.columns)
        rule = "|" + " --- |" * frame.shape[1]
        rows = [self.row(row) for row in frame.head(_MOST).itertuples(index=False)]
        cut = len(frame) - _MOST
        more = [f"\n{cut} more rows are not shown here; the CSV files of `--out` have all."]
        return "\n".join([head, rule, *rows, *(more if cut > 0 else []), ""])

    def row(self, values: Sequence[object] | pd.Index[str]) -> str:
        return "| " + " | ".join(self.cell(value) for value in values) + " |"

    def cell(self, value: object) -> str:
        text = f"{value:,}" if isinstance(value, int) else str(value)
        return self.escape(text if len(text) <= 160 else text[:157] + "...") or " "


def shown_paired(table: pd.DataFrame) -> pd.DataFrame:
    """Return paired differences as text: shares in points, other measures as they are."""
    keys = [name for name in table.columns if name not in FOUND]
    means = table[["first_mean", "second_mean"]].astype(float)
    shares = means.abs().max(axis=1).fillna(0.0).le(1.0)
    scale = shares.map({True: 1.0, False: 0.01}).astype(float)  # `points` multiplies by 100
    moved = ("first_mean", "second_mean", "difference", "low", "high", "detectable")
    scaled = table.assign(**{name: table[name].astype(float) * scale for name in moved})
    shown = shown_differences(scaled, keys)
    same = table["difference"].eq(0) & table["low"].eq(0) & table["high"].eq(0)
    shown["differs?"] = shown["differs?"].mask(same, "same values")
    for place, side in enumerate(("first", "second"), start=len(keys)):
        shown.insert(place, side, [points(value) for value in scaled[f"{side}_mean"]])
    only = zip(table["only_first"], table["only_second"], strict=True)
    shown["only in first / second"] = [f"{a} / {b}" for a, b in only]
    shown["scored in one only"] = table["unscored_in_one"]
    if not shares.all():
        shown["unit"] = shares.map({True: "points", False: "as measured"})
    return shown


def _shown_tables(table: pd.DataFrame) -> pd.DataFrame:
    order = table.sort_values("state", key=lambda states: states.eq("equal"), kind="stable")
    return pd.DataFrame(
        {
            "table": order["table"],
            "state": order["state"],
            "rows in both": [_count(value) for value in order["rows"]],
            "in one only": [_count(value) for value in order["rows_in_one"]],
            "numbers that differ": [
                "–" if pd.isna(n) else f"{_count(part)} of {_count(n)}"
                for part, n in zip(order["cells_differ"], order["cells"], strict=True)
            ],
            "largest change": [
                "–" if pd.isna(value) else f"{value:.4g}" for value in order["largest_change"]
            ],
        }
    )


def _count(value: float | None) -> str:
    return "–" if value is None or pd.isna(value) else f"{int(value):,}"
