"""How the released script reads a judge's text, kept to measure what strict reading changes.

Faults J2 and J3 of the notes: a score is looked for anywhere and the highest wins, a letter is
found inside words, and any text that is not empty is true. Nothing else in the package uses this.
"""

from __future__ import annotations

import re

import pandas as pd

from unbidden.judge.reading import read_label


def loose_score(text: str) -> float | None:
    """Return the score found first of 1.0, 0.5, 0.0, 1, 0, anywhere in a text.

    >>> loose_score("0.5, since 1.0 would need all three"), loose_score("0 - misses 1 of 2")
    (1.0, 1.0)
    """
    for token in ("1.0", "0.5", "0.0", "1", "0"):
        if token in text:
            return float(token)
    return None


def loose_letter(text: str) -> str | None:
    """Return the first of A, B and C in an upper-cased text, in whatever word.

    >>> loose_letter("Category B"), loose_letter("Answer: B")
    ('C', 'A')
    """
    found = re.search("[ABC]", text.upper())
    return found[0] if found else None


def loose_yes(text: str) -> bool | None:
    """Return whether YES stands before any NO in an upper-cased text.

    >>> loose_yes("Not known"), loose_yes("NOT a clear yes")
    (False, False)
    """
    upper = text.upper()
    yes, no = upper.find("YES"), upper.find("NO")
    if yes < 0 and no < 0:
        return None
    return no < 0 or 0 <= yes < no


FIXTURES: tuple[tuple[str, str], ...] = (
    ("score", "1.0"),
    ("score", "0.5"),
    ("score", "0"),
    ("score", "0,5"),
    ("score", "0 - misses 1 of 2"),
    ("score", "I'd say 0.5; 1.0 would need both"),
    ("score", "Score: 0.0 out of 1.0"),
    ("letter", "B"),
    ("letter", "Category B"),
    ("letter", "Answer: B"),
    ("letter", "The reply is unaware (A)"),
    ("yes", "YES"),
    ("yes", "no"),
    ("yes", "I cannot say yes"),
    ("yes", "Nothing wrong here: yes"),
    ("yes", ""),
)
"""Judges' texts of three kinds on which loose and strict reading can be compared."""


def readings() -> pd.DataFrame:
    """Return what loose and strict reading make of the fixtures.

    Returns
    -------
    DataFrame
        Columns ``kind, text, loose, strict``; missing where a reading finds nothing.
    """
    loose = {"score": loose_score, "letter": loose_letter, "yes": loose_yes}
    labels = {
        "score": ("1.0", "1", "0.5", "0.0", "0"),
        "letter": ("A", "B", "C"),
        "yes": ("yes", "no"),
    }
    rows = [
        {
            "kind": kind,
            "text": text,
            "loose": loose[kind](text),
            "strict": read_label(text, labels[kind]),
        }
        for kind, text in FIXTURES
    ]
    return pd.DataFrame(rows, columns=["kind", "text", "loose", "strict"]).astype(object)
