"""Tokenisers for word search, and a model-free token count for budgets."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.errors import ConfigError, closest

if TYPE_CHECKING:
    from collections.abc import Callable

TokeniserName = Literal["auto", "paper", "unicode"]
TOKENISERS: tuple[TokeniserName, ...] = get_args(TokeniserName)

_ASCII = re.compile(r"[a-z0-9]+")
# Scripts written without blanks between words: kana, CJK ideographs and their extensions, Thai.
_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|(?P<word>[^\W_{_UNSPACED}]+)")
_COUNT = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|[^\w\s]")


def paper_tokens(text: str) -> list[str]:
    """Return LoCoMo-Conv's tokens: runs of ASCII letters and digits, lower-cased.

    >>> paper_tokens("On 7 May she's 林悦")
    ['on', '7', 'may', 'she', 's']
    """
    return _ASCII.findall(text.lower())


def unicode_tokens(text: str) -> list[str]:
    """Return words of any script; unspaced scripts give single characters and bigrams.

    Equal to `paper_tokens` on ASCII text.

    >>> unicode_tokens("On 7 May, Café 林悦家")
    ['on', '7', 'may', 'café', '林', '悦', '家', '林悦', '悦家']
    """
    if text.isascii():
        return paper_tokens(text)
    tokens = []
    for match in _RUN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        if word := match["word"]:
            tokens.append(word)
        else:
            run = match["unspaced"]
            tokens.extend(run)
            tokens.extend(run[i : i + 2] for i in range(len(run) - 1))
    return tokens


def has_unspaced(text: str) -> bool:
    """Return whether a text has letters of a script written without blanks."""
    return re.search(f"[{_UNSPACED}]", text) is not None


def tokeniser(name: TokeniserName, sample: str = "") -> Callable[[str], list[str]]:
    """Return a tokeniser by name.

    Parameters
    ----------
    name : {"auto", "paper", "unicode"}
        "auto" is "paper" unless `sample` holds a script the paper's cannot see.

    Raises
    ------
    ConfigError
        If the name is unknown.
    """
    if name not in TOKENISERS:
        raise ConfigError(f"unknown tokeniser {name!r}", expected=closest(name, TOKENISERS))
    if name == "unicode" or (name == "auto" and has_unspaced(sample)):
        return unicode_tokens
    return paper_tokens


def count_tokens(text: str) -> int:
    """Return words, punctuation marks and unspaced characters of a text.

    A stand-in for a model's count that needs no model and is equal for everyone; English prose
    has about 1.2 model tokens for each.

    >>> count_tokens("On 7 May, 林悦")
    6
    """
    return len(_COUNT.findall(text))


def first_tokens(text: str, n: int) -> str:
    """Return the beginning of a text that has at most `n` tokens by `count_tokens`.

    >>> first_tokens("On 7 May, 林悦", 4), first_tokens("one", 0)
    ('On 7 May,', '')
    """
    spans = [match.end() for match in _COUNT.finditer(text)]
    if len(spans) <= n:
        return text
    return text[: spans[n - 1]] if n > 0 else ""


def last_tokens(text: str, n: int) -> str:
    """Return the end of a text that has at most `n` tokens by `count_tokens`.

    >>> last_tokens("On 7 May, 林悦", 3)
    ', 林悦'
    """
    spans = [match.start() for match in _COUNT.finditer(text)]
    if len(spans) <= n:
        return text
    return text[spans[-n] :] if n > 0 else ""


def count_words(text: str) -> int:
    """Return the words between blanks, and the characters where a script writes none.

    >>> count_words("On 7 May, Café"), count_words("林悦在家。")
    (4, 5)
    """
    return count_tokens(text) if has_unspaced(text) else len(text.split())
