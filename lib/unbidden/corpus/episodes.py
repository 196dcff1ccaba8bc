"""Multi-Session Chat and Conversation Chronicles as conversations of five sessions.

Two public forms are read, told apart row by row:

Chronicles form (Jang et al. 2023; `test.jsonl` of its public hub, or the Parquet made of it; also
THEANINE's own copy of Multi-Session Chat). Fields relied on: ``dataID``, and for first to fifth
``X_session_dialogue`` and ``X_session_speakers``, lists of texts of equal length. Read if there:
``time_interval``, one text per session. Not kept: ``relationship``, ``summary``.

Multi-Session Chat form (Xu et al. 2022; ``msc_dialogue/session_5/test.txt`` of its archive). Fields
relied on: ``metadata.initial_data_id``, ``previous_dialogs`` (each with ``dialog``, a list of
``{"text"}``, and the gap that follows it, ``time_num`` and ``time_unit``), and ``dialog``, the last
session. Its earlier turns name no speaker: they alternate and Speaker 1 begins.

No session has a date, so `Session.when` is None and `Session.date_text` tells the gap.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from unbidden.corpus.models import (
    Conversation,
    ConversationId,
    Corpus,
    Irregularity,
    Session,
    Turn,
    TurnId,
)
from unbidden.corpus.rowfiles import ARCHIVES, LINES, PARQUET, fingerprint, read_rows
from unbidden.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

ORDINALS = ("first", "second", "third", "fourth", "fifth")
MSC_MEMBER = "msc_dialogue/session_5/test.txt"
"""The file of the Multi-Session Chat archive whose rows are whole episodes."""

_ALTERNATE = ("Speaker 1", "Speaker 2")

Said = list[tuple[str, str]]
"""Speaker and text of each turn of one session."""


def read_episodes(path: Path, name: str, *, wanted: Collection[str] = ()) -> Corpus:
    """Return the episodes of a file as a corpus of conversations without questions.

    Parameters
    ----------
    wanted : collection of str
        Episode ids to keep; empty keeps all. A split of Conversation Chronicles has 20,000.

    Raises
    ------
    DataError
        If the file cannot be read, or a row is of neither form; the row is named.
    """
    reader = EpisodeReader(wanted)
    for where, row in read_rows(path, member=MSC_MEMBER):
        reader.take(row, where)
    return Corpus(
        name,
        tuple(reader.conversations.values()),
        sources=(fingerprint(path),),
        irregularities=tuple(reader.irregularities),
    )


def episode_file(path: Path) -> bool:
    """Return whether a file is of a form of this module and not LoCoMo's, by ending and opening."""
    suffix = path.suffix.lower()
    if suffix in (*ARCHIVES, *PARQUET):
        return True
    try:
        with path.open("rb") as file:
            opening = file.read(4096)
    except OSError:
        return False  # the reader of LoCoMo's form says why
    if suffix in LINES and opening.lstrip().startswith(b"{"):
        return True  # LoCoMo's form is always a list
    return b'"dataID"' in opening or b'"previous_dialogs"' in opening


class EpisodeReader:
    """Reads rows and collects what was irregular.

    Parameters
    ----------
    wanted : collection of str
        Episode ids to keep; empty keeps all.
    """

    def __init__(self, wanted: Collection[str] = ()) -> None:
        self.wanted = frozenset(wanted)
        self.conversations: dict[str, Conversation] = {}
        self.irregularities: list[Irregularity] = []

    def take(self, row: Any, where: str) -> None:
        """Read one row, keeping its conversation if it is wanted.

        Raises
        ------
        DataError
            If the row is of neither form.
        """
        if not isinstance(row, Mapping):
            raise _error(where, "an object", type(row).__name__)
        chat = "previous_dialogs" in row
        name = _chat_name(row, where) if chat else _text(row, "dataID", where)
        if self.wanted and name not in self.wanted:
            return
        if name in self.conversations:
            self._note("episode id given twice", name, f"{where} left out")
            return
        said, gaps = _chat(row, where) if chat else _chronicle(row, where)
        conversation = self._conversation(name, said, gaps)
        if conversation is not None:
            self.conversations[name] = conversation

    def _note(self, kind: str, where: str, detail: str) -> None:
        self.irregularities.append(Irregularity(kind, where, detail))

    def _conversation(
        self, name: str, said: Sequence[Said], gaps: Sequence[str]
    ) -> Conversation | None:
        sessions = []
        for number, (turns, gap) in enumerate(zip(said, gaps, strict=True), start=1):
            session = self._session(name, number, turns, gap)
            if session.turns:
                sessions.append(session)
            else:
                self._note("empty session", f"{name} session {number}", "no turns; left out")
        speakers = list(
            dict.fromkeys(turn.speaker for session in sessions for turn in session.turns)
        )
        if len(speakers) < 2:
            self._note("episode without two speakers", name, "left out")
            return None
        if len(speakers) > 2:
            self._note("more than two speakers", name, ", ".join(speakers)[:200])
        return Conversation(ConversationId(name), (speakers[0], speakers[1]), tuple(sessions))

    def _session(self, name: str, number: int, said: Said, gap: str) -> Session:
        turns = []
        for position, (speaker, text) in enumerate(said, start=1):
            turn = Turn(TurnId(f"D{number}:{position}"), speaker, text)
            if text.strip():
                turns.append(turn)
            else:
                self._note("empty turn", f"{name} {turn.id}", "no text; left out")
        return Session(number, None, gap, tuple(turns))


