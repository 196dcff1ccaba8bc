import inspect
import re
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import unbidden.report
from unbidden.corpus.models import STYLES
from unbidden.memory.registry import SYSTEMS
from unbidden.memory.theanine.relations import RELATIONS
from unbidden.report import figures
from unbidden.report.figures.looks import (
    NAMED,
    PALETTE,
    PAPER_NAMES,
    PLACES,
    RELATION_COLOURS,
    STYLE_ORDER,
    in_style_order,
    looks,
)


def test_every_system_has_a_look_of_its_own():
    assert set(SYSTEMS) <= set(NAMED)
    assert len(set(NAMED)) == len(NAMED) <= PLACES
    found = looks(NAMED)
    assert len(set(found.values())) == len(NAMED)
    assert looks(["dense"])["dense"] == looks(["mine", "bm25", "dense"])["dense"]
    assert len(RELATION_COLOURS) == len(RELATIONS)
    assert set(RELATION_COLOURS) <= set(PALETTE)


def test_systems_of_a_user_take_free_looks():
    mine = [f"mine{i}" for i in range(30)]
    found = looks(["bm25", "rrf", *mine])
    first = [found[name] for name in mine[: PLACES - 2]]
    assert len(set(first)) == len(first)
    assert not {found["bm25"], found["rrf"]} & set(first)


def test_styles_have_one_order():
    assert STYLE_ORDER == STYLES
    assert in_style_order(["mine", *reversed(STYLES)]) == [*STYLES, "mine"]


def test_no_colour_is_written_anywhere_else():
    folder = Path(inspect.getfile(unbidden.report)).parent
    for path in folder.rglob("*.py"):
        if path.name != "looks.py":
            assert not re.search(r"[\"']#[0-9A-Fa-f]{6}\b", path.read_text("utf-8")), path.name


def _colours(figure: Figure, system: str) -> set[str]:
    found = set()
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        for handle, label in zip(handles, labels, strict=True):
            if label == system:
                line = handle[0] if isinstance(handle, tuple) else handle
                found.add(to_hex(line.get_color()).upper())
    return found


@pytest.mark.parametrize("systems", [["bm25", "dense"], ["theanine", "dense", "mine"]])
def test_figures_draw_a_system_in_its_colour(systems):
    rows = [
        {"style": style, "system": system, "k": k, "mean": 0.5, "low": 0.4, "high": 0.6, "n": 9}
        for style in ("question", "implicit")
        for system in systems
        for k in (1, 10)
    ]
    summary = pd.DataFrame(rows)
    drawn = [
        figures.recall_by_style(summary[summary["k"] == 10], k=10),
        figures.recall_against_k(summary),
    ]
    for figure in drawn:
        for system, (colour, _) in looks(systems).items():
            assert _colours(figure, system) == {colour.upper()}


def test_paper_names_are_of_systems():
    assert set(PAPER_NAMES) - {"all-memories-update"} <= set(SYSTEMS)
