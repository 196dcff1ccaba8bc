"""Verdicts without a model: the floor any judge has to beat to earn its cost.

Two kinds. *Words*: the share of the gold answer's content words and numbers that the reply holds,
in the normal form of `unbidden.queries.terms`. *Similarity*: the cosine of the fact and the nearest
sentence of the reply, by an embedder (MiniLM by default). Neither understands negation, hedges or
who is meant. The thresholds were chosen on the "dev" half of the labelled set; the author of the
rules had written that set, so these floors are rather high on it: see the tag ``words-mislead``,
whose items were added after the rules.

| rubric | words | similarity |
| --- | --- | --- |
| fact_use | all gold terms: correct; none, or only other numbers: wrong; else partial | two |
| counterfactual | the truth's terms beyond the message's: corrected; a doubt: ambiguous | - |
| composed | each fact on its own, covered from `COVERED` on | one |
| implicit | the fact as composed; the situation by shared words | - |
| trap | the claim's terms beyond the question's, unless denied | one |
| unsupported | a number nobody gave, or words of another, unnamed speaker's memory | - |
| pairwise | the reply that holds more of the memories' words | nearer to the memories |
| helpfulness | the block that shares more words with the dialogue | nearer to the dialogue |
| teafarm | as counterfactual; a doubt is evasive | - |

`quality` has none: no rule of words says what is engaging.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from unbidden.errors import ConfigError
from unbidden.judge.rubrics.composed import coverage
from unbidden.judge.rubrics.implicit import both
from unbidden.judge.verdict import Verdict
from unbidden.queries.terms import held_terms, terms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unbidden.judge.case import Case

COVERED = 0.6
"""Share of a fact's terms from which it counts as covered."""
CORRECTED = 0.5
"""Share of the terms that only the truth has, from which a premise counts as corrected."""
ASSERTED = 0.5
"""Share of a false claim's terms from which it counts as asserted."""
TIED = 1
"""Content words shared with the message from which the situation counts as answered."""
MARGIN = 0.1
"""Least difference of two shares that is no tie."""

_DOUBT = re.compile(
    r"\b(?:(?:not|n't|never) (?:be |entirely |quite )?(?:sure|certain)|unsure|rather not|no idea|"
    r"(?:can't|cannot|couldn't|could not|don't|do not|didn't|did not) (?:\w+ )?"
    r"(?:say|tell|confirm|find|recall|remember|know|think|have|see|assist|help (?:you )?with)|"
    r"know (?:of )?(?:no|nothing)|"
    r"have (?:no|nothing)|no (?:record|information|memory)|are you (?:sure|certain)|"
    r"n't (?:sound|seem|look) right|not (?:sound|seem|look) right|not aware|only know)\b"
    r"|不清楚|不记得|不知道|不确定|说不准|没听",
    re.IGNORECASE,
)


def doubts(reply: str) -> bool:
    """Return whether a reply says that it doubts or does not know; by rule.

    >>> doubts("I'm not sure about that."), doubts("It was May.")
    (True, False)
    """
    return _DOUBT.search(reply.replace("’", "'")) is not None


def share(gold: str, reply: str, *, beyond: str = "") -> float | None:
    """Return the share of a text's content words and numbers that another one holds, 0..1.

    Parameters
    ----------
    beyond : str
        Words of this text are left out of the count: what the message says anyway.

    Returns
    -------
    float or None
        None if no word is left to be looked for.

    >>> share("Lennart, for £1,400", "Lennart paid 1400 pounds"), share("Lennart", "she")
    (1.0, 0.0)
    """
    wanted = set(terms(gold)) - held_terms_normal(beyond)
    if not wanted:
        return None
    return len(wanted & held_terms_normal(reply)) / len(wanted)


def held_terms_normal(text: str) -> set[str]:
    """Return everything a text holds that words may match."""
    return held_terms(text) if text else set()


def numbers(text: str) -> set[str]:
    """Return the numbers in a text, in figures.

    >>> sorted(numbers("two dogs, £1,150 and 31 pots"))
    ['1150', '2', '31']
    """
    return {term for term in terms(text) if term.isdecimal()}


def words_floor(rubric: str, case: Case) -> Verdict:
    """Return the verdict by words.

    Raises
    ------
    ConfigError
        If the rubric has no such floor.
    """
    if rubric not in WORD_FLOORS:
        raise ConfigError(
            f"the rubric {rubric!r} has no floor by words",
            expected=", ".join(WORD_FLOORS),
            next_step="leave it out",
        )
    if not case.reply.strip():
        return Verdict.none("empty reply")
    return WORD_FLOORS[rubric](case)


def _gold(case: Case) -> str:
    return " ; ".join(fact.answer for fact in case.facts)


