"""Taking secrets, hosts and personal paths out of text that is kept or shown."""

from __future__ import annotations

import os
import re

_SECRETS = (
    re.compile(r"(?i)(authorization['\"]?\s*[:=]\s*['\"]?(?:bearer|basic)?\s*)[^\s'\",;}]+"),
    re.compile(r"(?i)(bearer\s+)[\w.~+/=-]{6,}"),
    re.compile(r"()\bsk-[\w-]{6,}"),
)
_URL = re.compile(r"(?i)\b(https?|wss?)://[^\s/'\"<>]+")
_ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b")
_PATH = re.compile(
    r"(?<![\w.])(?:/(?:home|Users|root|tmp|var|mnt|work|opt|srv)|[A-Za-z]:\\)[^\s'\":,;)]*"
)
_LONG_ENOUGH = 8
"""A shorter key ("EMPTY", "x") is a placeholder, and its letters occur in honest text."""


def without_key(text: str) -> str:
    """Return `text` without the value of ``OPENAI_API_KEY``, if that is long enough for a secret.

    Safe for content: nothing else is touched.
    """
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    return text.replace(key, "[key]") if len(key) >= _LONG_ENOUGH else text


def redact(text: str) -> str:
    """Return a message fit to be stored or shown: no key, credential, host or personal path.

    >>> redact("401 for Authorization: Bearer abc123456 at http://10.0.0.7:80/v1")
    '401 for Authorization: Bearer [key] at http://[host]/v1'
    >>> redact("cannot open /home/ann/models/x.gguf")
    'cannot open [path]'
    """
    text = without_key(text)
    for pattern in _SECRETS:
        text = pattern.sub(r"\1[key]", text)
    text = _URL.sub(r"\1://[host]", text)
    text = _ADDRESS.sub("[host]", text)
    return _PATH.sub("[path]", text)
