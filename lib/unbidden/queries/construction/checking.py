"""What is wrong with a written query, without asking any model.

The paper checks the leak of composed queries only. Here every style is checked for everything
that its rules forbid and a program can see.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.memory.tokens import has_unspaced
from unbidden.queries.audit import word_count
from unbidden.queries.cues import memory_cues
from unbidden.queries.leaks import leak

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from unbidden.corpus.models import Style
    from unbidden.queries.leaks import LeakMeasure

Problem = Literal["empty", "gold", "leak", "cue", "short", "own_name"]
PROBLEMS: tuple[Problem, ...] = get_args(Problem)
"""No word in it; a whole answer inside; too many answer words; an open appeal to memory where
there must be none; too few words; the speaker called by name instead of "I"."""

MIN_WORDS: Mapping[Style, int] = {
    "dialog": 4,
    "implicit": 5,
    "counterfactual": 6,
    "composed": 8,
}
"""Fewer words are too few (LoCoMo-Conv's validation)."""


def problems_of(
    style: Style,
    text: str,
    *,
    answers: Sequence[str],
    topic: str = "",
    speaker: str | None = None,
    measure: LeakMeasure = "repaired",
    threshold: float,
) -> tuple[Problem, ...]:
    """Return what is wrong with a query, in the order of `PROBLEMS`.

    Parameters
    ----------
    answers : sequence of str
        Gold answers of all members; for an adversarial question its wrong answer.
    topic : str
        The plain questions: their words give nothing away under the repaired leak measure.
    speaker : str or None
        Who says it.
    threshold : float
        The highest leak that is no problem, 0..1.

    >>> problems_of("implicit", "Do you remember the red boat?", answers=["the red boat"],
    ...     threshold=0.2)
    ('gold', 'leak', 'cue')
    """
    if not plain(text):
        return ("empty",)
    found = {
        "gold": any(states(text, answer) for answer in answers),
        "leak": leak(text, answers, measure, topic).above(threshold),
        "cue": style in ("implicit", "composed") and bool(memory_cues(text)),
        "short": word_count(text) < MIN_WORDS[style],
        "own_name": speaker is not None and states(text, speaker, shortest=1),
    }
    return tuple(problem for problem in PROBLEMS if found.get(problem))


def plain(text: str) -> str:
    """Return a text's words alone: one form of letters, single blanks, no marks.

    >>> plain(" The  “Red” Boat! ")
    'the red boat'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.sub(r"[\W_]+", " ", folded).split())


def states(text: str, answer: str, *, shortest: int = 3) -> bool:
    """Return whether a text holds a whole answer, marks and case aside.

    An answer is looked for at word limits; in scripts without blanks, anywhere.

    Parameters
    ----------
    shortest : int
        Fewer characters than this are not looked for: "no" stands in too many sentences.

    >>> states("I know: it was St. Brannoc's!", "St Brannoc's"), states("a start", "art")
    (True, False)
    """
    wanted, held = plain(answer), plain(text)
    if len(wanted) < shortest:
        return False
    if has_unspaced(wanted):
        return wanted.replace(" ", "") in held.replace(" ", "")
    return f" {wanted} " in f" {held} "


def told(problems: Iterable[Problem], style: Style) -> list[str]:
    """Return the problems as sentences for the model that is to mend them."""
    sentences: dict[Problem, str] = {
        "empty": "the message had no words in it.",
        "gold": "the message states the answer. It must not.",
        "leak": "the message uses words of the answer.",
        "cue": "the message appeals to memory. Tell only what is going on now.",
        "short": f"the message is too short. Write at least {MIN_WORDS[style]} words.",
        "own_name": 'the speaker is called by name. Say "I" and "my".',
    }
    return [sentences[problem] for problem in problems]