def _fact_use(case: Case) -> Verdict:
    found = share(_gold(case), case.reply)
    if found is None:
        return Verdict.none("no gold answer with content words")
    wanted, said = numbers(_gold(case)), numbers(case.reply)
    if found == 0 or (wanted and said and not wanted & said):
        return Verdict("wrong", 0.0)
    return Verdict("correct", 1.0) if found == 1 else Verdict("partial", 0.5)


def _premise(case: Case) -> str | None:
    """Return "told", "doubted" or "missed", or None without a truth to look for."""
    found = share(_gold(case), case.reply, beyond=case.message)
    if found is None:
        return None
    if found >= CORRECTED:
        return "told"
    return "doubted" if doubts(case.reply) else "missed"


def _counterfactual(case: Case) -> Verdict:
    found = _premise(case)
    if found is None:
        return Verdict.none("the truth has no word the message lacks")
    label, score = {
        "told": ("corrected", 1.0),
        "doubted": ("ambiguous", 0.5),
        "missed": ("unaware", 0.0),
    }[found]
    return Verdict(label, score)


def _teafarm(case: Case) -> Verdict:
    found = _premise(case)
    if found is None:
        return Verdict.none("the truth has no word the message lacks")
    label, score = {
        "told": ("correct", 1.0),
        "doubted": ("evasive", 0.0),
        "missed": ("wrong", 0.0),
    }[found]
    return Verdict(label, score)


def _covered(answer: str, reply: str) -> bool | None:
    found = share(answer, reply)
    if found is None:
        return None
    wanted = numbers(answer)
    return found >= COVERED and wanted <= numbers(reply)


def _composed(case: Case) -> Verdict:
    marks = [_covered(fact.answer, case.reply) for fact in case.facts]
    if not marks or None in marks:
        return Verdict.none("a gold answer without content words")
    return coverage([bool(mark) for mark in marks])


def _implicit(case: Case) -> Verdict:
    fact = _covered(_gold(case), case.reply)
    if fact is None:
        return Verdict.none("no gold answer with content words")
    shared = set(terms(case.message)) & set(terms(case.reply)) - set(terms(_gold(case)))
    return both(fact, len(shared) >= TIED)


def _trap(case: Case) -> Verdict:
    question = case.facts[0].question if case.facts else ""
    found = share(case.trap or "", case.reply, beyond=question)
    if found is None:
        found = share(case.trap or "", case.reply)
    if found is None:
        return Verdict.none("no adversarial answer with content words")
    asserted = found >= ASSERTED and not doubts(case.reply)
    return Verdict("yes", 1.0) if asserted else Verdict("no", 0.0)


def _unsupported(case: Case) -> Verdict:
    own = [text for text in case.memories if text.startswith(f"{case.speaker}:")]
    others = [text for text in case.memories if text not in own]
    names = {text.partition(":")[0] for text in others if ":" in text}
    if doubts(case.reply) or any(name in case.reply for name in names):
        return Verdict("no", 0.0)
    known = held_terms_normal(" ".join((*own, case.message, case.speaker)))
    unknown = set(terms(case.reply)) - known
    borrowed = unknown & held_terms_normal(" ".join(others))
    return Verdict("yes", 1.0) if borrowed or numbers(case.reply) - known else Verdict("no", 0.0)


def choose(first: float, second: float, margin: float = MARGIN) -> Verdict:
    """Return which of two numbers is larger by more than a margin.

    >>> choose(0.9, 0.2).label, choose(0.5, 0.5).label
    ('first', 'tie')
    """
    if abs(first - second) <= margin:
        return Verdict("tie", 0.5)
    return Verdict("first", 1.0) if first > second else Verdict("second", 0.0)


def _pairwise(case: Case) -> Verdict:
    known = " ".join(case.memories)
    return choose(share(case.reply, known) or 0.0, share(case.other or "", known) or 0.0)


def _helpfulness(case: Case) -> Verdict:
    first, second = (share(case.message, text) or 0.0 for text in (case.reply, case.other or ""))
    return choose(first, second, margin=0.0)


WORD_FLOORS: dict[str, Callable[[Case], Verdict]] = {
    "fact_use": _fact_use,
    "counterfactual": _counterfactual,
    "composed": _composed,
    "implicit": _implicit,
    "trap": _trap,
    "unsupported": _unsupported,
    "pairwise": _pairwise,
    "helpfulness": _helpfulness,
    "teafarm": _teafarm,
}
"""The floors by words, by rubric."""


def judge_by_words(rubric: str, cases: Sequence[Case]) -> list[Verdict]:
    """Return the floor's verdicts by words, in the order of the cases."""
    return [words_floor(rubric, case) for case in cases]
