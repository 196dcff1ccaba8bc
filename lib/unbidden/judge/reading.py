"""Reading a label from free text: the whole text is the label, or there is none.

Looking for a label inside a sentence takes "not correct" for correct, and looking for "1.0" takes
the last of three grades for the first. For endpoints that know neither schemas nor
log-probabilities the judge is asked for one word, and this is read:

* blanks around it, one pair of quotes, asterisks or backticks, one full stop at the end, and
  upper or lower case do not matter;
* everything else must be equal to a label. "incorrect", "not correct", "correct, but late",
  "Label: correct" and "0,5" are no labels of words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_WRAPPED = re.compile(
    r"""\A(?P<open>["'`]|\*{1,2}|“)?(?P<word>.*?)(?P<close>["'`]|\*{1,2}|”)?\Z""", re.S
)
_PAIRS = {"“": "”"}


def read_label(text: str, labels: Iterable[str]) -> str | None:
    """Return the label a text is, or None.

    >>> read_label(' "Correct". ', ["correct", "wrong"])
    'correct'
    >>> read_label("not correct", ["correct", "wrong"]) is None
    True
    """
    inner = text.strip().removesuffix(".").strip()
    match = _WRAPPED.match(inner)
    if match is not None and match["open"]:
        if match["close"] != _PAIRS.get(match["open"], match["open"]):
            return None
        inner = match["word"].strip().removesuffix(".").strip()
    known = {label.casefold(): label for label in labels}
    return known.get(inner.casefold())
