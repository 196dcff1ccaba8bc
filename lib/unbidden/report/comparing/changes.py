"""What changed between two runs of a chapter: parameters, code, packages, data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.config import STAMP

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from unbidden.report.comparing.runs import ChapterResults

CHANGED = ["what", "name", "first", "second"]
"""Columns of `changes`."""
ABSENT = "absent"
_EXPECTED = {"finished", "seconds", "chapter", "run"}
"""Facts that differ between any two runs and explain nothing."""
_ELSEWHERE = {"parameters", "code", "packages", "data", "notes", "python"}


def changes(first: ChapterResults, second: ChapterResults) -> pd.DataFrame:
    """Return one row for each thing that differs, as text; no row means that nothing does.

    Returns
    -------
    DataFrame
        Columns `CHANGED`; ``what`` is parameter, code, package, data or another fact of the run.
    """
    a, b = first.facts, second.facts
    rows = [
        *_differing("parameter", _parameters(a), _parameters(b)),
        *_differing("code", _code(a, first), _code(b, second)),
        *_differing("package", _packages(a), _packages(b)),
        *_differing("data", _data(a), _data(b)),
        *_differing("fact", _other(a), _other(b)),
    ]
    return pd.DataFrame(rows, columns=CHANGED)


def unexplained(found: pd.DataFrame) -> bool:
    """Return whether nothing that can move a number differs: results should then be equal."""
    return found[found["what"] != "fact"].empty


def _differing(
    what: str, first: Mapping[str, Any], second: Mapping[str, Any]
) -> Iterator[tuple[str, str, str, str]]:
    for name in dict.fromkeys([*first, *second]):
        a, b = (_text(side[name]) if name in side else ABSENT for side in (first, second))
        if a != b:
            yield what, name, a, b


def _parameters(facts: Mapping[str, Any]) -> dict[str, Any]:
    given = facts.get("parameters", {})
    return {name: value for name, value in given.items() if name not in _EXPECTED}


def _code(facts: Mapping[str, Any], results: ChapterResults) -> dict[str, Any]:
    code = facts.get("code", {})
    found = {
        "version": code.get("version"),
        "commit": (code.get("commit") or "unknown")[:12],
        "uncommitted changes": code.get("changed"),
        "library sha256": (code.get("library_sha256") or "unknown")[:12],
    }
    if (digest := _notebook_digest(results)) is not None:
        found["notebook sha256"] = digest[:12]
    return found


def _notebook_digest(results: ChapterResults) -> str | None:
    """Return the digest of the notebook a run executed; recorded runs do not keep theirs."""
    path = results.path / f"{results.chapter}.ipynb"
    if not path.is_file():
        return None
    stamp = json.loads(path.read_text(encoding="utf-8"))["metadata"].get(STAMP)
    return None if stamp is None else str(stamp["digests"]["notebook"])


def _packages(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {"python": facts.get("python", "unknown"), **facts.get("packages", {})}


def _data(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        item["file"]: f"sha256 {item['sha256'][:12]}, {item['bytes']:,} bytes"
        for item in facts.get("data", [])
    }


def _other(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name not in _ELSEWHERE | _EXPECTED}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
