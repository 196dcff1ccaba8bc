"""The page that sets the papers' printed numbers beside ours, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.report.beside.tables import beside
from unbidden.report.tables import NumberedTable, escape_markdown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TITLES = {"theanine": "THEANINE", "locomo_conv": "LoCoMo-Conv"}
_PLAIN = {
    "human evaluation": "Human evaluation",
    "settings": "Settings and sizes",
    "released code": "Released code",
    "released outputs": "Released outputs",
    "released judge runs": "Released judge runs",
}
_INTRO = """# Published beside ours

What can be compared with the papers, and what cannot? Of {all} numbers that THEANINE and
LoCoMo-Conv ([bibliography](../bibliography)) print, or that their released code and outputs hold,
{same} are of the same thing as a number of ours, {partly} of something near, and {no} of something
we have not measured, or cannot. Every printed number is listed with its place, as it is printed;
those of the papers' repositories say so. Ours are read from the recorded runs in
`results/recorded` when this page is made.
"""
_NOT = """## Printed, and not compared

Here nothing of ours can stand beside the printed number. The letters say why.
"""


def beside_page() -> str:
    """Return the page."""
    frame = beside()
    counts = frame["kind"].value_counts()
    parts = [
        _INTRO.format(
            all=f"{len(frame):,}",
            **{kind: f"{counts.get(kind, 0):,}" for kind in ("same", "partly", "no")},
        ),
        *_compared(frame, "same", "Of the same thing", "Printed numbers we measured again."),
        *_compared(
            frame, "partly", "Near, but not the same", "Printed numbers beside something near."
        ),
        _NOT,
        *(part for paper in TITLES for part in _left(frame, paper)),
    ]
    return "\n".join(parts)


def _compared(frame: pd.DataFrame, kind: str, heading: str, caption: str) -> Iterable[str]:
    yield f"## {heading}\n"
    rows = frame[frame["kind"] == kind]
    if rows.empty:
        yield "None is recorded here.\n"
        return
    letters, listed = _reasons(rows["why"])
    table = pd.DataFrame(
        {
            "place": [
                f"{TITLES[paper]}, {_place(paper, section)}"
                for paper, section in zip(rows["paper"], rows["section"], strict=True)
            ],
            "of": [
                ", ".join(part for part in pair if part)
                for pair in zip(rows["row"], rows["column"], strict=True)
            ],
            "printed": rows["printed"],
            "ours": rows["ours"],
            "note": letters,
        }
    )
    yield NumberedTable(table, f"tab-beside-{kind}", caption)._repr_markdown_()
    yield from listed
    places = ", ".join(f"`{place}`" for place in dict.fromkeys(rows["place"]))
    yield f"Our numbers are of {places}.\n"


def _left(frame: pd.DataFrame, paper: str) -> Iterable[str]:
    rows = frame[(frame["paper"] == paper) & (frame["kind"] == "no")]
    groups = rows.groupby("section", sort=False) if paper == "theanine" else [("", rows)]
    if paper != "theanine":
        yield f"### {TITLES[paper]}\n"
    for number, (section, group) in enumerate(groups, 1):
        letters, listed = _reasons(group["why"])
        place = _place(paper, str(section))
        if paper == "theanine":
            yield f"### {TITLES[paper]}, {place}\n"
            table = group[["row", "column", "printed"]].assign(why=letters)
        else:
            table = group[["section", "row", "column", "printed"]].assign(why=letters)
            table = table.rename(columns={"section": "place", "row": "quantity", "column": "of"})
        caption = f"{TITLES[paper]}, {place or 'paper and released code'}: not compared."
        yield NumberedTable(table, f"tab-printed-{paper}-{number}", caption)._repr_markdown_()
        yield from listed


def _place(paper: str, section: str) -> str:
    if paper != "theanine":
        return section
    return f"Table {section}" if section.isdigit() else _PLAIN.get(section, section)


def _reasons(whys: Sequence[str] | pd.Series[str]) -> tuple[list[str], list[str]]:
    """Return a letter for each reason, and the list that says what the letters mean."""
    names = {why: _letter(place) for place, why in enumerate(dict.fromkeys(whys))}
    listed = [f"* ({letter}) {escape_markdown(why)}." for why, letter in names.items()]
    return [names[why] for why in whys], [*listed, ""]


def _letter(place: int) -> str:
    """Return a, b, ..., z, aa, ab, ... for a place from 0.

    >>> _letter(0), _letter(25), _letter(26)
    ('a', 'z', 'aa')
    """
    name = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        name = chr(ord("a") + rest) + name
    return name
