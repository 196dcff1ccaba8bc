"""The words of a text in a form that can be compared: what two people wrote differently.

Light rules for English only, so that they can be read in a minute; every other language is
compared word by word, or by pairs of characters where words are not separated by blanks.
"""

from __future__ import annotations

import re

from unbidden.memory.tokens import has_unspaced, unicode_tokens
from unbidden.queries.overlap import content_words

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_SAME = {
    **{month[:3]: month for month in _MONTHS},
    **{word: str(number) for number, word in enumerate(_NUMBERS)},
    **{"sept": "september", "twice": "2"},
}
# Common words beyond the function words of word search, which only the exact form of is dropped.
_LITTLE = frozenset(["because", "since", "like"])
_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_SHORT_YEAR = re.compile(r"(?<!\w)['’](\d\d)(?!\d)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NEGATION = re.compile(r"\b\w+n['’]t\b")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th|s)")
# "may" is a month next to a number or after a word of time, and else a verb.
_MODAL_MAY = re.compile(
    r"(?<!\d\s)(?<!(?:st|nd|rd|th|of|in|by)\s)(?<!(?:this|last|next|late|till)\s)"
    r"(?<!(?:since|until|early)\s)\bmay\b(?!,?\s+\d)|\bMay\s+(?=(?:I|we|you|he|she|it|they)\b)"
)


def terms(text: str) -> dict[str, str]:
    """Return the comparable content words of a text: normal form to the word as written.

    >>> terms("On 2023-05-07 the twelve boats weren't moving, '23")
    {'7': '07', 'may': 'may', '2023': '2023', '12': 'twelve', 'boat': 'boats', 'mov': 'moving'}
    """
    prepared = _prepared(text)
    kept = content_words(prepared)
    pairs = {char for token in kept if len(token) == 2 and has_unspaced(token) for char in token}
    found: dict[str, str] = {}
    for token in unicode_tokens(prepared):
        single = len(token) == 1 and not token.isdecimal()
        # A lone character counts; one inside a longer run is seen through its pairs.
        if (
            token not in kept
            or token in _LITTLE
            or (single and (token in pairs or not has_unspaced(token)))
        ):
            continue
        found.setdefault(_normal(token), token)
    return found


def held_terms(text: str) -> set[str]:
    """Return what the words of another text may match here: the terms and all single characters.

    >>> sorted(held_terms("林悦 ran"))
    ['ran', '悦', '林', '林悦']
    """
    single = {token for token in unicode_tokens(text) if len(token) == 1 and has_unspaced(token)}
    return {*terms(text), *single}


def _prepared(text: str) -> str:
    """Return a text with dates, short years and thousands written one way, and no modal verbs."""
    text = _ISO.sub(_long_date, text)
    text = _SHORT_YEAR.sub(lambda m: ("20" if int(m[1]) < 50 else "19") + m[1], text)
    text = _THOUSANDS.sub("", text)
    return _MODAL_MAY.sub(" ", _NEGATION.sub(" ", text))


def _long_date(match: re.Match[str]) -> str:
    year, month, day = match.groups()
    number = int(month)
    return f"{day} {_MONTHS[number - 1]} {year}" if 1 <= number <= 12 else match[0]


def _normal(token: str) -> str:
    if match := _ORDINAL.fullmatch(token):
        token = match[1]
    if token.isdecimal():
        return token.lstrip("0") or "0"
    return _SAME.get(token) or stem(token)


def stem(word: str) -> str:
    """Return an English word without plural and verb endings; for comparing, not for showing.

    >>> [stem(word) for word in ("hobbies", "hobby", "running", "runs", "moved", "move", "spring")]
    ['hobby', 'hobby', 'run', 'run', 'mov', 'mov', 'spring']
    """
    if not (word.isascii() and word.isalpha()) or len(word) < 3:
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    word = _without_verb_ending(word)
    if len(word) > 2 and word[-1] == word[-2]:
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _without_verb_ending(word: str) -> str:
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for ending, shortest in (("ing", 5), ("ed", 5)):
        rest = word.removesuffix(ending)
        if rest != word and len(word) >= shortest and not word.endswith("eed"):
            return rest if set(rest) & set("aeiouy") else word
    return word
