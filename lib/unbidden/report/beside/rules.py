"""How a printed number is met by one of ours: rules, and where in the records ours stands.

A rule names the place of our number in a recorded run, or says why there is none; no number of ours
is written here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from unbidden.recorded import has_recorded, recorded_folder, recorded_table

if TYPE_CHECKING:
    from unbidden.report.published import Paper

Kind = Literal["same", "partly", "no"]
"""Our number is of the same thing; of something near; or there is none to compare."""
Printed = dict[str, Any]
"""A row of ``results/published``."""
Ours = Callable[[Printed], "tuple[str, str] | None"]
"""Returns our number as text and its place, or None where nothing is recorded for the row."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How printed numbers of one sort are met.

    Attributes
    ----------
    fits : callable
        Takes a printed row.
    ours : callable or None
        None where nothing of ours is comparable.
    why : str
        What differs, or why there is nothing.
    """

    paper: Paper
    fits: Callable[[Printed], bool]
    kind: Kind
    why: str
    ours: Ours | None = None


@cache
def _table(run: str, chapter: str, name: str) -> pd.DataFrame | None:
    path = recorded_folder(run, chapter) / "tables" / f"{name}.csv"
    return recorded_table(run, chapter, name) if path.is_file() else None


def _cell(
    table: tuple[str, str, str], value: str, *, digits: int = 2, **where: object
) -> tuple[str, str] | None:
    """Return one cell of a recorded table as text, with its place."""
    frame = _table(*table)
    if frame is None:
        return None
    for column, wanted in where.items():
        frame = frame[frame[column] == wanted]
    if len(frame) != 1 or pd.isna(frame[value].iloc[0]):
        return None
    return f"{float(frame[value].iloc[0]):.{digits}f}", f"{table[0]}/{table[1]}, table {table[2]}"


def _number(run: str, chapter: str, name: str) -> Ours:
    def ours(row: Printed) -> tuple[str, str] | None:
        if not has_recorded(run, chapter):
            return None
        path = recorded_folder(run, chapter) / "numbers.json"
        text = json.loads(path.read_text(encoding="utf-8")).get(name)
        return (str(text), f"{run}/{chapter}, number {name}") if text else None

    return ours


_TIMELINES = ("theanine", "06_timelines")
_DATASET = ("locomo", "01_dataset")
_WORDS = ("bleu4", "rouge_l")
_RELEASED = ("theanine", "msc-retrieval", "memory-update", "memochat", "comedy")


def _session_5(row: Printed) -> tuple[str, str] | None:
    table = (*_TIMELINES, "published_printed")
    return _cell(table, "ours", system=row["system"], metric=row["metric"])


def _one_set(row: Printed) -> tuple[str, str] | None:
    table = (*_TIMELINES, "published_rescored")
    return _cell(table, row["metric"], dataset=row["dataset"], system=row["system"])


_EVERY_PAIR = {"theanine", "theanine-no-refinement"}
"""As printed, the paper's algorithm asks about every pair; so do these rows of ours."""


def _cost(row: Printed) -> tuple[str, str] | None:
    system = row["system"]
    arm = f"{system}, every pair asked" if system in _EVERY_PAIR else system
    frame = _table(*_TIMELINES, "costs")
    found = _cell((*_TIMELINES, "costs"), "ratio", arm=arm)
    if frame is None or found is None:
        return None
    bound = frame[frame["arm"] == arm]["bound"].iloc[0]
    return (found[0] if pd.isna(bound) or not bound else f"{bound} {found[0]}"), found[1]


def _released(row: Printed) -> bool:
    return row["system"] in _RELEASED and row["metric"] in _WORDS


def _of(**wanted: object) -> Callable[[Printed], bool]:
    return lambda row: all(row[name] == value for name, value in wanted.items())


def _starts(name: str, *starts: str) -> Callable[[Printed], bool]:
    return lambda row: row[name].startswith(starts)


def _leak(row: Printed) -> tuple[str, str] | None:
    table = (*_DATASET, "leaks")
    return _cell(table, "mean", digits=3, style="composed", subset="first", measure="paper")


