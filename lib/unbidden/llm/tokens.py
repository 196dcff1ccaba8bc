"""Estimates of token counts, for plans and budgets; real counts come from the endpoint."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CHARACTERS_PER_TOKEN = 4
_PER_MESSAGE = 4
"""Tokens a chat format adds around a message, roughly."""


@cache
def _encoding() -> Any:
    # Without a local copy of its tables tiktoken downloads them, with no time limit.
    if not os.environ.get("TIKTOKEN_CACHE_DIR"):
        return None
    try:
        import tiktoken  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return None
    try:
        return tiktoken.get_encoding("o200k_base")
    except (OSError, ValueError):
        return None


def method() -> str:
    """Return how tokens are estimated, for the label of a table."""
    return "tiktoken o200k_base" if _encoding() else f"characters / {CHARACTERS_PER_TOKEN}"


def estimate(text: str) -> int:
    """Return an estimate of the tokens in a text.

    With tiktoken installed and ``TIKTOKEN_CACHE_DIR`` naming a folder with its tables, these are
    counted; otherwise four characters are taken for a token, rounded up.

    >>> estimate("twelve chars") if method().startswith("char") else 3
    3
    """
    encoding = _encoding()
    if encoding is not None:
        return len(encoding.encode(text, disallowed_special=()))
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def estimate_messages(messages: Iterable[Mapping[str, str]]) -> int:
    """Return an estimate of the input tokens of a request."""
    return sum(estimate(message["content"]) + _PER_MESSAGE for message in messages)
