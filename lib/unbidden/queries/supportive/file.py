"""The supportive layer's two written forms: a file of its own, and lists in the dialog file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unbidden.atomic import write_text
from unbidden.corpus.jsonfile import read_json
from unbidden.corpus.models import Irregularity, TurnId
from unbidden.queries.release import normal_json
from unbidden.queries.supportive.layer import Layer, SupportiveTurn, form_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from unbidden.corpus.models import Conversation
    from unbidden.queries.supportive.layer import QuestionKey

_KEY = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")


@dataclass(frozen=True)
class SupportiveFile:
    """A ``supportive_memory.json``: its raw JSON and the layer it holds."""

    name: str
    raw: dict[str, Any]
    layer: Layer
    irregularities: tuple[Irregularity, ...] = ()

    @classmethod
    def parse(cls, value: Any, name: str, conversations: Sequence[Conversation]) -> SupportiveFile:
        """Return the document of a parsed JSON value; see `read_supportive`."""
        layer, notes = read_supportive(value, conversations, name)
        return cls(name, value, layer, tuple(notes))

    @classmethod
    def read(cls, path: Path, conversations: Sequence[Conversation]) -> SupportiveFile:
        """Return the document of a file; raises as `read_supportive` and `read_json` do."""
        return cls.parse(read_json(path)[0], path.name, conversations)

    @classmethod
    def of_layer(
        cls,
        layer: Layer,
        conversations: Sequence[Conversation],
        name: str = "supportive_memory.json",
    ) -> SupportiveFile:
        """Return the document that holds a layer; see `supportive_value`."""
        return cls(name, supportive_value(layer, conversations), layer)

    def text(self) -> str:
        """Return the file's text."""
        return normal_json(self.raw)

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        write_text(path, self.text())


def read_supportive(
    value: Any, conversations: Sequence[Conversation], file_name: str
) -> tuple[Layer, list[Irregularity]]:
    """Return the layer of a ``supportive_memory.json``.

    Parameters
    ----------
    conversations : sequence of Conversation
        In the release's order: the file's keys count positions. Keys past the last are noted.

    Raises
    ------
    DataError
        If a record is malformed, or names a turn or question its conversation does not have.
    """
    if not isinstance(value, dict):
        raise form_error(f"{file_name}: the file", "an object", type(value).__name__)
    turns: dict[QuestionKey, tuple[SupportiveTurn, ...]] = {}
    notes = []
    for name, entries in value.items():
        where = f"{file_name}: {name[:50]!r}"
        match = _KEY.fullmatch(name)
        if match is None:
            raise form_error(where, "a key '<sample>:<question>'", repr(name))
        sample, question = map(int, match.groups())
        if sample >= len(conversations):
            notes.append(Irregularity("turns of no loaded conversation", where, "left out"))
            continue
        home = conversations[sample]
        turns[home.id, question] = _entries(entries, home, question, where)
    return Layer(turns), notes


def supportive_of_samples(
    samples: Sequence[Mapping[str, Any]], conversations: Sequence[Conversation], file_name: str
) -> Layer:
    """Return the layer of the ``supportive_memory`` lists inside a dialog file.

    Parameters
    ----------
    samples, conversations : sequence
        Raw and parsed view of the same samples (`DialogFile.raw`, `DialogFile.conversations`).

    Raises
    ------
    DataError
        If a list is malformed; its question is named.
    """
    turns = {}
    for sample, home in zip(samples, conversations, strict=True):
        for index, record in enumerate(sample["qa"]):
            if record.get("supportive_memory") is None:
                continue
            where = f"{file_name}: {home.id}#{index}"
            turns[home.id, index] = _entries(record["supportive_memory"], home, index, where)
    return Layer(turns)


def _entries(
    entries: Any, home: Conversation, question: int, where: str
) -> tuple[SupportiveTurn, ...]:
    if question >= len(home.questions):
        raise form_error(where, f"a question below {len(home.questions)}", str(question))
    if not isinstance(entries, list):
        raise form_error(where, "a list of turns", type(entries).__name__)
    items: dict[TurnId, SupportiveTurn] = {}
    for entry in entries:
        turn = entry.get("dia_id") if isinstance(entry, dict) else None
        systems = entry.get("source_systems") if isinstance(entry, dict) else None
        if not isinstance(turn, str) or turn not in home.turn_ids or turn in items:
            raise form_error(where, f"a dia_id of {home.id}, once", repr(turn))
        if not isinstance(systems, list) or not all(isinstance(name, str) for name in systems):
            raise form_error(f"{where} {turn}", "source_systems, a list of names", repr(systems))
        if not systems or entry.get("n_systems", len(systems)) != len(set(systems)):
            raise form_error(f"{where} {turn}", f"n_systems {len(systems)}", repr(entry))
        items[TurnId(turn)] = SupportiveTurn(TurnId(turn), tuple(sorted(systems)))
    return tuple(sorted(items.values(), key=lambda item: item.turn))


def supportive_entries(items: Iterable[SupportiveTurn]) -> list[dict[str, Any]]:
    """Return a question's list as the release writes it."""
    return [
        {"dia_id": item.turn, "n_systems": len(item.systems), "source_systems": list(item.systems)}
        for item in items
    ]


def supportive_value(layer: Layer, conversations: Sequence[Conversation]) -> dict[str, Any]:
    """Return the value of a ``supportive_memory.json``, by position of conversation and question.

    Raises
    ------
    DataError
        If the layer has a conversation that is not given.
    """
    places = {item.id: position for position, item in enumerate(conversations)}
    if missing := {key[0] for key in layer.turns} - set(places):
        raise form_error("the layer", "conversations that are given", ", ".join(sorted(missing)))
    ordered = sorted(layer.turns, key=lambda key: (places[key[0]], key[1]))
    return {f"{places[key[0]]}:{key[1]}": supportive_entries(layer.turns[key]) for key in ordered}