_NO_PEOPLE = "a study with people; we have asked none"
_OTHER_MODELS = (
    "the paper's replies are by a model of 31 billion parameters and its judges by GPT; ours are "
    "not the same replies"
)

RULES: tuple[Rule, ...] = (
    Rule(
        "theanine",
        lambda row: row["table"] == "9" and row["session"] == "5" and _released(row),
        "same",
        "the released replies of this session, scored again; the last turn of an episode has no "
        "gold in the release",
        _session_5,
    ),
    Rule(
        "theanine",
        lambda row: row["table"] == "1" and _released(row),
        "partly",
        "printed over sessions 3 to 5; ours is session 5, the only one released",
        _one_set,
    ),
    Rule(
        "theanine",
        lambda row: row["table"] == "2" and _released(row),
        "partly",
        "printed over sessions 3 to 5; ours is session 5, the only one released",
        _session_5,
    ),
    Rule(
        "theanine",
        lambda row: row["metric"] in ("mauve", "bertscore") and row["system"] in _RELEASED,
        "no",
        "needs the extra reply-metrics and a downloaded model; not run here",
    ),
    Rule(
        "theanine",
        lambda row: row["table"] in ("1", "2", "9"),
        "no",
        "replies of this system or session are not in the release",
    ),
    Rule("theanine", _of(table="3"), "no", "50 turns chosen and judged by hand, not released"),
    Rule(
        "theanine",
        _of(table="4"),
        "no",
        "the paper's questions are not at hand; chapter 7 asks questions of its own, so its shares "
        "are of other items",
    ),
    Rule("theanine", _of(table="5"), "no", "replies at a changing K are not in the release"),
    Rule("theanine", _of(table="6"), "no", _NO_PEOPLE),
    Rule("theanine", _of(table="7"), "no", "follows from Tables 2 and 8, not measured by us"),
    Rule(
        "theanine",
        _of(metric="api_cost_ratio"),
        "partly",
        "printed in dollars; ours counts input tokens of one conversation of harbour",
        _cost,
    ),
    Rule("theanine", _of(metric="api_cost"), "no", "dollars of a price list of 2024"),
    Rule("theanine", _of(table="human evaluation"), "no", _NO_PEOPLE),
    Rule("theanine", _of(table="settings"), "no", "a setting or a size, not a result"),
    Rule("theanine", _of(table="released code"), "no", "a setting of the released code"),
    Rule("theanine", _of(table="released outputs"), "no", "a count of the released files"),
    Rule("theanine", _of(table="released judge runs"), "no", "verdicts of GPT-4o; not asked again"),
    Rule(
        "locomo_conv",
        _of(quantity="composed clusters"),
        "same",
        "pairs mined again from LoCoMo by the paper's rule",
        _number(*_DATASET, "pairs_paper"),
    ),
    Rule(
        "locomo_conv",
        _of(quantity="plain questions"),
        "same",
        "counted in LoCoMo's file",
        _number(*_DATASET, "questions"),
    ),
    Rule(
        "locomo_conv",
        _of(quantity="pairs of reasoned and oracle replies"),
        "same",
        "the questions that have an answer and cite evidence",
        _number(*_DATASET, "scored"),
    ),
    Rule(
        "locomo_conv",
        _starts("quantity", "mean share of answer words"),
        "partly",
        "printed over 300 queries; ours are those of conv-26, by the paper's measure",
        _leak,
    ),
    Rule(
        "locomo_conv",
        _starts("quantity", "composed clusters of", "composed clusters per"),
        "no",
        "not recorded by conversation or build",
    ),
    Rule("locomo_conv", _starts("place", "paper, section 2.1"), "no", "of other benchmarks"),
    Rule("locomo_conv", _starts("place", "paper, section 3, footnote"), "no", _NO_PEOPLE),
    Rule(
        "locomo_conv",
        lambda row: "judge" in row["note"],
        "no",
        f"an earlier protocol of the paper, and {_OTHER_MODELS}",
    ),
    Rule(
        "locomo_conv",
        _starts("place", "released code, table script"),
        "no",
        "agreement among judges we do not have; chapter 8 measures judges on other replies",
    ),
    Rule("locomo_conv", lambda row: True, "no", "a setting or a size, not a result"),
)
