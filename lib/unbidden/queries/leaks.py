"""How much of an answer a query gives away, by the paper's measure and by a repaired one.

LoCoMo-Conv (section 3.2) counts the answer's longer words that occur anywhere in the query as a
piece of text, and recomposes a composed query above `THRESHOLD`. That count misses short words,
numbers written as words and words next to a comma, and it finds words inside longer ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.errors import ConfigError, closest
from unbidden.queries.terms import held_terms, terms

if TYPE_CHECKING:
    from collections.abc import Sequence

LeakMeasure = Literal["paper", "repaired"]
LEAK_MEASURES: tuple[LeakMeasure, ...] = get_args(LeakMeasure)
THRESHOLD = 0.10
"""The paper recomposes a composed query whose leak is above this."""
MAX_FORBIDDEN = 60
"""The most words the paper's repair prompt forbids."""


@dataclass(frozen=True, slots=True)
class Leak:
    """What a query gives away of its answers.

    Attributes
    ----------
    measure : {"paper", "repaired"}
    answer_share : float or None
        Share of the distinct answer words that the query holds, 0..1. Without any answer word it
        is None under "repaired" and 0 under "paper", as the paper has it.
    query_share : float or None
        Share of the query's distinct content words that are answer words, 0..1. None for a query
        without content words, and under "paper", which does not look in this direction.
    words : tuple of str
        Answer words found, as the answers write them, lower-cased, sorted.
    query_words : tuple of str
        The same words as the query writes them ("two" for "2").
    """

    measure: LeakMeasure
    answer_share: float | None
    query_share: float | None
    words: tuple[str, ...]
    query_words: tuple[str, ...]

    def above(self, threshold: float = THRESHOLD) -> bool:
        """Return whether the share of answer words is above a threshold; an unscored one is not."""
        return self.answer_share is not None and self.answer_share > threshold


def leak(query: str, answers: Sequence[str], measure: LeakMeasure, topic: str = "") -> Leak:
    """Return what a query of any style gives away of its members' answers.

    Parameters
    ----------
    answers : sequence of str
        One answer, or those of all members of a composed query.
    topic : str
        See `repaired_leak`; not used by the paper's measure.

    Raises
    ------
    ConfigError
        If the measure is unknown.
    """
    if measure not in LEAK_MEASURES:
        raise ConfigError(
            f"unknown leak measure {measure!r}", expected=closest(measure, LEAK_MEASURES)
        )
    return (
        paper_leak(query, answers) if measure == "paper" else repaired_leak(query, answers, topic)
    )


def paper_leak(query: str, answers: Sequence[str]) -> Leak:
    """Return the paper's leak: the share of answer words found in the query as substrings.

    Answer words are whitespace tokens of more than three characters of the lower-cased answers,
    punctuation kept.

    >>> paper_leak("I ran, then was driving around", ["running, a ride", "driv round"]).words
    ('driv', 'round')
    >>> paper_leak("Two of us", ["2"]).answer_share
    0.0
    """
    words = _paper_words(answers)
    lowered = query.lower()
    found = tuple(sorted(word for word in words if word in lowered))
    return Leak("paper", len(found) / len(words) if words else 0.0, None, found, found)


def _paper_words(answers: Sequence[str]) -> set[str]:
    return {word for answer in answers for word in answer.lower().split() if len(word) > 3}


def repaired_leak(query: str, answers: Sequence[str], topic: str = "") -> Leak:
    """Return the leak in whole words, in both directions.

    Words are compared without function words, plural and verb endings; number words up to
    twelve equal digits, short month names and ISO dates their long forms. Scripts without blanks
    are compared by pairs of characters.

    Parameters
    ----------
    topic : str
        Text whose words give nothing away, say the plain question. Default: none, as in the paper.

    >>> found = repaired_leak("Both kids swam twice in lakes, on May 7th", ["2 swims, lake, 2023"])
    >>> found.answer_share, found.words, found.query_words
    (0.5, ('2', 'lake'), ('lakes', 'twice'))
    >>> round(found.query_share, 3)
    0.333
    >>> repaired_leak("I may go", ["7 May 2023"]).answer_share
    0.0
    >>> repaired_leak("林悦很高兴", ["林悦"]).answer_share
    1.0
    >>> repaired_leak("Anything", [""]).answer_share is None
    True
    """
    known = held_terms(topic)
    asked = {key: word for key, word in terms(query).items() if key not in known}
    told = {
        key: word for answer in answers for key, word in terms(answer).items() if key not in known
    }
    in_query = held_terms(query)
    in_answers = {key for answer in answers for key in held_terms(answer)}
    found = [key for key in told if key in in_query]
    echoed = [key for key in asked if key in in_answers]
    return Leak(
        "repaired",
        len(found) / len(told) if told else None,
        len(echoed) / len(asked) if asked else None,
        tuple(sorted({told[key] for key in found})),
        tuple(sorted({asked[key] for key in echoed})),
    )


def forbidden_words(
    query: str, answers: Sequence[str], measure: LeakMeasure, topic: str = ""
) -> tuple[str, ...]:
    """Return the words the next attempt at a query must not use, sorted, at most sixty.

    They are the answer words found, as query and answer write them. Where none is found they are
    all answer words, as in the paper.

    >>> forbidden_words("Both of us ran twice", ["2 races"], "repaired")
    ('2', 'twice')
    >>> forbidden_words("Nothing of it", ["2 races"], "repaired")
    ('2', 'races')
    """
    found = leak(query, answers, measure, topic)
    words = {*found.words, *found.query_words}
    if not words and measure == "paper":
        words = _paper_words(answers)
    elif not words:
        known = held_terms(topic)
        words = {
            word for answer in answers for key, word in terms(answer).items() if key not in known
        }
    return tuple(sorted(words)[:MAX_FORBIDDEN])
