"""The fields LoCoMo-Conv adds to a question: its rewrites and who says them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unbidden.corpus.models import Irregularity, Rewrite

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unbidden.corpus.models import Style

_PREFIXES: tuple[tuple[Style, str], ...] = (
    ("dialog", ""),
    ("implicit", "implicit_"),
    ("counterfactual", "counterfactual_"),
)


def as_text(value: Any) -> str | None:
    """Return a value as text: numbers become text, lists are joined by commas."""
    if value is None:
        return None
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return str(value)


def usable_text(
    record: Mapping[str, Any], key: str, where: str
) -> tuple[str | None, list[Irregularity]]:
    """Return a text that may be missing or null, and a note if it is something else or blank."""
    value = record.get(key)
    if value is None:
        return None, []
    if isinstance(value, str) and value.strip():
        return value, []
    detail = f"{type(value).__name__} {str(value)[:80]!r}; left out"
    return None, [Irregularity(f"{key} is not a text", where, detail)]


def speaker_name(
    record: Mapping[str, Any], prefix: str, speakers: tuple[str, str], default: str | None
) -> str | None:
    """Return the name of the person who speaks a rewrite.

    The release writes a name and the role ``speaker_a`` or ``speaker_b``; either may be missing.
    """
    name = record.get(f"{prefix}subject_speaker_name")
    if isinstance(name, str) and name in speakers:
        return name
    roles = {"speaker_a": speakers[0], "speaker_b": speakers[1]}
    return roles.get(str(record.get(f"{prefix}subject_speaker")), default)


def read_rewrites(
    record: Mapping[str, Any], speakers: tuple[str, str], where: str
) -> tuple[dict[Style, Rewrite], list[Irregularity]]:
    """Return the rewrites of one question record by style, and what was irregular in them.

    A rewrite that is missing or null is none: the release writes null for the counterfactual of
    an adversarial question.
    """
    explicit = speaker_name(record, "", speakers, None)
    found: dict[Style, Rewrite] = {}
    notes = []
    for style, prefix in _PREFIXES:
        text, odd = usable_text(record, f"{style}_query", where)
        notes.extend(odd)
        if text is None:
            continue
        found[style] = Rewrite(
            text,
            speaker_name(record, prefix, speakers, explicit),
            as_text(record.get("expected_memory_use")) if style == "implicit" else None,
            as_text(record.get("asserted_wrong")) if style == "counterfactual" else None,
            as_text(record.get("naturalness")) if style == "dialog" else None,
        )
    return found, notes
