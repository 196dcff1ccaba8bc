"""Names and colours: a system or a way to remember looks the same in every figure of the book.

Tables and figures call a system by its registry name, a condition by its words ("no memory") and a
style by LoCoMo-Conv's word; `PAPER_NAMES` says what the papers call a system.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from unbidden.corpus.models import STYLES

if TYPE_CHECKING:
    from collections.abc import Sequence

# Okabe and Ito's palette, safe for the common forms of colour blindness.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#7F7F7F", "#000000")
MARKERS = "osD^vPX*<>hp"
GRID, AXIS, INK, FAINT, PAPER = "#dddddd", "#555555", "#333333", "#999999", "#ffffff"
"""Of grids, zero lines, text, lines without meaning, and the face of a figure."""
RELATION_COLOURS = tuple(PALETTE[place] for place in (4, 0, 2, 3, 5, 1, 6))
"""Of the memory graph's relations, in their order."""
STYLE_ORDER: tuple[str, ...] = STYLES
"""The order of styles in every table and figure: from the plain question to the hardest."""

NAMED = (
    *("bm25", "dense", "rrf", "amem", "mem0", "anchormem", "nemori", "memora", "amem-noevo"),
    *("mem0-v2", "theanine", "msc-retrieval", "memory-update", "unbidden", "memochat", "comedy"),
    *("full-history", "all-memories", "rsum", "unbidden-llm", "oracle", "no memory"),
    *("random", "mem0-package"),
)
"""Who has a look of its own; the place in this list is the look."""
PLACES = math.lcm(len(PALETTE), len(MARKERS))
"""How many looks there are before a colour comes again with the same marker: 24."""

PAPER_NAMES = {
    "full-history": "All Dialogue History",
    "all-memories": "All Memories & D",
    "all-memories-update": "All Memories & D + Memory Update",
    "msc-retrieval": "Memory Retrieval",
    "memory-update": "Memory Retrieval + Memory Update",
    "rsum": "RSum-LLM",
    "memochat": "MemoChat",
    "comedy": "COMEDY",
    "theanine": "THEANINE",
    "amem": "A-MEM",
    "anchormem": "AnchorMem",
    "memora": "Memora",
    "nemori": "Nemori",
    "dense": "Dense",
    "bm25": "BM25",
}


def looks(systems: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return colour and marker by name: fixed for ours, next free for a user's.

    >>> looks(["bm25", "mine"])["bm25"] == looks(["mine", "bm25"])["bm25"]
    True
    """
    fixed = {name: place for place, name in enumerate(NAMED)}
    free = [place for place in range(PLACES) if place not in {fixed.get(name) for name in systems}]
    found = {}
    for system in systems:
        place = fixed[system] if system in fixed else free.pop(0) if free else PLACES - 1
        found[system] = (PALETTE[place % len(PALETTE)], MARKERS[place % len(MARKERS)])
    return found


def in_style_order(styles: Sequence[str]) -> list[str]:
    """Return styles in the order of the book; unknown ones last, as they came.

    >>> in_style_order(["composed", "mine", "question"])
    ['question', 'composed', 'mine']
    """
    known = [style for style in STYLE_ORDER if style in styles]
    return known + [style for style in dict.fromkeys(styles) if style not in known]
