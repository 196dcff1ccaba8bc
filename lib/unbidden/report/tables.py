"""Numbered tables that read well in Jupyter and in the book, with every cell escaped."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def escape_markdown(text: str) -> str:
    r"""Return text that Markdown shows as it is: no markup, no HTML, no template.

    >>> escape_markdown("a|b <i>")
    'a\\|b \\<i\\>'
    """
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split()))


def points(value: float | None, digits: int = 1) -> str:
    """Return a share as percentage points, or a dash where there is none.

    >>> points(0.5414), points(None)
    ('54.1', '–')
    """
    if value is None or pd.isna(value):
        return "–"
    return f"{100 * value:.{digits}f}".replace("-", "−")


def with_interval(mean: float | None, low: float | None, high: float | None) -> str:
    """Return "54.1 [50.0, 58.2]", in percentage points.

    >>> with_interval(0.541, 0.5, 0.5825)
    '54.1 [50.0, 58.2]'
    """
    if low is None or high is None or pd.isna(low) or pd.isna(high):
        return points(mean)
    return f"{points(mean)} [{points(low)}, {points(high)}]"


def flat_note(table: pd.DataFrame) -> str:
    """Return how to read intervals of no width at 0 or 100 %, or nothing where there are none.

    Parameters
    ----------
    table : DataFrame
        Columns ``mean, low, high, n``, as of `unbidden.report.summary.means`.

    >>> row = {"mean": 0.0, "low": 0.0, "high": 0.0, "n": 42}
    >>> "7 points for the 42 replies" in flat_note(pd.DataFrame([row]))
    True
    """
    known = table[table["low"].notna() & table["mean"].isin([0.0, 1.0])]
    flat = known[known["low"] == known["high"]]
    if flat.empty:
        return ""
    most = int(flat["n"].max())
    return (
        "An interval without width, at 0 or 100, only says that all replies seen are alike: by the "
        f"rule of three the true value may be off by about 3/n, {points(min(1.0, 3 / most), 0)} "
        f"points for the {most} replies of the largest such row, and by more, since the "
        "conversations behind them are fewer."
    )


def p_text(value: float | None) -> str:
    """Return a p-value as text.

    >>> p_text(0.0004), p_text(0.031)
    ('< 0.001', '0.031')
    """
    if value is None or pd.isna(value):
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


_NOTHING = pd.DataFrame([{"": "nothing to show: there is nothing to compare in this run"}])


@dataclass(frozen=True)
class NumberedTable:
    """A table with a caption and a name the text can cite.

    Jupyter shows its HTML; the book takes its Markdown, which gives "Table 2.1".

    Attributes
    ----------
    frame : DataFrame
        Cells are shown as text; numbers should be formatted already.
    """

    frame: pd.DataFrame
    name: str
    caption: str

    def _repr_markdown_(self) -> str:
        # Markdown cannot hold a table without rows or columns.
        frame = self.frame if self.frame.size else _NOTHING
        columns = [str(column) for column in frame.columns]
        rules = "|" + "|".join(_rules(frame)) + "|"
        rows = [_row([_text(cell) for cell in row]) for row in frame.itertuples(index=False)]
        body = "\n".join([_row(columns), rules, *rows])
        return f":::{{table}} {escape_markdown(self.caption)}\n:name: {self.name}\n\n{body}\n:::\n"

    def _repr_html_(self) -> str:
        def cells(values: Sequence[Any], tag: str) -> str:
            return "".join(f"<{tag}>{html.escape(_text(value))}</{tag}>" for value in values)

        rows = "".join(
            f"<tr>{cells(list(row), 'td')}</tr>" for row in self.frame.itertuples(index=False)
        )
        return (
            f'<table class="dataframe"><caption>{html.escape(self.caption)}</caption>'
            f"<thead><tr>{cells(list(self.frame.columns), 'th')}</tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )

    def __repr__(self) -> str:
        return f"{self.caption}\n{self.frame.to_string(index=False)}"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(escape_markdown(cell) or " " for cell in cells) + " |"


def _rules(frame: pd.DataFrame) -> list[str]:
    return ["---:" if _is_numeric(frame.iloc[:, i]) else ":---" for i in range(frame.shape[1])]


def _is_numeric(column: pd.Series[Any]) -> bool:
    return all(_text(cell)[:1] in "0123456789−–<" for cell in column)


def _text(cell: Any) -> str:
    if cell is None or (isinstance(cell, float) and pd.isna(cell)):
        return "–"
    if isinstance(cell, int) and not isinstance(cell, bool):
        return f"{cell:,}"
    return str(cell)


def spread(
    summary: pd.DataFrame, rows: str, columns: str, *, extra: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Return means with intervals as a grid, one row per `rows` value.

    Parameters
    ----------
    summary : DataFrame
        From `unbidden.report.summary.means`.
    extra : mapping of column to heading, optional
        Columns of `summary` to show once per row (such as ``n``); where the groups of a row
        differ, all their values are shown in order, with slashes between.
    """
    text = summary.assign(
        cell=[
            with_interval(mean, low, high) if n else "not available"
            for mean, low, high, n in zip(
                summary["mean"], summary["low"], summary["high"], summary["n"], strict=True
            )
        ]
    )
    order = list(dict.fromkeys(text[columns]))
    records = []
    for value, group in text.groupby(rows, sort=False):
        record: dict[str, Any] = {rows: value}
        for column, heading in (extra or {}).items():
            values = list(dict.fromkeys(group[column]))
            record[heading] = (
                values[0] if len(values) == 1 else " / ".join(_text(v) for v in group[column])
            )
        found = dict(zip(group[columns], group["cell"], strict=True))
        record.update({str(name): found.get(name, "–") for name in order})
        records.append(record)
    return pd.DataFrame(records)


_SHOWN_VERDICT = {
    "differs": "yes",
    "differs (t)": "yes (t)",
    "not distinguishable": "cannot tell",
    "not tested": "not tested",
}


def shown_differences(table: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return paired differences as text: points with interval, p-values, and what they tell.

    Parameters
    ----------
    table : DataFrame
        From `style_drop`, `system_pairs` or `condition_effect`.
    keys : sequence of str
        The columns that name a row.
    """
    return pd.DataFrame(
        {
            **{key: table[key] for key in keys},
            "difference": [
                with_interval(*triple)
                for triple in zip(table["difference"], table["low"], table["high"], strict=True)
            ],
            "n": table["n"],
            "conv.": table["conversations"],
            "p": [p_text(p) for p in table["p_holm"]],
            "p by t": [p_text(p) for p in table["p_t_holm"]],
            "detectable": [points(value) for value in table["detectable"]],
            "differs?": [
                _shown_verdict(*pair)
                for pair in zip(table["verdict"], table["conversations"], strict=True)
            ],
        }
    )


def _shown_verdict(verdict: str, conversations: int) -> str:
    """Return the verdict in a word or two; items of one conversation speak of no other."""
    shown = _SHOWN_VERDICT[verdict]
    return f"{shown}, in this one" if conversations == 1 and shown.startswith("yes") else shown
