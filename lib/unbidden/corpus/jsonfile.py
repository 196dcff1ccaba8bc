"""Reading a JSON file strictly: whole, UTF-8, unique keys, finite numbers, bounded size."""

from __future__ import annotations

import hashlib
import json
import math
from typing import TYPE_CHECKING, Any

from unbidden.corpus.models import SourceFile
from unbidden.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 256 * 1024 * 1024
"""Largest file read; LoCoMo has 2.8 million bytes, LoCoMo-Conv about 4 million."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} stands twice in one object")
        found[key] = value
    return found


def _no_constant(token: str) -> float:
    raise ValueError(f"{token} is not a JSON number")


def _finite(token: str) -> float:
    value = float(token)
    if math.isinf(value):
        raise ValueError(f"{token[:40]} is too large for a number")
    return value


def parse_strict(text: str) -> Any:
    """Return the value of one JSON text.

    Raises
    ------
    ValueError, RecursionError
        If it is no JSON, is nested too deep, or has doubled keys, NaN, infinity or text that is no
        valid Unicode.
    """
    value = json.loads(
        text, object_pairs_hook=_unique_keys, parse_constant=_no_constant, parse_float=_finite
    )
    # A lone surrogate escape parses, but can be written nowhere afterwards.
    if "\\ud" in text or "\\uD" in text:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def read_json(path: Path) -> tuple[Any, SourceFile]:
    """Return the parsed content of a JSON file and its fingerprint; a byte order mark is skipped.

    Raises
    ------
    DataError
        If the file is missing, too large, not UTF-8, truncated, nested beyond the interpreter's
        limit, or has doubled keys, NaN, infinity or text that is no valid Unicode.
    """
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise DataError(
                f"{path.name} is too large",
                expected=f"at most {MAX_BYTES:,} bytes",
                got=f"{size:,} bytes",
                next_step="split the corpus into files of fewer conversations",
            )
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(
            f"{path.name} cannot be read",
            expected=f"a readable file at {path}",
            got=f"{type(error).__name__}: {error.strerror}",
            next_step="check the path, or get the data with `unbidden data get NAME`",
        ) from error
    try:
        value = parse_strict(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        damaged = isinstance(error, (json.JSONDecodeError, UnicodeDecodeError))
        raise DataError(
            f"{path.name} is not a {'whole' if damaged else 'usable'} JSON file",
            expected="complete UTF-8 JSON with unique keys and finite numbers",
            got=f"{len(raw):,} bytes, {type(error).__name__}: {str(error)[:200]}",
            next_step="copy or download the file again" if damaged else "correct the file",
        ) from error
    return value, SourceFile(path.name, hashlib.sha256(raw).hexdigest(), len(raw))
