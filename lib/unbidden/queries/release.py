"""LoCoMo-Conv's files as documents: read, given new rewrites, and written without losing a key.

A document keeps the file's raw JSON beside its parsed view. Only the keys of the rewrites that
change are touched, so that fields this package has no use for survive.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unbidden.atomic import write_text
from unbidden.corpus.jsonfile import read_json
from unbidden.corpus.locomo import LocomoReader
from unbidden.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from unbidden.corpus.models import (
        Conversation,
        ConversationId,
        Irregularity,
        Rewrite,
        Style,
    )

_PREFIX = {"dialog": "", "implicit": "implicit_", "counterfactual": "counterfactual_"}
_EXTRA = {
    "dialog": "naturalness",
    "implicit": "expected_memory_use",
    "counterfactual": "asserted_wrong",
}


def normal_json(value: Any) -> str:
    r"""Return a value as the release writes it: one blank of indent, Unicode as it is.

    >>> normal_json({"b": "é", "a": [1]})
    '{\n "b": "é",\n "a": [\n  1\n ]\n}\n'
    """
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


@dataclass(frozen=True, slots=True)
class Written:
    """A rewrite to put into a document.

    Attributes
    ----------
    rewrite : Rewrite
        With empty text where the rewriter failed.
    reason, error : str or None
        The rewriter's own note, and why there is no text.
    """

    rewrite: Rewrite
    reason: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class DialogFile:
    """A ``locomo10_dialog.json``, or any LoCoMo-shaped file.

    Attributes
    ----------
    raw : list of dict
        The file's samples; not to be changed in place.
    conversations : tuple of Conversation
        The same samples, parsed, in file order.
    """

    name: str
    raw: list[dict[str, Any]]
    conversations: tuple[Conversation, ...]
    irregularities: tuple[Irregularity, ...]

    @classmethod
    def parse(cls, value: Any, name: str) -> DialogFile:
        """Return the document of a parsed JSON value.

        Raises
        ------
        DataError
            If a record is malformed; it is named.
        """
        reader = LocomoReader(name)
        conversations = reader.read(value)
        return cls(name, value, tuple(conversations), tuple(reader.irregularities))

    @classmethod
    def read(cls, path: Path) -> DialogFile:
        """Return the document of a file; raises as `parse` and `read_json` do."""
        return cls.parse(read_json(path)[0], path.name)

    def text(self) -> str:
        """Return the file's text."""
        return normal_json(self.raw)

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        write_text(path, self.text())

    def with_rewrites(
        self, written: Mapping[tuple[ConversationId, int, Style], Written]
    ) -> DialogFile:
        """Return the document with other rewrites.

        Parameters
        ----------
        written : mapping
            By conversation, question index and style (dialog, implicit or counterfactual).

        Raises
        ------
        DataError
            If there is no such question or style, or the speaker is not of the conversation.
        """
        raw = list(self.raw)
        homes = {item.id: position for position, item in enumerate(self.conversations)}
        for (conversation, index, style), item in written.items():
            where = f"{conversation}#{index}"
            position = homes.get(conversation)
            if position is None or not 0 <= index < len(self.raw[position]["qa"]):
                raise misfit(self.name, where, "a question of the file", "no such question")
            if style not in _PREFIX:
                raise misfit(self.name, where, f"a style among {sorted(_PREFIX)}", style)
            if raw[position] is self.raw[position]:
                raw[position] = {**raw[position], "qa": copy.deepcopy(raw[position]["qa"])}
            record = raw[position]["qa"][index]
            home = self.conversations[position]
            set_speaker(record, _PREFIX[style], item.rewrite, home, f"{self.name}: {where}")
            _set_rewrite(record, style, item)
        return DialogFile.parse(raw, self.name)


def _set_rewrite(record: dict[str, Any], style: Style, item: Written) -> None:
    rewrite = item.rewrite
    record[f"{style}_query"] = rewrite.text
    record[_EXTRA[style]] = {
        "dialog": rewrite.naturalness,
        "implicit": rewrite.expected_memory_use,
        "counterfactual": rewrite.asserted_wrong,
    }[style]
    set_notes(record, "rewrite_" if style == "dialog" else f"{style}_", item)


def set_notes(record: dict[str, Any], prefix: str, item: Written) -> None:
    """Write the reason and the error of a rewrite; an older reason would speak of another text."""
    record[f"{prefix}error"] = item.error
    if item.reason is not None:
        record[f"{prefix}reason"] = item.reason
    else:
        record.pop(f"{prefix}reason", None)


def set_speaker(
    record: dict[str, Any], prefix: str, rewrite: Rewrite, home: Conversation, where: str
) -> None:
    """Write the speaker's role and name, as the release does; an unknown one keeps the record's."""
    if rewrite.speaker is None:
        return
    if rewrite.speaker not in home.speakers:
        raise misfit(where, "the rewrite", f"a speaker among {home.speakers}", rewrite.speaker)
    role = "speaker_a" if rewrite.speaker == home.speakers[0] else "speaker_b"
    record[f"{prefix}subject_speaker"] = role
    record[f"{prefix}subject_speaker_name"] = rewrite.speaker


def misfit(file_name: str, where: str, expected: str, got: str) -> DataError:
    """Return the error of a record, or of an update, that does not fit its file."""
    return DataError(
        f"{file_name}: {where} does not fit",
        expected=expected,
        got=got[:200],
        next_step="correct the record or the update",
    )