def _chronicle(row: Mapping[str, Any], where: str) -> tuple[list[Said], list[str]]:
    said: list[Said] = []
    for ordinal in ORDINALS:
        texts = _texts(row, f"{ordinal}_session_dialogue", where)
        speakers = _texts(row, f"{ordinal}_session_speakers", where)
        if len(texts) != len(speakers):
            raise _error(
                where, f"a speaker for each turn of the {ordinal} session", f"{len(speakers)}"
            )
        said.append(list(zip(speakers, texts, strict=True)))
    gaps = [""] * len(said)
    if row.get("time_interval") is not None:
        found = _texts(row, "time_interval", where)
        gaps = (found + gaps)[: len(said)]
    return said, gaps


def _chat(row: Mapping[str, Any], where: str) -> tuple[list[Said], list[str]]:
    previous = row["previous_dialogs"]
    if not isinstance(previous, list):
        raise _error(where, "'previous_dialogs' as a list", type(previous).__name__)
    said, gaps = [], [""]
    for number, session in enumerate(previous, start=1):
        place = f"{where}, earlier session {number}"
        said.append(_chat_session(session, place))
        gaps.append(f"{session.get('time_num')} {session.get('time_unit')} later")
    said.append(_chat_session(row, f"{where}, last session"))
    return said, gaps


def _chat_session(session: Any, where: str) -> Said:
    if not isinstance(session, Mapping) or not isinstance(session.get("dialog"), list):
        raise _error(where, "an object with 'dialog' as a list", str(session)[:80])
    said = []
    for position, turn in enumerate(session["dialog"]):
        if not isinstance(turn, Mapping):
            raise _error(f"{where}, turn {position}", "an object", type(turn).__name__)
        speaker = turn.get("id")
        known = speaker if speaker in _ALTERNATE else _ALTERNATE[position % 2]
        said.append((str(known), _text(turn, "text", f"{where}, turn {position}", empty=True)))
    return said


def _chat_name(row: Mapping[str, Any], where: str) -> str:
    metadata = row.get("metadata")
    if not isinstance(metadata, Mapping):
        raise _error(where, "'metadata' as an object", type(metadata).__name__)
    return _text(metadata, "initial_data_id", where)


def _text(row: Mapping[str, Any], field: str, where: str, *, empty: bool = False) -> str:
    value = row.get(field)
    if not isinstance(value, str) or (not empty and not 0 < len(value.strip()) <= 200):
        kind = "a text" if empty else "a text of 1 to 200 characters"
        raise _error(where, f"{field!r} as {kind}", repr(value)[:80])
    return value


def _texts(row: Mapping[str, Any], field: str, where: str) -> list[str]:
    value = row.get(field)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _error(where, f"{field!r} as a list of texts", repr(value)[:80])
    return value


def _error(where: str, expected: str, got: str) -> DataError:
    return DataError(
        f"{where} is no episode of Multi-Session Chat or Conversation Chronicles",
        expected=expected,
        got=got[:200],
        next_step="correct the record; the forms are described in unbidden.corpus.episodes",
    )
